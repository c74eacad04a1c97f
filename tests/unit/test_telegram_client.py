"""Telegram's answers as our errors: what may be repeated, what must be checked first, what is refused for good."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import aiohttp
import pytest

from relay.clients.telegram import transport
from relay.clients.telegram.client import Telegram
from relay.clients.telegram.transport import AiohttpRequest
from relay.core.errors import (
    ChatGone,
    ChatMigrated,
    DeliveryUncertain,
    MessengerError,
    MessengerRefused,
    MessengerThrottled,
    PollConflict,
    TokenRefused,
)
from relay.core.models import File
from tests.standins.telegram import TelegramStandIn
from tests.standins.telegram.values import TEST_TOKEN


def refusal(code: int, description: str, **parameters: Any) -> bytes:
    body = {"ok": False, "error_code": code, "description": description}
    return json.dumps(body | ({"parameters": parameters} if parameters else {})).encode()


async def called(monkeypatch: pytest.MonkeyPatch, status: int, body: bytes) -> Any:
    """The result of a call, or its error, when the server gives this response."""

    async def do_request(self: AiohttpRequest, *_: Any, **__: Any) -> tuple[int, bytes]:
        return status, body

    monkeypatch.setattr(AiohttpRequest, "do_request", do_request)
    try:
        return await Telegram("12345:TEST", "http://127.0.0.1:1").call("sendMessage", chat_id=1, text="x")
    except MessengerError as error:
        return error


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (200, b"<html>a proxy's page</html>", DeliveryUncertain),
        (200, b"\xff\xfe", DeliveryUncertain),
        (200, b"", DeliveryUncertain),
        (200, b"[]", DeliveryUncertain),
        (200, b"null", DeliveryUncertain),
        (200, b'{"ok": true}', DeliveryUncertain),
        (500, b"[]", DeliveryUncertain),
        (502, b"<html>", DeliveryUncertain),
        (400, b"<html>a proxy's page</html>", DeliveryUncertain),
        (401, b"<html>a proxy's page</html>", DeliveryUncertain),
        (403, b"<html>a proxy's page</html>", DeliveryUncertain),
        (403, b'{"error": "forbidden"}', DeliveryUncertain),
        (404, b"<html>a proxy's page</html>", DeliveryUncertain),
        (409, b"", DeliveryUncertain),
        (400, refusal(400, "Bad Request: message is too long"), MessengerRefused),
        (400, refusal(400, "Bad Request: chat not found"), ChatGone),
        (403, refusal(403, "Forbidden: bot was blocked by the user"), ChatGone),
        (409, refusal(409, "Conflict: terminated by other getUpdates request"), PollConflict),
        (429, refusal(429, "Too Many Requests: retry after 3", retry_after=3), MessengerThrottled),
    ],
)
async def test_each_answer_of_telegram_becomes_one_of_our_errors(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, status: int, body: bytes, kind: type
) -> None:
    assert type(await called(monkeypatch, status, body)) is kind
    assert "proxy's page" not in caplog.text


async def test_a_migrated_group_gives_its_new_id(monkeypatch: pytest.MonkeyPatch) -> None:
    moved = refusal(400, "Bad Request: group chat was upgraded to a supergroup chat", migrate_to_chat_id=-1001)
    error = await called(monkeypatch, 400, moved)
    assert isinstance(error, ChatMigrated)
    assert error.new_chat_id == -1001


@pytest.mark.parametrize(("status", "absent"), [(401, False), (404, True)])
async def test_a_refused_and_an_unknown_token_are_distinguished(
    monkeypatch: pytest.MonkeyPatch, status: int, absent: bool
) -> None:
    error = await called(monkeypatch, status, refusal(status, "Not Found" if absent else "Unauthorized"))
    assert isinstance(error, TokenRefused)
    assert error.absent is absent
    assert "BotFather" in str(error)


async def test_polls_have_their_own_connection_and_return_it_if_cancelled() -> None:
    async with TelegramStandIn() as tg:
        dm = tg.dm(tg.user(1, "Ada"))
        client = Telegram(TEST_TOKEN, tg.url)
        await client.open()
        hung = tg.fault("sendMessage", "timeout", times=-1)
        sends = [asyncio.create_task(client.call("sendMessage", chat_id=dm.id, text="x")) for _ in range(70)]
        await tg.wait_for(lambda: hung.hits == 64)
        for _ in range(2):
            tg.fault("getUpdates", "timeout")
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.2):
                    await client.call("getUpdates", timeout=30)
        assert await client.call("getUpdates", timeout=0) == []
        for send in sends:
            send.cancel()
        await asyncio.gather(*sends, return_exceptions=True)
        await client.close_pools()


async def test_an_upload_that_nobody_receives_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """As when the connection goes dead during the upload."""
    monkeypatch.setattr(transport, "SLOWEST", 2**30)
    taken = asyncio.Event()

    async def nobody(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        await taken.wait()
        writer.close()

    server = await asyncio.start_server(nobody, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    client = Telegram(TEST_TOKEN, f"http://127.0.0.1:{port}")
    client._calls._timeout = aiohttp.ClientTimeout(connect=0.2, sock_connect=0.2, sock_read=0.2)
    await client.open()
    with pytest.raises(DeliveryUncertain):
        async with asyncio.timeout(10):
            await client.call("sendDocument", chat_id=1, document=File("a.bin", bytes(2**25)))
    taken.set()
    await client.close_pools()
    server.close()
