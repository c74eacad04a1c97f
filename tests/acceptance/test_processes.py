"""Several processes of one bot on one database: everybody is answered once and in order, whoever of them dies."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.acceptance.crew import Balancer, Crew, open_crew
from tests.acceptance.house import echo
from tests.standins.anthropic import Reply
from tests.standins.telegram import Chat

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(240)]

TAKEOVER_SECONDS = 30


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def three() -> AsyncIterator[Crew]:
    """Three processes: one polls, all answer. Each has room for three answers at a time."""
    async with open_crew(3, RELAY_CONCURRENCY="3") as crew:
        yield crew


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def balancer() -> AsyncIterator[Balancer]:
    async with Balancer().open() as balancer:
        yield balancer


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def two(balancer: Balancer) -> AsyncIterator[Crew]:
    """Two processes behind a load balancer on the webhook."""
    async with open_crew(2, balancer) as crew:
        yield crew


class Traffic:
    """People who talk all the time."""

    def __init__(self, crew: Crew, chats: list[Chat]) -> None:
        self.crew = crew
        self.words: dict[int, list[str]] = {chat.id: [] for chat in chats}
        self.chats = chats
        self._tasks = [asyncio.create_task(self._talk(chat, random.Random(chat.id))) for chat in chats]

    async def _talk(self, chat: Chat, chance: random.Random) -> None:
        while True:
            self.words[chat.id].append(await self.crew.house.asked(chat))
            await asyncio.sleep(chance.uniform(0.3, 1.5))

    async def more(self, count: int) -> None:
        """Waits until everybody has been answered this many questions more."""
        goal = {chat.id: len(self.words[chat.id]) + count for chat in self.chats}
        await self.crew.house.tg.wait_for(
            lambda: all(
                len(self.words[chat.id]) >= goal[chat.id]
                and self.crew.house.times(chat, self.words[chat.id][goal[chat.id] - 1])
                for chat in self.chats
            ),
            60,
        )

    async def end(self) -> None:
        """Everybody falls silent, and has been answered each question once, in the order asked."""
        for task in self._tasks:
            task.cancel()
        house = self.crew.house
        for chat in self.chats:
            words = self.words[chat.id]
            await house.answered(chat, *words, timeout=60)
            assert [(word, house.times(chat, word)) for word in words] == [(word, 1) for word in words]
            text = "\n".join(house.said(chat))
            assert [text.index(word) for word in words] == sorted(text.index(word) for word in words)


def slow(crew: Crew) -> None:
    """Every answer takes a while, so that a kill hits some in the middle."""
    crew.house.quiet()
    crew.house.model.rule(None, lambda request: Reply(echo(request), spread=0.5))


@pytest.mark.slow("test_queue.py and test_lease_sql.py, with several workers on one database")
async def test_of_two_and_of_three_processes_one_is_killed_under_traffic(two: Crew, three: Crew) -> None:
    await asyncio.gather(whoever_is_behind_the_balancer(two), who_polls(three))


async def who_polls(three: Crew) -> None:
    """The process that polls is killed: another polls."""
    slow(three)
    traffic = Traffic(three, [three.house.guest() for _ in range(6)] + [three.house.room()])
    await three.house.until(
        "select count(distinct lease_owner) > 1 from relay.turn where status in ('working', 'answered')", timeout=40
    )
    await traffic.more(3)
    polling = three.polls()
    assert polling is not None
    await polling.kill()
    await three.house.tg.wait_for(lambda: three.polls() not in (None, polling), TAKEOVER_SECONDS)
    await traffic.more(1)
    await traffic.end()
    assert "Another program is reading" not in three.logs(), "they do not poll at the same time"
    await polling.start()


async def whoever_is_behind_the_balancer(two: Crew) -> None:
    """One of the two to which updates are delivered is killed: what it had is done by the other."""
    slow(two)
    house = two.house
    traffic = Traffic(two, [house.guest() for _ in range(5)] + [house.room()])
    await traffic.more(3)
    dead = random.Random(time.time_ns()).choice(two.processes)
    await dead.kill()
    left = house.sql("select id from relay.turn where status in ('working', 'answered')")
    await house.until(
        "select count(*) = 0 from relay.turn where status in ('working', 'answered') and id = any(%s)",
        [number for (number,) in left],
        timeout=TAKEOVER_SECONDS,
    )
    await traffic.end()
    assert not house.tg.calls("getUpdates")
    await dead.start()


@pytest.mark.slow("test_who_stops_gives_polling_back and test_stopping.py")
async def test_who_stops_hands_polling_over_at_once(three: Crew) -> None:
    slow(three)
    chat = three.house.guest()
    holder = three.polls()
    assert holder is not None
    started = "select count(*) from relay.event where kind = 'started'"
    stopped = "select count(*) from relay.event where kind = 'stopped'"
    assert three.house.sql(started)[0][0] >= 3
    before = three.house.sql(stopped)[0][0]
    assert await holder.stop() == 0
    assert three.house.sql(stopped) == [(before + 1,)]
    await three.house.tg.wait_for(lambda: three.polls() not in (None, holder), 10)
    await three.house.answered(chat, await three.house.asked(chat))


@pytest.mark.slow("test_the_other_process_is_told_to_stop")
async def test_stop_reaches_the_process_that_writes(two: Crew, balancer: Balancer) -> None:
    house = two.house
    house.quiet()
    chat = house.guest()
    house.model.rule("at length", Reply("word " * 400, spread=60))
    await house.tg.wait_for(
        lambda: all(one.output().count("listening for Telegram") == one.starts for one in two.processes), 60
    )
    balancer.only = 0
    try:
        await house.tg.say(chat, None, "tell me at length")
        await house.tg.wait_for(lambda: house.tg.drafts(chat), 20)
        balancer.only = 1
        await house.tg.say(chat, None, "/stop")
        await house.until_said(chat, "word", timeout=20)
        await house.until("select count(*) = 0 from relay.turn where status in ('working', 'answered')")
    finally:
        balancer.only = None
    assert len("\n".join(house.said(chat))) < 1900
    assert "not writing" not in "\n".join(house.said(chat))


@pytest.mark.slow("test_a_process_shows_that_it_is_there_until_it_stops_or_is_dead")
async def test_a_restore_sees_processes_that_have_nothing_to_do(two: Crew) -> None:
    house = two.house
    await house.until("select count(*) = 0 from relay.turn where status in ('working', 'answered')")
    leased = "select (public.relay_move_state() ->> 'leased')::int = %s"
    await house.until(leased, 2, timeout=20)
    for number, process in enumerate(two.processes, 1):
        assert await process.stop() == 0
        assert house.sql(leased, 2 - number) == [(True,)], "who stops is gone at once"
