"""Tests leases: a process keeps what it holds while it renews, and another takes it over soon after a crash."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from relay.core.ports import Database
from relay.jobs.clock.scheduler import Scheduler
from relay.jobs.kinds import JobKind, Retry
from relay.jobs.registry import MISSED_SECONDS, JobFailed, run_daily, schedules
from relay.jobs.runner import Runner
from relay.memory.calls.queue import LEASE_SECONDS
from relay.memory.claims import ClaimResult
from relay.memory.rows.jobs import ClaimedJob
from relay.memory.store import Store
from tests.integration.conftest import Sql
from tests.integration.turn_driver import ADA, BEN, BOT, TurnDriver, message
from tests.integration.work import claim_summaries, written

Another = Callable[[], Store]
POLL = f"poll:{BOT.id}"


async def news(store: Store, *running: int) -> ClaimResult:
    return (await store.claim(BOT.id, 0, running))[1]


async def test_only_one_of_many_processes_polls(store: Store, another: Another) -> None:
    assert (await news(store)).polls is None
    stores = [store, *(another() for _ in range(5))]
    taken = await asyncio.gather(*(one.hold_duty(POLL, LEASE_SECONDS) for one in stores))
    assert sum(taken) == 1
    assert [(await news(one)).polls for one in stores] == taken


async def test_claims_renew_polling_and_an_expired_lease_is_taken_over(
    store: Store, another: Another, sql: Sql
) -> None:
    other = another()
    assert await store.hold_duty(POLL, LEASE_SECONDS)
    await sql("update duty set lease_until = now() + interval '1 second'")
    assert (await news(store)).polls is True
    assert await sql("select lease_until > now() + interval '15 seconds' from duty where name = %s", POLL) == [(True,)]
    await sql("update duty set lease_until = now() - interval '1 second'")
    assert (await news(other)).polls is None
    assert (await news(store)).polls is True, "no other process has taken it meanwhile"
    await sql("update duty set lease_until = now() - interval '1 second'")
    assert await other.hold_duty(POLL, LEASE_SECONDS)
    assert ((await news(store)).polls, (await news(other)).polls) == (False, True)


async def test_a_stopping_process_gives_up_polling(store: Store, another: Another) -> None:
    other = another()
    assert await store.hold_duty(POLL, LEASE_SECONDS)
    await other.free_duty(POLL)
    assert not await other.hold_duty(POLL, LEASE_SECONDS), "a process may not free another's duty"
    await store.free_duty(POLL)
    assert await other.hold_duty(POLL, LEASE_SECONDS)
    await other.release()
    assert await store.hold_duty(POLL, LEASE_SECONDS)


async def test_a_process_is_counted_as_working_until_it_stops_or_dies(
    store: Store, another: Another, database: Database, sql: Sql
) -> None:
    async def leased() -> int:
        return int((await database.call("move_state"))["leased"])

    other = another()
    assert await leased() == 0
    await news(store)
    await news(store)
    await other.intake(BOT.id, [], 0)
    assert await leased() == 2, "both processes are idle, and neither polls"
    assert (await database.call("examine_work"))["working"]
    await sql("update duty set lease_until = now() + interval '1 second'")
    await news(store)
    await sql(
        "update duty set lease_until = now() - interval '1 second' where lease_until < now() + interval '5 seconds'"
    )
    assert await leased() == 1, "the other process is dead"
    await store.release()
    assert await leased() == 0
    assert await sql("select count(*) from duty") == [(0,)], "neither process may leave a duty behind"
    await news(store)
    await sql("update duty set lease_owner = null, lease_until = null")  # a restore does this
    await news(store)
    assert await leased() == 1


async def test_stop_reaches_the_turn_in_another_process(driver: TurnDriver, store: Store, another: Another) -> None:
    (turn, bens) = await driver.say(message(ADA, "tell me all"), message(BEN, "and me"))
    other = another()
    assert await other.ask_stop(BOT.id, ADA, 0, None)
    assert not await other.ask_stop(BOT.id, ADA, 0, None), "the turn is already being stopped"
    assert not await other.ask_stop(BOT.id, ADA, 5, None)
    assert not await other.ask_stop(BOT.id, ADA, 0, bens.turn_id), "the turn belongs to another chat"
    assert (await news(store, turn.turn_id, bens.turn_id)).stopped == (turn.turn_id,)
    assert await other.ask_stop(BOT.id, BEN, 0, bens.turn_id)
    await driver.close(turn)
    assert not await other.ask_stop(BOT.id, ADA, 0, None)


async def test_a_claim_renews_running_turns_and_reports_lost_ones(
    driver: TurnDriver, store: Store, another: Another, sql: Sql
) -> None:
    (turn,) = await driver.say(message(ADA, "hello"))
    await sql("update turn set lease_until = now() + interval '2 seconds'")
    assert (await news(store, turn.turn_id)).lost == ()
    assert await sql("select lease_until > now() + interval '15 seconds' from turn") == [(True,)]
    await sql("update turn set lease_until = now() - interval '1 second'")
    ((taken,), _) = await another().claim(BOT.id, 5)
    assert taken.turn_id == turn.turn_id
    assert (await news(store, turn.turn_id)).lost == (turn.turn_id,)
    await sql("update turn set fence = fence + 1, lease_owner = null, lease_until = null")  # as an edit does
    assert (await news(store, turn.turn_id)).lost == (turn.turn_id,)


async def test_a_summary_held_by_a_dead_process_becomes_due_again(
    driver: TurnDriver, store: Store, another: Another, sql: Sql
) -> None:
    for number in range(5):
        await driver.exchange(ADA, f"question {number}")
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
    assert not (await store.store_summary(due.job, written(due, "Late."))), "the job belongs to the other process now"


def daily(by: Store, work: Callable[[], Awaitable[object]]) -> Runner:
    """Returns a runner for a daily job."""

    async def run(_: ClaimedJob) -> bool:
        await work()
        return True

    return Runner(by, [JobKind("tidy", run, timeout=60, retry=Retry(most=3))])


async def test_a_daily_job_runs_once_a_day(store: Store, another: Another, sql: Sql) -> None:
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


async def test_a_daily_job_whose_hour_was_missed_runs_later(store: Store, sql: Sql) -> None:
    done: list[bool] = []

    async def work() -> None:
        done.append(True)

    async def check() -> int:
        await run_daily(daily(store, work), "tidy", MISSED_SECONDS)
        return len(done)

    assert await check() == 0, "a new installation has missed nothing"
    (applied,) = await sql("select min(applied_at) from migration")
    await sql("update migration set applied_at = applied_at - interval '25 hours' where version = 1")
    try:
        assert [await check(), await check()] == [1, 1]
    finally:
        await sql("update migration set applied_at = applied_at + interval '25 hours' where version = 1")
    assert await sql("select min(applied_at) from migration") == [applied]
    await sql("update duty set done_at = done_at - interval '25 hours'")
    assert await check() == 1
    await sql("update duty set done_at = done_at - interval '2 hours'")
    assert await check() == 2


async def test_a_daily_job_made_up_for_during_the_day_runs_at_its_hour_again(store: Store, sql: Sql) -> None:
    """Otherwise it would run two hours later each day, for a week."""
    done: list[str] = []

    async def work() -> None:
        done.append("ran")

    runner = daily(store, work)
    await run_daily(runner, "tidy")
    await sql("update duty set done_at = done_at - interval '34.5 hours'")  # at 3:30 yesterday; now it is 14:00
    await run_daily(runner, "tidy", MISSED_SECONDS)
    assert len(done) == 2
    await sql("update duty set done_at = done_at - interval '13.5 hours'")
    await run_daily(runner, "tidy")
    assert len(done) == 3


async def test_a_failed_job_that_was_made_up_for_is_reported_until_it_succeeds(store: Store, sql: Sql) -> None:
    fails = True

    async def run(_: ClaimedJob) -> bool:
        if fails:
            raise RuntimeError
        return True

    runner = Runner(store, [JobKind("tidy", run, timeout=60, retry=Retry(most=3), daily_at=(3, 10))])
    (missed,) = (one for one in schedules(runner) if one.name == "missed tidy")
    scheduler = Scheduler([missed])
    await sql("insert into duty (name, done_at) values ('tidy', now() - interval '27 hours')")
    for failures in (1, 2):
        await scheduler.run(missed)
        outcome = scheduler.outcomes["daily tidy"]
        assert (outcome.error, outcome.failures, outcome.daily) == ("RuntimeError", failures, True)
    fails = False
    await runner.run_one("tidy", "")
    await scheduler.run(missed)
    assert {name: one.error for name, one in scheduler.outcomes.items()} == {"daily tidy": ""}


async def test_a_failed_daily_job_is_not_marked_as_done(store: Store, another: Another) -> None:
    done: list[bool] = []

    async def fails() -> None:
        raise RuntimeError("of which nobody is told the words")

    async def works() -> None:
        done.append(True)

    with pytest.raises(JobFailed, match=r"^RuntimeError$"):
        await run_daily(daily(store, fails), "tidy")
    with pytest.raises(JobFailed, match=r"^RuntimeError$"):
        await run_daily(daily(another(), works), "tidy")
    assert done == [], "the job waits for its next try"
    assert await daily(another(), works).run_one("tidy", "")
    assert await store.job("tidy", "") is None
    assert done == [True]
