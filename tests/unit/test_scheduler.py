"""When jobs run: soon after a turn makes something due, not once for each turn, and none is forgotten."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from relay.jobs.clock import scheduler as scheduling
from relay.jobs.clock.scheduler import Schedule, Scheduler


@contextlib.contextmanager
def started(work: Scheduler) -> Iterator[None]:
    work.start()
    try:
        yield
    finally:
        work.stop()


async def test_requests_during_a_run_cause_one_more_run(caplog: pytest.LogCaptureFixture) -> None:
    runs: list[int] = []
    begun, on, done = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def work() -> None:
        runs.append(len(runs))
        begun.set()
        if len(runs) == 1:
            await on.wait()
        else:
            done.set()

    scheduler = Scheduler([Schedule("work", work, minutes=3)])
    with caplog.at_level(logging.WARNING):
        scheduler.start()
        await asyncio.wait_for(begun.wait(), 10)
        scheduler.run_soon(["work"])
        scheduler.run_soon(["work"])
        await asyncio.sleep(0)
        on.set()
        await asyncio.wait_for(done.wait(), 10)
        done.clear()
        scheduler.run_soon(["work"])
        await asyncio.wait_for(done.wait(), 10)
    scheduler.stop()
    assert len(runs) == 3, "two requests during a run cause one more run"
    assert not caplog.records


async def test_many_simultaneous_turns_share_a_run_that_sees_the_last(monkeypatch):
    monkeypatch.setattr(scheduling, "SOON_SECONDS", 0.2)
    made, seen, looks = 0, 0, 0
    done = asyncio.Event()

    async def look() -> None:
        nonlocal seen, looks
        seen, looks = made, looks + 1
        if seen == 50:
            done.set()

    work = Scheduler([Schedule("work", look, minutes=60), Schedule("other", asyncio.Event().wait, minutes=60)])
    with started(work):
        for _ in range(50):
            made += 1
            work.run_soon(["work"])
            await asyncio.sleep(0.002)
        async with asyncio.timeout(10):
            await done.wait()
    assert looks < 25


async def test_a_single_turn_runs_its_job_at_once(monkeypatch):
    monkeypatch.setattr(scheduling, "SOON_SECONDS", 3600)
    ran = asyncio.Queue[None]()
    work = Scheduler([Schedule("work", lambda: ran.put(None), minutes=60)])
    with started(work):
        async with asyncio.timeout(10):
            await ran.get()
            work.run_soon(["work"])
            await ran.get()


async def test_a_job_waits_for_a_series_of_turns_but_not_for_ever(monkeypatch):
    monkeypatch.setattr(scheduling, "QUIET_SECONDS", 0.3)
    ran = asyncio.Queue[None]()
    work = Scheduler([Schedule("work", lambda: ran.put(None), minutes=60)])
    with started(work):
        async with asyncio.timeout(10):
            await ran.get()
            for _ in range(10):
                work.run_soon(["work"])
                await asyncio.sleep(0.01)
                assert ran.empty()
            await ran.get()
            monkeypatch.setattr(scheduling, "SOON_SECONDS", 0.1)
            while ran.empty():
                work.run_soon(["work"])
                await asyncio.sleep(0.01)


async def test_only_requested_jobs_run_soon(monkeypatch):
    monkeypatch.setattr(scheduling, "SOON_SECONDS", 0.05)
    ran = asyncio.Queue[str]()
    names = ["index", "judging", "titles"]
    work = Scheduler([Schedule(name, lambda name=name: ran.put(name), minutes=60) for name in names])
    with started(work):
        async with asyncio.timeout(10):
            assert sorted([await ran.get() for _ in names]) == names, "each once, at the start"
            work.run_soon(["titles"])
            assert await ran.get() == "titles"
        await asyncio.sleep(0.1)
        assert ran.empty()


async def test_a_turn_that_ends_during_the_shutdown_causes_no_error(
    monkeypatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(scheduling, "QUIET_SECONDS", 0.01)
    ran = asyncio.Queue[None]()
    work = Scheduler([Schedule("work", lambda: ran.put(None), minutes=60)])
    work.start()
    await asyncio.wait_for(ran.get(), 10)
    with caplog.at_level(logging.ERROR):
        work.stop()
        work.run_soon(["work"])
        await asyncio.sleep(0.1)
    assert not caplog.records


@pytest.mark.parametrize("when", [{"minutes": 1}, {"at": (3, 30)}], ids=["each minute", "each day"])
async def test_a_clock_set_forward_by_decades_causes_one_run(when: dict[str, Any]) -> None:
    """As on a Raspberry Pi, which sets its clock once it has a network."""
    runs = 0

    async def work() -> None:
        nonlocal runs
        runs += 1

    scheduler = Scheduler([Schedule("work", work, **when)])
    scheduler.start()
    scheduler._scheduler.modify_job("work", next_run_time=datetime(1970, 1, 1, tzinfo=UTC))
    before = time.process_time()
    await asyncio.sleep(0.5)
    assert time.process_time() - before < 0.4
    assert runs == 1, "missed runs are made up for by one run"
    (job,) = scheduler._scheduler.get_jobs()
    assert job.next_run_time > datetime.now(UTC)
    scheduler.stop()


@pytest.mark.parametrize("zone", ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe"])
@pytest.mark.parametrize("when", [{"minutes": 1}, {"minutes": 90}, *({"at": (h, 30)} for h in range(4))], ids=str)
def test_each_next_time_is_later_even_when_summer_time_ends(zone: str, when: dict[str, Any]) -> None:
    """The clocks of these zones change on days of March, April, October and November 2027."""
    trigger = Scheduler([], ZoneInfo(zone))._trigger(Schedule("work", asyncio.Event().wait, **when))
    days = [
        datetime(2027, month, day, tzinfo=UTC) for month, day in ((3, 14), (3, 28), (10, 31), (11, 7), (4, 3), (10, 2))
    ]
    for day in days:
        found = set()
        for minute in range(0, 36 * 60, 7):
            now = (day + timedelta(minutes=minute)).astimezone(ZoneInfo(zone))
            following = trigger.get_next_fire_time(None, now)
            assert now.astimezone(UTC) < following.astimezone(UTC) <= now.astimezone(UTC) + timedelta(hours=25)
            found.add(following.astimezone(UTC))
        if "at" in when:
            assert all(later - earlier > timedelta(hours=22) for earlier, later in pairwise(sorted(found)))


async def test_a_clock_that_is_set_back_reschedules_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduling, "CLOCK_SECONDS", 0.05)
    scheduler = Scheduler([Schedule("work", asyncio.Event().wait, at=(3, 30))])
    scheduler.start()
    far = datetime(2126, 1, 1, tzinfo=UTC)
    scheduler._scheduler.modify_job("work", next_run_time=far)
    await asyncio.sleep(0.2)
    assert scheduler._scheduler.get_jobs()[0].next_run_time == far, "nothing changes until the clock is set"
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() - 60)
    await asyncio.sleep(0.2)
    assert scheduler._scheduler.get_jobs()[0].next_run_time < datetime.now(UTC) + timedelta(days=2)
    scheduler.stop()


async def test_a_job_whose_time_passed_while_the_machine_slept_runs_when_it_wakes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The monotonic clock, by which timers wait, stands still during that sleep."""
    woken = datetime.now(UTC) + timedelta(days=2)

    class Later(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:
            return woken

    monkeypatch.setattr(scheduling, "CLOCK_SECONDS", 0.05)
    scheduler = Scheduler([Schedule("work", asyncio.Event().wait, at=(3, 30))])
    scheduler.start()
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() + 2 * 86_400)
    monkeypatch.setattr(scheduling, "datetime", Later)
    await asyncio.sleep(0.2)
    assert scheduler._scheduler.get_jobs()[0].next_run_time == woken
    scheduler.stop()
