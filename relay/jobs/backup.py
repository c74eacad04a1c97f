"""The job that makes a backup. Each night owes one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from relay.core.errors import RelayError
from relay.jobs.kinds import JobKind, Retry
from relay.jobs.runner import Runner
from relay.memory.calls.jobs import LEASE_SECONDS
from relay.memory.rows.jobs import ClaimedJob
from relay.memory.rows.upkeep.night import PhaseResult
from relay.memory.store import Store


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
    await runner.run_due("backup", patience=LEASE_SECONDS + 1)  # a killed process may have begun it
    if job := await store.job("backup", key):
        raise BackupOwed(job.last_error or "Another process is still making it.")
    return (await store.begin_night()).phases["backup"]
