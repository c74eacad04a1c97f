"""Jobs: claimed, renewed, and ended."""

from __future__ import annotations

from relay.memory.calls.base import WORKER, Calls, rpc
from relay.memory.rows.jobs import ClaimedJob, OwedJob

LEASE_SECONDS = 24
"""How many seconds a job belongs to a process after its last renewal. It is renewed every `RENEW_SECONDS`, so three
renewals may be lost. (Turns have the queue's lease, which each claim renews.)"""


class JobCalls(Calls):
    """Owed background work."""

    @rpc(worker=WORKER)
    async def claim_jobs(
        self, kind: str, bot_id: int | None, limit: int, key: str | None = None, lease_seconds: int = LEASE_SECONDS
    ) -> list[ClaimedJob]:
        """Leases due jobs of a kind, longest wait first: those for any process, and those of one bot. With a `key`,
        leases only that job, even if it waits after a failure."""

    @rpc()
    async def renew_job(self, job: ClaimedJob, lease_seconds: int = LEASE_SECONDS) -> bool:
        """Renews a job's lease. Returns False if this process has lost it."""

    @rpc()
    async def finish_job(self, job: ClaimedJob) -> bool:
        """Finishes a job. Returns False if this process has lost it, or storing its result finished it."""

    @rpc()
    async def fail_job(self, job: ClaimedJob, error: str, retry_seconds: float, most: int) -> bool:
        """Delays a job after a failure. Returns True if it failed for the `most`th time and is now parked."""

    @rpc()
    async def skip_job(self, job: ClaimedJob, reason: str, seconds: float) -> bool:
        """Gives back a job that can't be done now, without counting a failure. Returns False if this process has lost
        it."""

    @rpc()
    async def jobs_rest(self, kind: str, bot_id: int | None) -> float | None:
        """Returns the seconds until a job of a kind may be claimed; None if no owed job may be."""

    @rpc()
    async def job(self, kind: str, key: str) -> OwedJob | None:
        """Returns an owed job; None if it is done."""

    @rpc()
    async def owe_job(self, kind: str, key: str = "") -> None:
        """Owes a job now; a failed one starts over."""

    @rpc()
    async def owe_daily(self, kind: str, rest_seconds: int) -> bool:
        """Owes a daily job. Returns False if a process has owed it within `rest_seconds`."""
