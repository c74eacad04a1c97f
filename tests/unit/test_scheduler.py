"""When jobs run: soon after a turn made something due, not once for each turn, and never forgotten."""

from __future__ import annotations

import asyncio
import logging
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from relay.jobs.clock import scheduler as scheduling
from relay.jobs.clock.scheduler import Schedule, Scheduler


async def test_what_becomes_due_while_its_job_runs_is_done_right_after_and_logged_nowhere(
    caplog: pytest.LogCaptureFixture,
) -> None:
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
    assert len(runs) == 3, "what came twice during one run is one more run"
    assert not caplog.records


async def test_many_turns_at_once_are_one_look_and_the_last_of_them_is_seen(monkeypatch):
    monkeypatch.setattr(scheduling, "SOON_SECONDS", 0.2)
    made, seen, looks = 0, 0, 0
    done = asyncio.Event()

    async def look() -> None:
        nonlocal seen, looks
        seen, looks = made, looks + 1
        if seen == 50:
            done.set()

    work = Scheduler([Schedule("work", look, minutes=60), Schedule("other", asyncio.Event().wait, minutes=60)])
    work.start()
    try:
        for _ in range(50):
            made += 1
            work.run_soon(["work"])
            await asyncio.sleep(0.002)
        async with asyncio.timeout(10):
            await done.wait()
    finally:
        work.stop()
    assert looks < 25


async def test_a_lone_turn_does_not_wait(monkeypatch):
    monkeypatch.setattr(scheduling, "SOON_SECONDS", 3600)
    ran = asyncio.Queue[None]()
    work = Scheduler([Schedule("work", lambda: ran.put(None), minutes=60)])
    work.start()
    try:
        async with asyncio.timeout(10):
            await ran.get()
            work.run_soon(["work"])
            await ran.get()
    finally:
        work.stop()


async def test_it_waits_while_turns_keep_ending_but_not_for_ever(monkeypatch):
    monkeypatch.setattr(scheduling, "QUIET_SECONDS", 0.3)
    ran = asyncio.Queue[None]()
    work = Scheduler([Schedule("work", lambda: ran.put(None), minutes=60)])
    work.start()
    try:
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
    finally:
        work.stop()


async def test_only_what_is_owed_runs_soon(monkeypatch):
    monkeypatch.setattr(scheduling, "SOON_SECONDS", 0.05)
    ran = asyncio.Queue[str]()
    names = ["index", "judging", "titles"]
    work = Scheduler([Schedule(name, lambda name=name: ran.put(name), minutes=60) for name in names])
    work.start()
    try:
        async with asyncio.timeout(10):
            assert sorted([await ran.get() for _ in names]) == names, "each once, at the start"
            work.run_soon(["titles"])
            assert await ran.get() == "titles"
        await asyncio.sleep(0.1)
        assert ran.empty()
    finally:
        work.stop()


@pytest.mark.parametrize("when", [{"minutes": 1}, {"at": (3, 30)}], ids=["each minute", "each day"])
async def test_a_clock_that_goes_on_by_sixty_years_holds_nobody_up(when: dict[str, Any]) -> None:
    """As on a Raspberry Pi, whose clock is set once it has found the network."""
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
    assert runs == 1, "what was missed is made up for once"
    (job,) = scheduler._scheduler.get_jobs()
    assert job.next_run_time > datetime.now(UTC)
    scheduler.stop()


async def test_a_clock_that_is_set_back_leaves_no_job_waiting_for_a_time_of_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scheduling, "CLOCK_SECONDS", 0.05)
    scheduler = Scheduler([Schedule("work", asyncio.Event().wait, at=(3, 30))])
    scheduler.start()
    far = datetime(2126, 1, 1, tzinfo=UTC)
    scheduler._scheduler.modify_job("work", next_run_time=far)
    await asyncio.sleep(0.2)
    assert scheduler._scheduler.get_jobs()[0].next_run_time == far, "while nobody sets the clock"
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() - 60)
    await asyncio.sleep(0.2)
    assert scheduler._scheduler.get_jobs()[0].next_run_time < datetime.now(UTC) + timedelta(days=2)
    scheduler.stop()
