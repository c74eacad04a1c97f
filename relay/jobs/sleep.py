"""Nightly work."""

from __future__ import annotations

from relay.jobs.kinds import JobKind, JobServices, Retry
from relay.memory.rows.jobs import ClaimedJob
from relay.memory.sleep.night import NightFailed, sleep


def kind(services: JobServices) -> JobKind:
    """A night. An interrupted one continues; one with a failed phase is over."""

    async def run(_: ClaimedJob) -> bool:
        return bool(await sleep(services.store, services.phases()))

    retry = Retry(most=5, never=(NightFailed,))
    return JobKind("sleep", run, timeout=12 * 3600, retry=retry, daily_at=services.sleep_at)
