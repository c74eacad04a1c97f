"""Turns that fail, turns that wait, and how the bot ends: nothing is in anybody's way, and nothing is lost."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from relay.clients.embedded.cluster import Cluster
from relay.surfaces.telegram.turns.notices import APOLOGY
from tests.acceptance.harness import OWNER, RelayProcess
from tests.acceptance.house import House, open_house
from tests.standins.anthropic import Reply

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared() -> AsyncIterator[House]:
    async with open_house() as house:
        yield house


def slow(house: House, seconds: float = 2.0) -> str:
    """A new question whose answer takes a while."""
    word = house.word()
    house.model.rule(word, Reply(f"Answer: {word}", first_delay=seconds))
    return word


async def test_a_turn_that_keeps_failing_is_set_aside_and_its_thread_goes_on(house: House) -> None:
    house.sql(
        "create function relay.poison() returns trigger language plpgsql as $$ begin"
        " if new.text like '%%poison%%' then raise exception 'a broken row'; end if; return new; end $$"
    )
    house.sql("create trigger poison before insert on relay.message for each row execute function relay.poison()")
    chat, other = house.guest(), house.guest()
    await house.answered(other, await house.asked(other))
    await house.tg.say(chat, None, "poison")
    await house.tg.wait_for(lambda: not house.tg.pending_updates)
    await asyncio.sleep(0.3)
    behind, elsewhere = await house.asked(chat), await house.asked(other)
    await house.answered(other, elsewhere)
    await house.answered(chat, behind, timeout=30)
    assert house.said(chat) == [APOLOGY, f"Answer: {behind}"]
    assert house.replies(other)[-1].at < house.replies(chat)[0].at, "the others do not wait for it"
    (told,) = house.said(OWNER)
    assert "set aside after failing three times" in told
    assert "a broken row" in told
    assert "poison" not in told, "what somebody said stays theirs"
    house.sql("drop function relay.poison() cascade")
    assert house.relay.output().count("Traceback") == 3


async def test_what_arrives_meanwhile_is_answered_in_order(house: House) -> None:
    chat = house.guest()
    words = [slow(house, 1.0)]
    await house.tg.say(chat, None, words[0])
    await house.model.wait_requests(1)
    words += [await house.asked(chat) for _ in range(5)]
    await house.answered(chat, *words)
    assert house.said(chat) == [f"Answer: {words[0]}", f"Answer: {' '.join(words[1:])}"]
    assert house.exchanges(chat) == 2, "what came meanwhile is one turn"


async def test_sigterm_lets_a_running_answer_end_and_keeps_the_rest(house: House) -> None:
    chat = house.guest()
    word = slow(house)
    await house.tg.say(chat, None, word)
    await house.model.wait_requests(1)
    waiting = await house.asked(chat)
    await house.tg.wait_for(lambda: not house.tg.pending_updates)
    assert await house.relay.stop() == 0
    assert house.said(chat) == [f"Answer: {word}"]
    left = await house.asked(chat)
    await house.again()
    await house.answered(chat, waiting, left)
    assert [house.times(chat, each) for each in (word, waiting, left)] == [1, 1, 1]


async def test_a_second_sigterm_ends_it_at_once_and_loses_nothing(house: House) -> None:
    chat = house.guest()
    word = slow(house, 15)
    await house.tg.say(chat, None, word)
    await house.model.wait_requests(1)
    process = house.relay.process
    assert process is not None
    process.send_signal(signal.SIGTERM)
    await asyncio.sleep(0.5)
    assert process.returncode is None, "it waits for the answer"
    process.send_signal(signal.SIGTERM)
    async with asyncio.timeout(3):
        assert await process.wait() == -signal.SIGTERM
    house.quiet()
    await house.again()
    await house.answered(chat, word)
    assert house.times(chat, word) == 1


async def test_the_last_user_stops_the_embedded_server(house: House) -> None:
    await house.polled()
    second = RelayProcess(house.relay.environment, house.relay.log.with_name("second.log"))
    await second.start()
    await house.tg.wait_for(lambda: "relay is running" in second.output(), 20)
    assert await house.relay.stop() == 0
    cluster = Cluster(house.data)
    assert cluster.is_served(), "somebody still uses it"
    chat = house.guest()
    await house.answered(chat, await house.asked(chat))
    assert await second.stop() == 0
    assert not cluster.is_served()
    await house.again()
    await house.answered(chat, await house.asked(chat))
