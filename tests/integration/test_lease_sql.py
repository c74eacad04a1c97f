"""Leases: what a process has stays its own while it says so, and is another's soon after it died."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from relay.core.ports import Database
from relay.jobs.kinds import JobKind, Retry
from relay.jobs.registry import DailyJobFailed, run_daily
from relay.jobs.runner import Runner
from relay.memory.calls.queue import LEASE_SECONDS
from relay.memory.claims import ClaimResult
from relay.memory.rows.jobs import ClaimedJob
from relay.memory.store import Store
from tests.integration.conftest import Sql
from tests.integration.house import ADA, BEN, BOT, House, message
from tests.integration.work import claim_summaries, written

Another = Callable[[], Store]
POLL = f"poll:{BOT.id}"


async def news(store: Store, *running: int) -> ClaimResult:
    return (await store.claim(BOT.id, 0, running))[1]


async def test_one_of_many_polls(store: Store, another: Another) -> None:
    assert (await news(store)).polls is None
    stores = [store, *(another() for _ in range(5))]
    taken = await asyncio.gather(*(one.take_duty(POLL, LEASE_SECONDS) for one in stores))
    assert sum(taken) == 1
    assert [(await news(one)).polls for one in stores] == taken


async def test_claims_keep_polling_and_a_dead_ones_is_free_in_time(store: Store, another: Another, sql: Sql) -> None:
    other = another()
    assert await store.take_duty(POLL, LEASE_SECONDS)
    await sql("update duty set lease_until = now() + interval '1 second'")
    assert (await news(store)).polls is True
    assert await sql("select lease_until > now() + interval '15 seconds' from duty where name = %s", POLL) == [(True,)]
    await sql("update duty set lease_until = now() - interval '1 second'")
    assert (await news(other)).polls is None
    assert (await news(store)).polls is True, "nobody has taken it meanwhile"
    await sql("update duty set lease_until = now() - interval '1 second'")
    assert await other.take_duty(POLL, LEASE_SECONDS)
    assert ((await news(store)).polls, (await news(other)).polls) == (False, True)


async def test_who_stops_gives_polling_back(store: Store, another: Another) -> None:
    other = another()
    assert await store.take_duty(POLL, LEASE_SECONDS)
    await other.end_duty(POLL, False)
    assert not await other.take_duty(POLL, LEASE_SECONDS), "it is not the other's to give back"
    await store.end_duty(POLL, False)
    assert await other.take_duty(POLL, LEASE_SECONDS)
    await other.release()
    assert await store.take_duty(POLL, LEASE_SECONDS)


async def test_a_process_shows_that_it_is_there_until_it_stops_or_is_dead(
    store: Store, another: Another, database: Database, sql: Sql
) -> None:
    async def leased() -> int:
        return int((await database.call("move_state"))["leased"])

    other = another()
    assert await leased() == 0
    await news(store)
    await news(store)
    await other.intake(BOT.id, [], 0)
    assert await leased() == 2, "both are idle, and neither polls"
    assert (await database.call("examine_work"))["working"]
    await sql("update duty set lease_until = now() + interval '1 second'")
    await news(store)
    await sql(
        "update duty set lease_until = now() - interval '1 second' where lease_until < now() + interval '5 seconds'"
    )
    assert await leased() == 1, "the other is dead"
    await store.release()
    assert await leased() == 0
    assert await sql("select count(*) from duty") == [(0,)], "nothing is left of either"
    await news(store)
    await sql("update duty set lease_owner = null, lease_until = null")  # as a restore does
    await news(store)
    assert await leased() == 1


async def test_the_other_process_is_told_to_stop(house: House, store: Store, another: Another) -> None:
    (turn, bens) = await house.say(message(ADA, "tell me all"), message(BEN, "and me"))
    other = another()
    assert await other.ask_stop(BOT.id, ADA, 0, None)
    assert not await other.ask_stop(BOT.id, ADA, 0, None), "it is being stopped already"
    assert not await other.ask_stop(BOT.id, ADA, 5, None)
    assert not await other.ask_stop(BOT.id, ADA, 0, bens.turn_id), "another chat's turn"
    assert (await news(store, turn.turn_id, bens.turn_id)).stopped == (turn.turn_id,)
    assert await other.ask_stop(BOT.id, BEN, 0, bens.turn_id)
    await house.close(turn)
    assert not await other.ask_stop(BOT.id, ADA, 0, None)


async def test_a_claim_prolongs_what_runs_and_tells_what_is_lost(
    house: House, store: Store, another: Another, sql: Sql
) -> None:
    (turn,) = await house.say(message(ADA, "hello"))
    await sql("update turn set lease_until = now() + interval '2 seconds'")
    assert (await news(store, turn.turn_id)).lost == ()
    assert await sql("select lease_until > now() + interval '15 seconds' from turn") == [(True,)]
    await sql("update turn set lease_until = now() - interval '1 second'")
    ((taken,), _) = await another().claim(BOT.id, 5)
    assert taken.turn_id == turn.turn_id
    assert (await news(store, turn.turn_id)).lost == (turn.turn_id,)


async def test_a_summary_of_the_dead_is_owed_in_time(house: House, store: Store, another: Another, sql: Sql) -> None:
    for number in range(5):
        await house.exchange(ADA, f"question {number}")
    await sql("delete from job where kind = 'title'")
    await store.pass_judging(4)
    other = another()
    assert (await news(other)).owed
    (due,) = await claim_summaries(store, 4)
    assert not (await news(other)).owed
    await sql("update job set lease_until = now() + interval '1 second'")
    assert await store.renew_job(due.job)
    assert await sql("select lease_until > now() + interval '15 seconds' from job") == [(True,)]
    await sql("update job set lease_until = now() - interval '1 second'")
    assert (await news(other)).owed
    assert len(await claim_summaries(other, 4)) == 1
    assert not await store.renew_job(due.job)
    assert not (await store.store_summary(due.job, written(due, "Late."))), "it is the other's now"


def daily(by: Store, work: Callable[[], Awaitable[object]]) -> Runner:
    """What does something once a day."""

    async def run(_: ClaimedJob) -> bool:
        await work()
        return True

    return Runner(by, [JobKind("tidy", run, timeout=60, retry=Retry(most=3))])


async def test_what_is_done_once_a_day_is_done_once(store: Store, another: Another, sql: Sql) -> None:
    done: list[Store] = []

    async def tidied(by: Store) -> None:
        async def work() -> None:
            done.append(by)
            await asyncio.sleep(0.05)

        await run_daily(daily(by, work), "tidy")

    stores = [store, another(), another()]
    await asyncio.gather(*(tidied(one) for one in stores))
    await asyncio.gather(*(tidied(one) for one in stores))
    assert len(done) == 1
    await sql("update duty set done_at = done_at - interval '1 day'")
    await tidied(store)
    assert len(done) == 2


async def test_work_that_fails_is_not_done(store: Store, another: Another) -> None:
    done: list[bool] = []

    async def fails() -> None:
        raise RuntimeError("of which nobody is told the words")

    async def works() -> None:
        done.append(True)

    with pytest.raises(DailyJobFailed, match=r"^RuntimeError$"):
        await run_daily(daily(store, fails), "tidy")
    await run_daily(daily(another(), works), "tidy")
    assert done == [], "it waits for its next try"
    assert await daily(another(), works).run_one("tidy", "")
    assert await store.job("tidy", "") is None
    assert done == [True]
