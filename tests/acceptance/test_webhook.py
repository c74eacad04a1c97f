"""The webhook stores each delivery before it acknowledges it, and accepts deliveries only from Telegram."""

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
from tests.acceptance.process_group import free_port
from tests.acceptance.shared_relay import SharedRelay, echo, open_relay
from tests.acceptance.test_faults_database import fill
from tests.standins.anthropic import Reply
from tests.standins.telegram import Chat
from tests.standins.telegram.values import TEST_TOKEN

pytestmark = pytest.mark.asyncio(loop_scope="module")

HEADER = "X-Telegram-Bot-Api-Secret-Token"
SECRET = Settings(TELEGRAM_BOT_TOKEN=TEST_TOKEN, _env_file=None).webhook_token


def webhook_settings() -> dict[str, str]:
    port = str(free_port())
    return {"RELAY_WEBHOOK_URL": f"http://127.0.0.1:{port}/relay/hook", "RELAY_WEBHOOK_PORT": port}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def module_relay() -> AsyncIterator[SharedRelay]:
    async with open_relay(**webhook_settings()) as shared_relay:
        yield shared_relay
        assert shared_relay.tracebacks() == []
        assert SECRET not in shared_relay.relay.output()


async def post(
    shared_relay: SharedRelay, body: Any, secret: str | None = SECRET, path: str = "/relay/hook", **more: Any
) -> int:
    """Returns the status of a request to the listener."""
    url = f"http://127.0.0.1:{shared_relay.relay.environment['RELAY_WEBHOOK_PORT']}{path}"
    headers = {} if secret is None else {HEADER: secret}
    async with (
        aiohttp.ClientSession() as session,
        session.request(more.pop("method", "POST"), url, headers=headers, **{"json": body} | more) as response,
    ):
        assert await response.read() == b""
        return response.status


async def before_its_body(shared_relay: SharedRelay, length: int, secret: str) -> bytes:
    """Returns the first line of the answer to a request whose body never comes."""
    lines = ("POST /relay/hook HTTP/1.1", "Host: relay", f"{HEADER}: {secret}", f"Content-Length: {length}", "", "")
    return await first_line(shared_relay, "\r\n".join(lines).encode())


async def first_line(shared_relay: SharedRelay, sent: bytes) -> bytes:
    """Returns the first line of the answer to some bytes."""
    reader, writer = await asyncio.open_connection(
        "127.0.0.1", int(shared_relay.relay.environment["RELAY_WEBHOOK_PORT"])
    )
    try:
        writer.write(sent)
        async with asyncio.timeout(5):
            return await reader.readline()
    finally:
        writer.close()


@contextlib.contextmanager
def held_back(shared_relay: SharedRelay) -> Iterator[None]:
    """Stops Telegram's deliveries while the context lasts."""
    shared_relay.tg.queue.webhook["max_connections"] = 0
    yield
    shared_relay.tg.queue.webhook["max_connections"] = 40
    shared_relay.tg.queue.arrived.set()


def stored(shared_relay: SharedRelay) -> int:
    return int(shared_relay.sql("select count(*) from relay.inbox")[0][0])


async def once(shared_relay: SharedRelay, chat: Chat, *words: str) -> None:
    await shared_relay.answered(chat, *words, timeout=30)
    await asyncio.sleep(0.3)
    assert [(word, shared_relay.times(chat, word)) for word in words] == [(word, 1) for word in words]


async def test_delivered_updates_are_answered_without_polling(shared_relay: SharedRelay) -> None:
    chats = [shared_relay.guest() for _ in range(3)]
    words = {chat.id: [await shared_relay.asked(chat) for _ in range(3)] for chat in chats}
    for chat in chats:
        await once(shared_relay, chat, *words[chat.id])
    assert shared_relay.tg.calls("getUpdates") == []
    assert not shared_relay.tg.pending_updates
    (asked,) = shared_relay.tg.calls("setWebhook")
    assert asked.params["secret_token"] == SECRET
    assert "message_reaction" in asked.params["allowed_updates"]


async def test_forged_deliveries_are_refused(shared_relay: SharedRelay) -> None:
    chat = shared_relay.guest()
    await once(shared_relay, chat, await shared_relay.asked(chat))
    update = {**shared_relay.tg.queue.known[max(shared_relay.tg.queue.known)], "update_id": 999_999_999}
    before = stored(shared_relay)
    for secret in (None, "", SECRET[:-1], SECRET.swapcase(), "not-ascii-ü", "x" * 4000):
        assert await post(shared_relay, update, secret) == 401
    assert await before_its_body(shared_relay, 10, "wrong") == b"HTTP/1.1 401 Unauthorized\r\n"
    assert await post(shared_relay, update, path="/") == 200, "a proxy may strip the path"
    assert await post(shared_relay, update, path="/relay") == 404
    assert await post(shared_relay, update, path="/relay/hook/more") == 404
    assert await post(shared_relay, update, method="GET") == 405
    assert b" 400 " in await first_line(shared_relay, b"\x16\x03\x01 not HTTP\r\n\r\n")
    assert stored(shared_relay) == before + 1


async def test_oversized_deliveries_are_refused(shared_relay: SharedRelay) -> None:
    before = stored(shared_relay)
    refused = await before_its_body(shared_relay, 2_000_000, SECRET)
    assert refused.startswith(b"HTTP/1.1 413 "), "Python 3.13 names it differently"

    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(12):
            yield b" " * 100_000

    assert await post(shared_relay, None, json=None, data=pieces()) == 413
    assert await post(shared_relay, {"update_id": 1, "odd": "x" * 990_000}) == 200
    assert stored(shared_relay) == before + 1


