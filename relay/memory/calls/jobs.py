"""Jobs: claimed, renewed, and ended."""

from __future__ import annotations

from relay.memory.calls.base import Calls
from relay.memory.rows.jobs import ClaimedJob, OwedJob

LEASE_SECONDS = 24
"""How many seconds a job belongs to a process after its last renewal. It is renewed every `RENEW_SECONDS`, so three
renewals may be lost. (Turns have the queue's lease, which each claim renews.)"""


class JobCalls(Calls):
    """Owed background work."""

    async def claim_jobs(
        self, kind: str, bot_id: int | None, limit: int, key: str | None = None, lease_seconds: int = LEASE_SECONDS
    ) -> list[ClaimedJob]:
        """Leases due jobs of a kind, longest wait first: those for any process, and those of one bot. With a `key`,
        leases only that job, even if it waits after a failure."""
        return await self._list(
            ClaimedJob,
            "claim_jobs",
            kind=kind,
            key=key,
            bot_id=bot_id,
            worker=self._worker,
            limit=limit,
            lease_seconds=lease_seconds,
        )

    async def renew_job(self, job: ClaimedJob, lease_seconds: int = LEASE_SECONDS) -> bool:
        """Renews a job's lease. Returns False if this process has lost it."""
        return bool(await self._call("renew_job", job_id=job.id, fence=job.fence, lease_seconds=lease_seconds))

    async def finish_job(self, job: ClaimedJob) -> bool:
        """Finishes a job. Returns False if this process has lost it, or storing its result finished it."""
        return bool(await self._call("finish_job", job_id=job.id, fence=job.fence))

    async def fail_job(self, job: ClaimedJob, error: str, retry_seconds: float, most: int) -> bool:
        """Delays a job after a failure. Returns True if it failed for the `most`th time and is now parked."""
        return bool(
            await self._call(
                "fail_job", job_id=job.id, fence=job.fence, error=error, retry_seconds=retry_seconds, most=most
            )
        )

    async def skip_job(self, job: ClaimedJob, reason: str, seconds: float) -> bool:
        """Gives back a job that can't be done now, without counting a failure. Returns False if this process has lost
        it."""
        return bool(await self._call("skip_job", job_id=job.id, fence=job.fence, reason=reason, seconds=seconds))

    async def jobs_rest(self, kind: str, bot_id: int | None) -> float | None:
        """Returns the seconds until a job of a kind may be claimed; None if no owed job may be."""
        found: float | None = await self._call("jobs_rest", kind=kind, bot_id=bot_id)
        return found

    async def job(self, kind: str, key: str) -> OwedJob | None:
        """Returns an owed job; None if it is done."""
        return await self._find(OwedJob, "job", kind=kind, key=key)

    async def owe_job(self, kind: str, key: str = "") -> None:
        """Owes a job now; a failed one starts over."""
        await self._call("owe_job", kind=kind, key=key)

    async def owe_daily(self, kind: str, rest_seconds: int) -> bool:
        """Owes a daily job. Returns False if a process has owed it within `rest_seconds`."""
        return bool(await self._call("owe_daily", kind=kind, rest_seconds=rest_seconds))
