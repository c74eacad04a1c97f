"""The webhook: what Telegram delivers is stored before it is told so, and nobody else delivers anything."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from typing import Any

import aiohttp
import pytest
import pytest_asyncio

from relay.core.settings import Settings
from relay.surfaces.telegram.incoming.intake import OUTAGE
from tests.acceptance.crew import free_port
from tests.acceptance.house import House, open_house
from tests.acceptance.test_faults_database import fill
from tests.standins.telegram import Chat
from tests.standins.telegram.values import TEST_TOKEN

pytestmark = pytest.mark.asyncio(loop_scope="module")

HEADER = "X-Telegram-Bot-Api-Secret-Token"
SECRET = Settings(TELEGRAM_BOT_TOKEN=TEST_TOKEN, _env_file=None).webhook_token


def webhook_settings() -> dict[str, str]:
    port = str(free_port())
    return {"RELAY_WEBHOOK_URL": f"http://127.0.0.1:{port}/relay/hook", "RELAY_WEBHOOK_PORT": port}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared() -> AsyncIterator[House]:
    async with open_house(**webhook_settings()) as house:
        yield house
        assert house.tracebacks() == []
        assert SECRET not in house.relay.output()


async def post(house: House, body: Any, secret: str | None = SECRET, path: str = "/relay/hook", **more: Any) -> int:
    """The status of a request to the listener."""
    url = f"http://127.0.0.1:{house.relay.environment['RELAY_WEBHOOK_PORT']}{path}"
    headers = {} if secret is None else {HEADER: secret}
    async with (
        aiohttp.ClientSession() as session,
        session.request(more.pop("method", "POST"), url, headers=headers, **{"json": body} | more) as response,
    ):
        assert await response.read() == b""
        return response.status


async def before_its_body(house: House, length: int, secret: str) -> bytes:
    """The first line of the answer to a request whose body never comes."""
    lines = ("POST /relay/hook HTTP/1.1", "Host: relay", f"{HEADER}: {secret}", f"Content-Length: {length}", "", "")
    return await first_line(house, "\r\n".join(lines).encode())


async def first_line(house: House, sent: bytes) -> bytes:
    """The first line of the answer to some bytes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", int(house.relay.environment["RELAY_WEBHOOK_PORT"]))
    try:
        writer.write(sent)
        async with asyncio.timeout(5):
            return await reader.readline()
    finally:
        writer.close()


@contextlib.contextmanager
def held_back(house: House) -> Iterator[None]:
    """Telegram delivers nothing while this lasts."""
    house.tg.queue.webhook["max_connections"] = 0
    yield
    house.tg.queue.webhook["max_connections"] = 40
    house.tg.queue.arrived.set()


def stored(house: House) -> int:
    return int(house.sql("select count(*) from relay.inbox")[0][0])


async def once(house: House, chat: Chat, *words: str) -> None:
    await house.answered(chat, *words, timeout=30)
    await asyncio.sleep(0.3)
    assert [(word, house.times(chat, word)) for word in words] == [(word, 1) for word in words]


async def test_what_is_delivered_is_answered_and_nothing_is_polled(house: House) -> None:
    chats = [house.guest() for _ in range(3)]
    words = {chat.id: [await house.asked(chat) for _ in range(3)] for chat in chats}
    for chat in chats:
        await once(house, chat, *words[chat.id])
    assert house.tg.calls("getUpdates") == []
    assert not house.tg.pending_updates
    (asked,) = house.tg.calls("setWebhook")
    assert asked.params["secret_token"] == SECRET
    assert "message_reaction" in asked.params["allowed_updates"]


async def test_forged_deliveries(house: House) -> None:
    chat = house.guest()
    await once(house, chat, await house.asked(chat))
    update = {**house.tg.queue.known[max(house.tg.queue.known)], "update_id": 999_999_999}
    before = stored(house)
    for secret in (None, "", SECRET[:-1], SECRET.swapcase(), "not-ascii-ü", "x" * 4000):
        assert await post(house, update, secret) == 401
    assert await before_its_body(house, 10, "wrong") == b"HTTP/1.1 401 Unauthorized\r\n"
    assert await post(house, update, path="/") == 200, "a proxy may leave nothing of the path"
    assert await post(house, update, path="/relay") == 404
    assert await post(house, update, path="/relay/hook/more") == 404
    assert await post(house, update, method="GET") == 405
    assert b" 400 " in await first_line(house, b"\x16\x03\x01 not HTTP\r\n\r\n")
    assert stored(house) == before + 1


