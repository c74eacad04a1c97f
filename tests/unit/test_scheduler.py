"""When jobs run: what becomes due while a job is at work is done right after it, and nobody is warned of that."""

from __future__ import annotations

import asyncio
import logging

import pytest

from relay.scheduler import Job, Scheduler


async def test_what_becomes_due_while_a_job_runs_is_done_right_after_it(caplog: pytest.LogCaptureFixture) -> None:
    begun, go_on = asyncio.Semaphore(0), asyncio.Semaphore(0)

    async def work() -> None:
        begun.release()
        await go_on.acquire()

    scheduler = Scheduler([Job("writing", work, minutes=60, soon=True)])
    with caplog.at_level(logging.WARNING):
        scheduler.start()
        async with asyncio.timeout(10):
            await begun.acquire()
            scheduler.write_soon()
            scheduler.write_soon()
            await asyncio.sleep(0.05)
            go_on.release()
            await begun.acquire()
            go_on.release()
            await asyncio.sleep(0.05)
            assert begun.locked(), "once more, and not for each that became due"
            scheduler.write_soon()
            await begun.acquire()
    scheduler.stop()
    assert not caplog.records


async def test_a_job_that_breaks_is_not_done_again_at_once() -> None:
    runs, go_on = asyncio.Semaphore(0), asyncio.Event()

    async def work() -> None:
        runs.release()
        await go_on.wait()
        raise ValueError

    scheduler = Scheduler([Job("writing", work, minutes=60, soon=True)])
    scheduler.start()
    async with asyncio.timeout(10):
        await runs.acquire()
        scheduler.write_soon()
        go_on.set()
        await asyncio.sleep(0.05)
        assert runs.locked()
        scheduler.write_soon()
        await runs.acquire()
    scheduler.stop()
