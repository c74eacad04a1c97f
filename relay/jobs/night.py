"""The job that does the nightly work."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from relay.jobs.kinds import JobKind, Retry
from relay.memory.night.run import NightFailed, Phase, run_night
from relay.memory.rows.jobs import ClaimedJob
from relay.memory.store import Store


def night_kind(store: Store, phases: Callable[[], Sequence[Phase]], at: tuple[int, int]) -> JobKind:
    """Returns the kind for nights. An interrupted night continues; one with a failed phase is over."""

    async def run(_: ClaimedJob) -> bool:
        return bool(await run_night(store, phases()))

    retry = Retry(most=5, never=(NightFailed,))
    return JobKind("sleep", run, timeout=12 * 3600, retry=retry, daily_at=at)