async def test_invalid_updates_are_acknowledged_and_ignored(shared_relay: SharedRelay) -> None:
    before = stored(shared_relay)
    for body in (b"", b"nonsense", b"[]", b"{}", b'{"update_id": "7"}', b"[" * 100_000, b'{"update_id": 1e400}'):
        assert await post(shared_relay, None, json=None, data=body) == 200
    assert await post(shared_relay, {"update_id": 2**70}) == 200
    assert stored(shared_relay) == before
    for update in ({}, {"message": 5}, {"message": {"chat": {}}}, {"callback_query": {"id": "1"}}):
        shared_relay.tg.push(update)
    chat = shared_relay.guest()
    await once(shared_relay, chat, await shared_relay.asked(chat))


async def test_duplicate_deliveries_are_answered_once(shared_relay: SharedRelay) -> None:
    chat = shared_relay.guest()
    with held_back(shared_relay):
        word = await shared_relay.asked(chat)
        update = shared_relay.tg.pending_updates[-1]
        assert await asyncio.gather(*(post(shared_relay, update) for _ in range(8))) == [200] * 8
    await once(shared_relay, chat, word)
    shared_relay.tg.redeliver(update["update_id"])
    await shared_relay.tg.wait_for(lambda: not shared_relay.tg.queue.deliverable())
    await once(shared_relay, chat, word)
    assert shared_relay.exchanges(chat) == 1


async def test_forwards_that_are_delivered_one_by_one_are_one_turn(shared_relay: SharedRelay) -> None:
    chat, sam = shared_relay.guest(), shared_relay.tg.user(next(shared_relay.people), "Sam")
    shared_relay.model.rule(None, lambda request: Reply(echo(request), first_delay=1.0))
    words = [await shared_relay.asked(chat, "what do you make of these?")]
    for _ in range(6):
        words.append(shared_relay.word())
        await shared_relay.tg.say(chat, None, f"forwarded {words[-1]}", forward_from=sam)
        await shared_relay.tg.wait_for(lambda: not shared_relay.tg.pending_updates)
    await once(shared_relay, chat, *words)
    assert shared_relay.said(chat) == ["Answer: " + " ".join(words)]


async def test_a_late_delivery_is_answered(shared_relay: SharedRelay) -> None:
    chat = shared_relay.guest()
    with held_back(shared_relay):
        late = await shared_relay.asked(chat)
        update = shared_relay.tg.queue.pending.pop(max(shared_relay.tg.queue.pending))
    word = await shared_relay.asked(chat)
    await once(shared_relay, chat, word)
    assert await post(shared_relay, update) == 200
    await once(shared_relay, chat, word, late)


async def test_updates_are_kept_while_the_database_is_unavailable(shared_relay: SharedRelay) -> None:
    chat = shared_relay.guest()
    fill(shared_relay, "inbox")
    word = await shared_relay.asked(chat)
    await shared_relay.tg.wait_for(lambda: OUTAGE in shared_relay.said(chat), 20)
    assert shared_relay.tg.pending_updates
    assert "503" in shared_relay.tg.queue.webhook["last_error_message"]
    shared_relay.sql("drop function relay.no_space() cascade")
    await once(shared_relay, chat, word)
    assert shared_relay.said(chat).count(OUTAGE) == 1
    await shared_relay.tg.wait_for(lambda: not shared_relay.tg.pending_updates)


async def test_messages_sent_while_the_bot_is_stopped_are_answered_later(shared_relay: SharedRelay) -> None:
    chat = shared_relay.guest()
    assert await shared_relay.relay.stop() == 0
    assert shared_relay.tg.queue.webhook["url"], "the webhook stays"
    words = [await shared_relay.asked(chat) for _ in range(2)]
    await shared_relay.again()
    await once(shared_relay, chat, *words)


async def test_switching_between_polling_and_webhook_neither_loses_nor_doubles() -> None:
    webhook = webhook_settings()
    async with open_relay() as own_relay:
        chats = [own_relay.guest() for _ in range(4)]
        words: dict[int, list[str]] = {chat.id: [] for chat in chats}

        async def talk(chat: Chat) -> None:
            while True:
                words[chat.id].append(await own_relay.asked(chat))
                await asyncio.sleep(0.4)

        talkers = [asyncio.create_task(talk(chat)) for chat in chats]
        for settings in (webhook, {}):
            await own_relay.relay.stop()
            for name in webhook:
                own_relay.relay.environment.pop(name, None)
            own_relay.relay.environment |= settings
            await own_relay.again()
            await own_relay.tg.wait_for(lambda settings=settings: own_relay.tg.queue.polling != bool(settings), 30)
            asked = [words[chat.id][-1] for chat in chats]
            for chat, word in zip(chats, asked, strict=True):
                await own_relay.answered(chat, word, timeout=30)
            assert bool(own_relay.tg.queue.webhook) == bool(settings)
        for talker in talkers:
            talker.cancel()
        for chat in chats:
            await once(own_relay, chat, *words[chat.id])
            text = "\n".join(own_relay.said(chat))
            assert [text.index(word) for word in words[chat.id]] == sorted(text.index(word) for word in words[chat.id])
        assert own_relay.tracebacks() == []


async def test_an_occupied_port_is_reported(shared_relay: SharedRelay) -> None:
    async with open_relay(
        start=False, **{**shared_relay.relay.environment, "RELAY_DATA_DIR": str(shared_relay.data) + "-2"}
    ) as other:
        await other.relay.start()
        assert other.relay.process is not None
        async with asyncio.timeout(60):
            assert await other.relay.process.wait() == 2
        assert "RELAY_WEBHOOK_PORT: another program already listens on port" in other.relay.output()
        assert other.tracebacks() == []
