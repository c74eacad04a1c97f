"""The jobs of the night and of the day: the nightly work, its backup, and the cleanup of old rows."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from relay.core.errors import RelayError
from relay.jobs.kinds import JobKind, Retry
from relay.jobs.runner import Runner
from relay.memory.calls.queue import JOB_LEASE_SECONDS
from relay.memory.night.run import NightFailed, Phase, run_night
from relay.memory.rows.jobs import ClaimedJob
from relay.memory.rows.upkeep.night import PhaseResult
from relay.memory.store import Store

DAYS = 14
"""How many days updates and failed work are kept."""
BATCH = 5_000
"""How many rows are deleted in one step."""
RECORDS = 1_000
"""From how many turns records are deleted in one step."""


def night_kind(store: Store, phases: Callable[[], Sequence[Phase]], at: tuple[int, int]) -> JobKind:
    """Returns the kind for nights. An interrupted night continues; one with a failed phase is over."""

    async def run(_: ClaimedJob) -> bool:
        return bool(await run_night(store, phases()))

    retry = Retry(most=5, never=(NightFailed,))
    return JobKind("sleep", run, timeout=12 * 3600, retry=retry, daily_at=at)


class BackupOwed(RelayError):
    """A night ended without its backup, which is retried."""


def backup_kind(store: Store, make: Callable[[], Awaitable[PhaseResult]]) -> JobKind:
    """Returns the kind for backups. The key is the night that shows the result, even if the backup is made after it
    ended."""

    async def run(job: ClaimedJob) -> bool:
        await store.end_phase(int(job.key), "backup", await make())
        return True

    return JobKind("backup", run, timeout=6 * 3600, retry=Retry(most=12))


async def back_up(runner: Runner, night_id: int) -> PhaseResult:
    """Owes a night's backup, runs it, and returns its result. Raises `BackupOwed` if it fails."""
    store, key = runner.store, str(night_id)
    await store.owe_job("backup", key)
    await runner.run_due("backup", patience=JOB_LEASE_SECONDS + 1)  # a killed process may have begun it
    if job := await store.job("backup", key):
        raise BackupOwed(job.last_error or "Another process is still making it.")
    return (await store.night(night_id)).phases["backup"]


def tidy_kind(store: Store, keep_days: int) -> JobKind:
    """Returns the kind for the daily cleanup."""

    async def run(_: ClaimedJob) -> bool:
        return await tidy(store, keep_days=keep_days) > 0

    return JobKind("tidy", run, timeout=4 * 3600, retry=Retry(most=5), daily_at=(3, 10))


async def tidy(store: Store, days: int = DAYS, batch: int = BATCH, keep_days: int = 0) -> int:
    """Deletes the rows of finished updates, and records older than `keep_days` (0: never), in batches. Returns how many
    rows."""
    dropped = 0
    while (gone := await store.tidy(days, batch)) > 0:
        dropped += gone
    while keep_days and (gone := await store.drop_records(keep_days, min(batch, RECORDS))) > 0:
        dropped += gone
    return dropped
