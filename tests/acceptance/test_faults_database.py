"""The database dies, is unreachable, or is full: the bot says so, keeps polling, loses nothing and recovers."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
from collections.abc import AsyncIterator

import httpx
import psutil
import psycopg
import pytest
import pytest_asyncio

from relay.clients.embedded.server import EmbeddedPostgres
from relay.surfaces.telegram.incoming.intake import OUTAGE
from tests.acceptance.harness import OWNER
from tests.acceptance.process_group import postgres
from tests.acceptance.shared_relay import SharedRelay, open_relay
from tests.browser.telegram_client import sign_init_data
from tests.standins.anthropic import Reply

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def embedded() -> AsyncIterator[SharedRelay]:
    async with open_relay() as shared_relay:
        yield shared_relay
        assert shared_relay.tracebacks() == []


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server() -> AsyncIterator[EmbeddedPostgres]:
    async with postgres() as server:
        yield server


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def remote(server: EmbeddedPostgres) -> AsyncIterator[SharedRelay]:
    web = {"RELAY_WEB": "on", "RELAY_WEB_PORT": "0"}
    async with open_relay(DATABASE_URL=await server.start(), **web) as shared_relay:
        yield shared_relay
        assert shared_relay.tracebacks() == []


def postmaster(shared_relay: SharedRelay) -> int:
    return int((shared_relay.data / "postgres" / "postmaster.pid").read_text().split()[0])


def kill_server(shared_relay: SharedRelay) -> None:
    """Sends SIGKILL to every process of the server, so that none lives on to write its data."""
    server = psutil.Process(postmaster(shared_relay))
    for process in (server, *server.children()):
        process.kill()


async def slow_question(shared_relay: SharedRelay) -> tuple[int, str]:
    """Asks a question that the model takes a second to answer."""
    chat, word = shared_relay.guest(), shared_relay.word()
    shared_relay.model.rule(word, Reply(f"Answer: {word}", first_delay=1))
    await shared_relay.tg.say(chat, None, word)
    await shared_relay.model.wait_requests(1, match=word)
    return chat.id, word


async def test_a_kill_of_the_idle_embedded_server_is_survived(embedded: SharedRelay) -> None:
    embedded.quiet()
    chat = embedded.guest()
    await embedded.answered(chat, await embedded.asked(chat))
    os.kill(postmaster(embedded), signal.SIGKILL)
    await asyncio.sleep(0.3)
    word = await embedded.asked(chat)
    await embedded.answered(chat, word)
    assert embedded.times(chat, word) == 1


async def test_a_kill_of_the_embedded_server_during_a_turn_is_survived(embedded: SharedRelay) -> None:
    embedded.quiet()
    chat_id, word = await slow_question(embedded)
    os.kill(postmaster(embedded), signal.SIGKILL)
    chat = embedded.tg.chat(chat_id)
    other = embedded.guest()
    elsewhere = await embedded.asked(other)
    await embedded.answered(chat, word)
    await embedded.answered(other, elsewhere)
    await embedded.polled()
    assert (embedded.times(chat, word), embedded.times(other, elsewhere)) == (1, 1)
    assert embedded.exchanges(chat) == 1


async def test_steps_that_the_killed_server_had_not_written_are_repeated(embedded: SharedRelay) -> None:
    """What a turn saves is on disk within moments. Here the server dies before that, once after each of two steps."""
    embedded.quiet()
    embedded.sql("alter system set wal_writer_delay = '10s'")
    embedded.sql("select pg_reload_conf()")
    chat_id, word = await slow_question(embedded)
    kill_server(embedded)
    chat = embedded.tg.chat(chat_id)
    await embedded.answered(chat, word)
    assert embedded.times(chat, word) == 1

    other, fact = embedded.guest(), embedded.word()
    answered = "select count(*) from relay.turn where status = 'answered'"
    with contextlib.suppress(psycopg.OperationalError), embedded.locked("outbox", "share"):
        embedded.model.rule(fact, Reply(f"I see: {fact}. [LEARN: Likes juniper]"))
        await embedded.tg.say(other, None, fact)
        await embedded.tg.wait_for(lambda: embedded.sql(answered) == [(1,)])
        kill_server(embedded)
    await embedded.answered(other, fact)
    await embedded.polled()
    assert (embedded.times(other, fact), embedded.exchanges(chat), embedded.exchanges(other)) == (1, 1, 1)
    memories = "select count(*) from relay.memory where status = 'active' and content = 'Likes juniper'"
    assert embedded.sql(memories) == [(1,)]
    assert "failures" not in embedded.relay.output()
    embedded.sql("alter system reset wal_writer_delay")
    embedded.sql("select pg_reload_conf()")


async def test_a_kill_of_bot_and_server_at_once_is_survived(embedded: SharedRelay) -> None:
    embedded.quiet()
    chat_id, word = await slow_question(embedded)
    await embedded.relay.kill()
    os.kill(postmaster(embedded), signal.SIGKILL)
    await embedded.again()
    chat = embedded.tg.chat(chat_id)
    await embedded.answered(chat, word)
    assert embedded.times(chat, word) == 1


async def test_messages_wait_while_an_external_server_is_unreachable(
    remote: SharedRelay, server: EmbeddedPostgres
) -> None:
    remote.quiet()
    chat, other = remote.guest(), remote.guest()
    running, word = await slow_question(remote)
    await server.stop()
    polls = len(remote.tg.calls("getUpdates"))
    try:
        first = await remote.asked(chat)
        await remote.tg.wait_for(lambda: OUTAGE in remote.said(chat), 20)
        second, elsewhere = await remote.asked(chat), await remote.asked(other)
        await remote.tg.wait_for(lambda: OUTAGE in remote.said(other), 30)
        assert len(remote.tg.pending_updates) == 3, "no update is acknowledged"
        assert len(remote.tg.calls("getUpdates")) > polls, "polling continues"
    finally:
        await server.start()
    await remote.answered(chat, first, second, timeout=40)
    await remote.answered(other, elsewhere)
    await remote.answered(remote.tg.chat(running), word, timeout=30)
    assert remote.said(chat).count(OUTAGE) == 1, "the outage is mentioned once"
    for chat_id, asked in ((chat.id, first), (chat.id, second), (other.id, elsewhere), (running, word)):
        assert remote.times(remote.tg.chat(chat_id), asked) == 1
    assert remote.exchanges(running) == 1
    await remote.tg.wait_for(lambda: not remote.tg.pending_updates)


async def test_the_api_says_that_an_external_server_is_unreachable(
    remote: SharedRelay, server: EmbeddedPostgres
) -> None:
    def ports() -> list[int]:
        return [line["port"] for line in map(json.loads, remote.relay.output().splitlines()) if "port" in line]

    [port] = await remote.tg.wait_for(ports, 30)
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}/api", timeout=20) as api:
        proof = {"Authorization": f"tma {sign_init_data(OWNER)}"}
        token = (await api.post("/session", headers=proof)).json()["token"]
        signed_in = {"Authorization": f"Bearer {token}"}
        assert (await api.get("/me", headers=signed_in)).status_code == 200
        await server.stop()
        try:
            said = await api.get("/me", headers=signed_in)
        finally:
            await server.start()
        assert (said.status_code, said.json()["code"]) == (503, "away")
        assert (await api.get("/me", headers=signed_in)).status_code == 200
    chat = remote.guest()
    await remote.answered(chat, await remote.asked(chat), timeout=40)


def fill(shared_relay: SharedRelay, table: str) -> None:
    """Makes each insert into a table fail as PostgreSQL does when the disk is full."""
    shared_relay.sql(
        "create function relay.no_space() returns trigger language plpgsql as $$ begin"
        " raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$"
    )
    shared_relay.sql(
        f"create trigger no_space before insert on relay.{table} for each row execute function relay.no_space()"
    )


async def test_messages_and_answers_wait_while_the_disk_is_full(remote: SharedRelay) -> None:
    remote.quiet()
    chat = remote.guest()
    fill(remote, "inbox")
    word = await remote.asked(chat)
    await remote.tg.wait_for(lambda: OUTAGE in remote.said(chat))
    assert remote.tg.pending_updates
    remote.sql("drop function relay.no_space() cascade")
    await remote.answered(chat, word)
    assert remote.times(chat, word) == 1
    await remote.polled()
    # The same in the middle of a turn: the answer waits and isn't lost.
    running, word = await slow_question(remote)
    fill(remote, "message")
    await asyncio.sleep(1.5)
    assert remote.said(running) == []
    remote.sql("drop function relay.no_space() cascade")
    await remote.answered(remote.tg.chat(running), word)
    assert remote.times(remote.tg.chat(running), word) == 1


async def test_an_unreachable_server_at_startup_is_reported(remote: SharedRelay) -> None:
    await remote.relay.stop()
    before = len(remote.relay.output())
    url = remote.relay.environment["DATABASE_URL"]
    remote.relay.environment["DATABASE_URL"] = "postgresql://relay:secret-password@127.0.0.1:9/relay"
    await remote.again()
    assert remote.relay.process is not None
    async with asyncio.timeout(20):
        assert await remote.relay.process.wait() == 1
    said = remote.relay.output()[before:]
    assert "The database cannot be reached: nothing answers at that host and port" in said
    assert "secret-password" not in said
    remote.relay.environment["DATABASE_URL"] = url
    await remote.again()
    await remote.polled()


async def test_two_bots_on_one_database_answer_everybody_once(remote: SharedRelay) -> None:
    """Two bots by mistake or during an upgrade: only one polls at a time, and both work."""
    remote.quiet()
    chats = [remote.guest() for _ in range(4)]
    second = type(remote.relay)(
        {**remote.relay.environment, "RELAY_DATA_DIR": str(remote.data.with_name("second"))},
        remote.relay.log.with_name("second.log"),
    )
    await second.start()
    words: dict[int, list[str]] = {chat.id: [] for chat in chats}
    for _ in range(6):
        for chat in chats:
            words[chat.id].append(await remote.asked(chat))
        await asyncio.sleep(1)
    for chat in chats:
        await remote.answered(chat, *words[chat.id], timeout=40)
        assert [remote.times(chat, word) for word in words[chat.id]] == [1] * 6
    assert "Another program is reading" not in second.output() + remote.relay.output()
    assert await second.stop() == 0
    await remote.answered(chats[0], await remote.asked(chats[0]), timeout=30)
