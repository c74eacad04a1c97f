"""When jobs run: what becomes due while a job runs is done by it once more, and nobody is told of it."""

from __future__ import annotations

import asyncio

import pytest

from relay.scheduler import Job, Scheduler


async def test_what_becomes_due_while_a_job_runs_is_done_after_it(caplog: pytest.LogCaptureFixture) -> None:
    begun, gate, again, runs = asyncio.Event(), asyncio.Event(), asyncio.Event(), []

    async def write() -> None:
        runs.append(len(runs))
        (again if begun.is_set() else begun).set()
        await gate.wait()

    scheduler = Scheduler([Job("writing", write, minutes=60, soon=True)])
    scheduler.start()
    try:
        async with asyncio.timeout(10):
            await begun.wait()
            for _ in range(5):
                scheduler.write_soon()
                await asyncio.sleep(0.02)
            gate.set()
            await again.wait()
            await asyncio.sleep(0.1)
    finally:
        scheduler.stop()
    assert len(runs) == 2
    assert not caplog.records
