"""Failing turns, waiting turns, and shutdown: nothing blocks anybody else, and nothing is lost."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from relay.clients.embedded.cluster import Cluster
from relay.surfaces.telegram.turns.notices import APOLOGY
from tests.acceptance.harness import OWNER, RelayProcess
from tests.acceptance.shared_relay import SharedRelay, open_relay
from tests.standins.anthropic import Reply

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def module_relay() -> AsyncIterator[SharedRelay]:
    async with open_relay() as shared_relay:
        yield shared_relay


def slow(shared_relay: SharedRelay, seconds: float = 2.0) -> str:
    """Returns a new question whose answer takes a while."""
    word = shared_relay.word()
    shared_relay.model.rule(word, Reply(f"Answer: {word}", first_delay=seconds))
    return word


@pytest.fixture
def poison(shared_relay: SharedRelay) -> Iterator[str]:
    """Returns a message that the database doesn't store, so that its turn fails."""
    shared_relay.sql(
        "create function relay.poison() returns trigger language plpgsql as $$ begin"
        " if new.text like '%%poison%%' then raise exception 'a broken row'; end if; return new; end $$"
    )
    shared_relay.sql(
        "create trigger poison before insert on relay.message for each row execute function relay.poison()"
    )
    yield "poison"
    shared_relay.sql("drop function relay.poison() cascade")


async def test_a_failing_turn_can_be_stopped_before_it_is_tried_again(shared_relay: SharedRelay, poison: str) -> None:
    chat = shared_relay.guest()
    await shared_relay.tg.say(chat, None, poison)
    await shared_relay.until(
        "select count(*) from relay.turn where failures = 1 and lease_owner is null and user_id = %s", chat.id
    )
    await shared_relay.tg.say(chat, None, "/stop")
    await shared_relay.answered(chat, await shared_relay.asked(chat), timeout=30)
    failed = "select max(failures) from relay.turn where user_id = %s"
    assert shared_relay.sql(failed, chat.id) == [(1,)], "it was not tried again"
    assert shared_relay.said(chat)[0] == "Stopped."


async def test_a_repeatedly_failing_turn_is_set_aside_and_its_thread_continues(
    shared_relay: SharedRelay, poison: str
) -> None:
    before = shared_relay.relay.output().count("Traceback")
    chat, other = shared_relay.guest(), shared_relay.guest()
    await shared_relay.answered(other, await shared_relay.asked(other))
    await shared_relay.tg.say(chat, None, poison)
    await shared_relay.tg.wait_for(lambda: not shared_relay.tg.pending_updates)
    await asyncio.sleep(0.3)
    behind, elsewhere = await shared_relay.asked(chat), await shared_relay.asked(other)
    await shared_relay.answered(other, elsewhere)
    await shared_relay.answered(chat, behind, timeout=30)
    assert shared_relay.said(chat) == [APOLOGY, f"Answer: {behind}"]
    assert shared_relay.replies(other)[-1].at < shared_relay.replies(chat)[0].at, (
        "other chats do not wait for the failing turn"
    )
    (told,) = shared_relay.said(OWNER)
    assert "set aside after failing three times" in told
    assert "a broken row" in told
    assert "poison" not in told, "admins don't see the person's words"
    assert shared_relay.relay.output().count("Traceback") == before + 3


async def test_messages_sent_during_an_answer_are_answered_in_order(shared_relay: SharedRelay) -> None:
    chat = shared_relay.guest()
    words = [slow(shared_relay, 1.0)]
    await shared_relay.tg.say(chat, None, words[0])
    await shared_relay.model.wait_requests(1)
    words += [await shared_relay.asked(chat) for _ in range(5)]
    await shared_relay.answered(chat, *words)
    assert shared_relay.said(chat) == [f"Answer: {words[0]}", f"Answer: {' '.join(words[1:])}"]
    assert shared_relay.exchanges(chat) == 2, "messages sent during the answer are one turn"


async def test_commands_that_telegram_holds_back_in_a_group_keep_none_waiting_elsewhere(
    shared_relay: SharedRelay,
) -> None:
    tg, chat = shared_relay.tg, shared_relay.guest()
    guest = tg.user(chat.id, "Guest")
    room = tg.group(-1000000000000 - chat.id, "Room", [guest])
    await shared_relay.answered(chat, await shared_relay.asked(chat))
    held = tg.fault("sendMessage", "429", times=-1, chat_id=room.id, retry_after=6)
    for text in ("/settings", "/settings", "/stop", "/stop"):
        await tg.say(room, guest, text)
    await tg.wait_for(lambda: held.hits >= 2)
    await tg.wait_reply(chat, await tg.say(chat, None, "/help"), timeout=4)
    word = shared_relay.word()
    shared_relay.model.rule(word, Reply("x " * 3000, spread=20))
    await tg.say(chat, None, word)
    await tg.wait_for(lambda: tg.drafts(chat))
    await tg.say(chat, None, "/stop")
    await tg.wait_for(lambda: "Stopped." in "".join(shared_relay.said(chat)), timeout=4)
    assert shared_relay.said(room) == []
    tg.clear_faults()
    await tg.wait_for(lambda: len(shared_relay.said(room)) == 4, timeout=15)


async def test_sigterm_finishes_the_running_answer_and_keeps_waiting_messages(shared_relay: SharedRelay) -> None:
    chat = shared_relay.guest()
    word = slow(shared_relay)
    await shared_relay.tg.say(chat, None, word)
    await shared_relay.model.wait_requests(1)
    waiting = await shared_relay.asked(chat)
    await shared_relay.tg.wait_for(lambda: not shared_relay.tg.pending_updates)
    assert await shared_relay.relay.stop() == 0
    assert shared_relay.said(chat) == [f"Answer: {word}"]
    left = await shared_relay.asked(chat)
    await shared_relay.again()
    await shared_relay.answered(chat, waiting, left)
    assert [shared_relay.times(chat, each) for each in (word, waiting, left)] == [1, 1, 1]


async def test_a_second_sigterm_ends_the_bot_at_once_and_loses_nothing(shared_relay: SharedRelay) -> None:
    chat = shared_relay.guest()
    word = slow(shared_relay, 15)
    await shared_relay.tg.say(chat, None, word)
    await shared_relay.model.wait_requests(1)
    process = shared_relay.relay.process
    assert process is not None
    process.send_signal(signal.SIGTERM)
    await asyncio.sleep(0.5)
    assert process.returncode is None, "the bot waits for the answer"
    process.send_signal(signal.SIGTERM)
    async with asyncio.timeout(3):
        assert await process.wait() == -signal.SIGTERM
    shared_relay.quiet()
    await shared_relay.again()
    await shared_relay.answered(chat, word)
    assert shared_relay.times(chat, word) == 1


async def test_the_last_process_stops_the_embedded_server(shared_relay: SharedRelay) -> None:
    await shared_relay.polled()
    second = RelayProcess(shared_relay.relay.environment, shared_relay.relay.log.with_name("second.log"))
    await second.start()
    await shared_relay.tg.wait_for(lambda: "relay is running" in second.output(), 20)
    assert await shared_relay.relay.stop() == 0
    cluster = Cluster(shared_relay.data)
    assert cluster.is_served(), "another process still uses the server"
    chat = shared_relay.guest()
    await shared_relay.answered(chat, await shared_relay.asked(chat))
    assert await second.stop() == 0
    assert not cluster.is_served()
    await shared_relay.again()
    await shared_relay.answered(chat, await shared_relay.asked(chat))
