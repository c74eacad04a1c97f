"""The job that does the nightly work."""

from __future__ import annotations

from relay.jobs.kinds import JobKind, JobServices, Retry
from relay.memory.night.run import NightFailed, run_night
from relay.memory.rows.jobs import ClaimedJob


def kind(services: JobServices) -> JobKind:
    """Returns the kind for nights. An interrupted night continues; one with a failed phase is over."""

    async def run(_: ClaimedJob) -> bool:
        return bool(await run_night(services.store, services.phases()))

    retry = Retry(most=5, never=(NightFailed,))
    return JobKind("sleep", run, timeout=12 * 3600, retry=retry, daily_at=services.sleep_at)
