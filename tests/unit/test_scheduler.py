"""When jobs run: a job that is asked for while it runs is not forgotten."""

from __future__ import annotations

import asyncio
import logging

import pytest

from relay.scheduler import Job, Scheduler


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

    scheduler = Scheduler([Job("work", work, minutes=3, soon=True)])
    with caplog.at_level(logging.WARNING):
        scheduler.start()
        await asyncio.wait_for(begun.wait(), 10)
        scheduler.write_soon()
        scheduler.write_soon()
        await asyncio.sleep(0)
        on.set()
        await asyncio.wait_for(done.wait(), 10)
        done.clear()
        scheduler.write_soon()
        await asyncio.wait_for(done.wait(), 10)
    scheduler.stop()
    assert len(runs) == 3, "what came twice during one run is one more run"
    assert not caplog.records
