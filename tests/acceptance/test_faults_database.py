"""The database dies, is away, is full: the bot says so, keeps polling, loses nothing and recovers by itself."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import psycopg
import pytest
import pytest_asyncio

from relay.clients.embedded.server import EmbeddedPostgres
from relay.surfaces.telegram.incoming.intake import OUTAGE
from tests.acceptance.house import House, open_house
from tests.standins.anthropic import Reply

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def embedded() -> AsyncIterator[House]:
    async with open_house() as house:
        yield house
        assert house.tracebacks() == []


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server() -> AsyncIterator[EmbeddedPostgres]:
    with tempfile.TemporaryDirectory(prefix="relay-server-", ignore_cleanup_errors=True) as folder:
        os.chmod(folder, 0o711)  # noqa: S103 — the server may run as another user
        server = EmbeddedPostgres(Path(folder))
        try:
            yield server
        finally:
            await server.stop()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def remote(server: EmbeddedPostgres) -> AsyncIterator[House]:
    async with open_house(DATABASE_URL=await server.start()) as house:
        yield house
        assert house.tracebacks() == []


def postmaster(house: House) -> int:
    return int((house.data / "postgres" / "postmaster.pid").read_text().split()[0])


def kill_server(house: House) -> None:
    """kill -9 of every process of the server: none lives on for a moment and writes what it has."""
    server = psutil.Process(postmaster(house))
    for process in (server, *server.children()):
        process.kill()


async def slow_question(house: House) -> tuple[int, str]:
    """Somebody's question is with the model now, for a second."""
    chat, word = house.guest(), house.word()
    house.model.rule(word, Reply(f"Answer: {word}", first_delay=1))
    await house.tg.say(chat, None, word)
    await house.model.wait_requests(1, match=word)
    return chat.id, word


async def test_the_embedded_server_is_killed_while_nothing_happens(embedded: House) -> None:
    embedded.quiet()
    chat = embedded.guest()
    await embedded.answered(chat, await embedded.asked(chat))
    os.kill(postmaster(embedded), signal.SIGKILL)
    await asyncio.sleep(0.3)
    word = await embedded.asked(chat)
    await embedded.answered(chat, word)
    assert embedded.times(chat, word) == 1


async def test_the_embedded_server_is_killed_during_a_turn(embedded: House) -> None:
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


async def test_what_the_server_had_not_written_is_done_again(embedded: House) -> None:
    """What a turn saves is on the disk within moments. Here the server dies before, once after each of two steps."""
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


async def test_both_are_killed_at_once(embedded: House) -> None:
    embedded.quiet()
    chat_id, word = await slow_question(embedded)
    await embedded.relay.kill()
    os.kill(postmaster(embedded), signal.SIGKILL)
    await embedded.again()
    chat = embedded.tg.chat(chat_id)
    await embedded.answered(chat, word)
    assert embedded.times(chat, word) == 1


async def test_a_server_of_ones_own_is_away_for_a_while(remote: House, server: EmbeddedPostgres) -> None:
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
        assert len(remote.tg.pending_updates) == 3, "nothing is acknowledged"
        assert len(remote.tg.calls("getUpdates")) > polls, "polling goes on"
    finally:
        await server.start()
    await remote.answered(chat, first, second, timeout=40)
    await remote.answered(other, elsewhere)
    await remote.answered(remote.tg.chat(running), word, timeout=30)
    assert remote.said(chat).count(OUTAGE) == 1, "it is said once"
    for chat_id, asked in ((chat.id, first), (chat.id, second), (other.id, elsewhere), (running, word)):
        assert remote.times(remote.tg.chat(chat_id), asked) == 1
    assert remote.exchanges(running) == 1
    await remote.tg.wait_for(lambda: not remote.tg.pending_updates)


def fill(house: House, table: str) -> None:
    """From now on a table's disk has no room: what PostgreSQL says then, for each new row."""
    house.sql(
        "create function relay.no_space() returns trigger language plpgsql as $$ begin"
        " raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$"
    )
    house.sql(f"create trigger no_space before insert on relay.{table} for each row execute function relay.no_space()")


async def test_a_full_disk(remote: House) -> None:
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
    # The same in the middle of a turn: the answer waits, and is not lost.
    running, word = await slow_question(remote)
    fill(remote, "message")
    await asyncio.sleep(1.5)
    assert remote.said(running) == []
    remote.sql("drop function relay.no_space() cascade")
    await remote.answered(remote.tg.chat(running), word)
    assert remote.times(remote.tg.chat(running), word) == 1


async def test_a_server_that_is_not_there_at_the_start(remote: House) -> None:
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


async def test_two_bots_on_one_database_answer_everybody_once(remote: House) -> None:
    """A mistake, or an upgrade that overlaps: one at a time polls, both work."""
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