async def test_oversized_deliveries(house: House) -> None:
    before = stored(house)
    assert await before_its_body(house, 2_000_000, SECRET) == b"HTTP/1.1 413 Request Entity Too Large\r\n"

    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(12):
            yield b" " * 100_000

    assert await post(house, None, json=None, data=pieces()) == 413
    assert await post(house, {"update_id": 1, "odd": "x" * 990_000}) == 200
    assert stored(house) == before + 1


async def test_what_is_no_update_holds_nothing_up(house: House) -> None:
    before = stored(house)
    for body in (b"", b"nonsense", b"[]", b"{}", b'{"update_id": "7"}', b"[" * 100_000, b'{"update_id": 1e400}'):
        assert await post(house, None, json=None, data=body) == 200
    assert await post(house, {"update_id": 2**70}) == 200
    assert stored(house) == before
    chat = house.guest()
    await once(house, chat, await house.asked(chat))


async def test_duplicate_deliveries(house: House) -> None:
    chat = house.guest()
    with held_back(house):
        word = await house.asked(chat)
        update = house.tg.pending_updates[-1]
        assert await asyncio.gather(*(post(house, update) for _ in range(8))) == [200] * 8
    await once(house, chat, word)
    house.tg.redeliver(update["update_id"])
    await house.tg.wait_for(lambda: not house.tg.queue.deliverable())
    await once(house, chat, word)
    assert house.exchanges(chat) == 1


async def test_a_late_delivery(house: House) -> None:
    chat = house.guest()
    with held_back(house):
        late = await house.asked(chat)
        update = house.tg.queue.pending.pop(max(house.tg.queue.pending))
    word = await house.asked(chat)
    await once(house, chat, word)
    assert await post(house, update) == 200
    await once(house, chat, word, late)


async def test_the_database_is_away(house: House) -> None:
    chat = house.guest()
    fill(house, "inbox")
    word = await house.asked(chat)
    await house.tg.wait_for(lambda: OUTAGE in house.said(chat), 20)
    assert house.tg.pending_updates
    assert "503" in house.tg.queue.webhook["last_error_message"]
    house.sql("drop function relay.no_space() cascade")
    await once(house, chat, word)
    assert house.said(chat).count(OUTAGE) == 1
    await house.tg.wait_for(lambda: not house.tg.pending_updates)


async def test_what_is_said_while_it_is_stopped_waits(house: House) -> None:
    chat = house.guest()
    assert await house.relay.stop() == 0
    assert house.tg.queue.webhook["url"], "the webhook stays"
    words = [await house.asked(chat) for _ in range(2)]
    await house.again()
    await once(house, chat, *words)


async def test_switching_between_polling_and_webhook_loses_and_doubles_nothing() -> None:
    webhook = webhook_settings()
    async with open_house() as house:
        chats = [house.guest() for _ in range(4)]
        words: dict[int, list[str]] = {chat.id: [] for chat in chats}

        async def talk(chat: Chat) -> None:
            while True:
                words[chat.id].append(await house.asked(chat))
                await asyncio.sleep(0.4)

        talkers = [asyncio.create_task(talk(chat)) for chat in chats]
        for settings in (webhook, {}):
            await house.relay.stop()
            for name in webhook:
                house.relay.environment.pop(name, None)
            house.relay.environment |= settings
            await house.again()
            await house.tg.wait_for(lambda settings=settings: house.tg.queue.polling != bool(settings), 30)
            asked = [words[chat.id][-1] for chat in chats]
            for chat, word in zip(chats, asked, strict=True):
                await house.answered(chat, word, timeout=30)
            assert bool(house.tg.queue.webhook) == bool(settings)
        for talker in talkers:
            talker.cancel()
        for chat in chats:
            await once(house, chat, *words[chat.id])
            text = "\n".join(house.said(chat))
            assert [text.index(word) for word in words[chat.id]] == sorted(text.index(word) for word in words[chat.id])
        assert house.tracebacks() == []


async def test_a_port_that_is_taken_is_said_so(house: House) -> None:
    async with open_house(
        start=False, **{**house.relay.environment, "RELAY_DATA_DIR": str(house.data) + "-2"}
    ) as other:
        await other.relay.start()
        assert other.relay.process is not None
        async with asyncio.timeout(60):
            assert await other.relay.process.wait() == 2
        assert "RELAY_WEBHOOK_PORT: another program listens on port" in other.relay.output()
        assert other.tracebacks() == []
