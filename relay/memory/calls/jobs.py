"""Jobs: claimed, renewed, and ended."""

from __future__ import annotations

from relay.memory.calls.base import Calls
from relay.memory.rows.jobs import ClaimedJob, OwedJob

LEASE_SECONDS = 24
"""How long a job is a process's own after its last word. A call of its own says it, every `RENEW_SECONDS`: three may be
lost. (A turn's lease is the queue's; each claim renews that.)"""


class JobCalls(Calls):
    """Background work that is owed."""

    async def claim_jobs(
        self, kind: str, bot_id: int | None, limit: int, key: str | None = None, lease_seconds: int = LEASE_SECONDS
    ) -> list[ClaimedJob]:
        """Leases jobs of a kind that are due, those that have waited longest first: any process's, and those of a bot.
        With a `key` that one alone, even if it waits after a failure."""
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
        """Prolongs the lease of a job. False: this process has lost it."""
        return bool(await self._call("renew_job", job_id=job.id, fence=job.fence, lease_seconds=lease_seconds))

    async def finish_job(self, job: ClaimedJob) -> bool:
        """Ends a job. False: this process has lost it, or its result was stored, which has ended it."""
        return bool(await self._call("finish_job", job_id=job.id, fence=job.fence))

    async def fail_job(self, job: ClaimedJob, error: str, retry_seconds: float, most: int) -> bool:
        """Puts a job off after a failure. True: that was its `most`th, and it is parked."""
        return bool(
            await self._call(
                "fail_job", job_id=job.id, fence=job.fence, error=error, retry_seconds=retry_seconds, most=most
            )
        )

    async def skip_job(self, job: ClaimedJob, reason: str, seconds: float) -> bool:
        """Gives a job back that cannot be done now, through no fault of its own. False: this process has lost it."""
        return bool(await self._call("skip_job", job_id=job.id, fence=job.fence, reason=reason, seconds=seconds))

    async def job(self, kind: str, key: str) -> OwedJob | None:
        """A job that is owed; None when it is done."""
        return await self._find(OwedJob, "job", kind=kind, key=key)

    async def owe_job(self, kind: str, key: str = "") -> None:
        """Owes a job now, and if it failed, from the beginning."""
        await self._call("owe_job", kind=kind, key=key)

    async def owe_daily(self, kind: str, rest_seconds: int) -> bool:
        """Owes what is done once a day. False: a process has owed it within `rest_seconds`."""
        return bool(await self._call("owe_daily", kind=kind, rest_seconds=rest_seconds))
