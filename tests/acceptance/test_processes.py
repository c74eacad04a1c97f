"""Several processes of one bot on one database: everybody is answered once and in order, whichever process dies."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.acceptance.process_group import Balancer, ProcessGroup, open_process_group
from tests.acceptance.shared_relay import echo
from tests.standins.anthropic import Reply
from tests.standins.telegram import Chat

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.timeout(240)]

TAKEOVER_SECONDS = 30


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def three() -> AsyncIterator[ProcessGroup]:
    """Three processes: one polls, all answer. Each has room for three answers at a time."""
    async with open_process_group(3, RELAY_CONCURRENCY="3") as process_group:
        yield process_group


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def balancer() -> AsyncIterator[Balancer]:
    async with Balancer().open() as balancer:
        yield balancer


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def two(balancer: Balancer) -> AsyncIterator[ProcessGroup]:
    """Two processes behind a load balancer on the webhook."""
    async with open_process_group(2, balancer) as process_group:
        yield process_group


class Traffic:
    """People who talk all the time."""

    def __init__(self, process_group: ProcessGroup, chats: list[Chat]) -> None:
        self.process_group = process_group
        self.words: dict[int, list[str]] = {chat.id: [] for chat in chats}
        self.chats = chats
        self._tasks = [asyncio.create_task(self._talk(chat, random.Random(chat.id))) for chat in chats]

    async def _talk(self, chat: Chat, chance: random.Random) -> None:
        while True:
            self.words[chat.id].append(await self.process_group.shared_relay.asked(chat))
            await asyncio.sleep(chance.uniform(0.3, 1.5))

    async def more(self, count: int) -> None:
        """Waits until each chat has this many more answers."""
        goal = {chat.id: len(self.words[chat.id]) + count for chat in self.chats}
        await self.process_group.shared_relay.tg.wait_for(
            lambda: all(
                len(self.words[chat.id]) >= goal[chat.id]
                and self.process_group.shared_relay.times(chat, self.words[chat.id][goal[chat.id] - 1])
                for chat in self.chats
            ),
            60,
        )

    async def end(self) -> None:
        """Stops the traffic and asserts that each question was answered once, in the order asked."""
        for task in self._tasks:
            task.cancel()
        shared_relay = self.process_group.shared_relay
        for chat in self.chats:
            words = self.words[chat.id]
            await shared_relay.answered(chat, *words, timeout=60)
            assert [(word, shared_relay.times(chat, word)) for word in words] == [(word, 1) for word in words]
            text = "\n".join(shared_relay.said(chat))
            assert [text.index(word) for word in words] == sorted(text.index(word) for word in words)


def slow(process_group: ProcessGroup) -> None:
    """Makes every answer take a while, so that a kill hits some in the middle."""
    process_group.shared_relay.quiet()
    process_group.shared_relay.model.rule(None, lambda request: Reply(echo(request), spread=0.5))


@pytest.mark.slow("test_queue.py and test_lease_sql.py, with several workers on one database")
async def test_a_kill_of_one_of_two_or_three_processes_loses_no_answer(two: ProcessGroup, three: ProcessGroup) -> None:
    await asyncio.gather(whoever_is_behind_the_balancer(two), who_polls(three))


async def who_polls(three: ProcessGroup) -> None:
    """Kills the process that polls: another takes over."""
    slow(three)
    traffic = Traffic(three, [three.shared_relay.guest() for _ in range(6)] + [three.shared_relay.room()])
    await three.shared_relay.until(
        "select count(distinct lease_owner) > 1 from relay.turn where status in ('working', 'answered')", timeout=40
    )
    await traffic.more(3)
    polling = three.polls()
    assert polling is not None
    await polling.kill()
    await three.shared_relay.tg.wait_for(lambda: three.polls() not in (None, polling), TAKEOVER_SECONDS)
    await traffic.more(1)
    await traffic.end()
    assert "Another program is reading" not in three.logs(), "they do not poll at the same time"
    await polling.start()


async def whoever_is_behind_the_balancer(two: ProcessGroup) -> None:
    """Kills one of the two processes behind the balancer: the other finishes its turns."""
    slow(two)
    shared_relay = two.shared_relay
    traffic = Traffic(two, [shared_relay.guest() for _ in range(5)] + [shared_relay.room()])
    await traffic.more(3)
    dead = random.Random(time.time_ns()).choice(two.processes)
    await dead.kill()
    left = shared_relay.sql("select id from relay.turn where status in ('working', 'answered')")
    await shared_relay.until(
        "select count(*) = 0 from relay.turn where status in ('working', 'answered') and id = any(%s)",
        [number for (number,) in left],
        timeout=TAKEOVER_SECONDS,
    )
    await traffic.end()
    assert not shared_relay.tg.calls("getUpdates")
    await dead.start()


@pytest.mark.slow("test_a_stopping_process_gives_up_polling and test_stopping.py")
async def test_a_stopping_process_hands_over_polling_at_once(three: ProcessGroup) -> None:
    slow(three)
    chat = three.shared_relay.guest()
    holder = three.polls()
    assert holder is not None
    started = "select count(*) from relay.event where kind = 'started'"
    stopped = "select count(*) from relay.event where kind = 'stopped'"
    assert three.shared_relay.sql(started)[0][0] >= 3
    before = three.shared_relay.sql(stopped)[0][0]
    assert await holder.stop() == 0
    assert three.shared_relay.sql(stopped) == [(before + 1,)]
    await three.shared_relay.tg.wait_for(lambda: three.polls() not in (None, holder), 10)
    await three.shared_relay.answered(chat, await three.shared_relay.asked(chat))


@pytest.mark.slow("test_stop_reaches_the_turn_in_another_process")
async def test_stop_reaches_the_process_that_writes_the_answer(two: ProcessGroup, balancer: Balancer) -> None:
    shared_relay = two.shared_relay
    shared_relay.quiet()
    chat = shared_relay.guest()
    shared_relay.model.rule("at length", Reply("word " * 400, spread=60))
    await shared_relay.tg.wait_for(
        lambda: all(one.output().count("listening for Telegram") == one.starts for one in two.processes), 60
    )
    balancer.only = 0
    try:
        await shared_relay.tg.say(chat, None, "tell me at length")
        await shared_relay.tg.wait_for(lambda: shared_relay.tg.drafts(chat), 20)
        balancer.only = 1
        await shared_relay.tg.say(chat, None, "/stop")
        await shared_relay.until_said(chat, "word", timeout=20)
        await shared_relay.until("select count(*) = 0 from relay.turn where status in ('working', 'answered')")
    finally:
        balancer.only = None
    assert len("\n".join(shared_relay.said(chat))) < 1900
    assert "not writing" not in "\n".join(shared_relay.said(chat))


@pytest.mark.slow("test_a_process_is_counted_as_working_until_it_stops_or_dies")
async def test_idle_processes_hold_leases_that_a_restore_can_see(two: ProcessGroup) -> None:
    shared_relay = two.shared_relay
    await shared_relay.until("select count(*) = 0 from relay.turn where status in ('working', 'answered')")
    leased = "select (public.relay_move_state() ->> 'leased')::int = %s"
    await shared_relay.until(leased, 2, timeout=20)
    for number, process in enumerate(two.processes, 1):
        assert await process.stop() == 0
        assert shared_relay.sql(leased, 2 - number) == [(True,)], "a stopped process releases its lease at once"
