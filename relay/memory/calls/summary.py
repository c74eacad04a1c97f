"""Summaries."""

from __future__ import annotations

from relay.memory.calls.base import Calls, Json


class SummaryCalls(Calls):
    """Summaries of threads, owed and made."""

    async def claim_summaries(self, limit: int, lease_seconds: int) -> list[Json]:
        """Leases summaries that are due, with what each is made of."""
        return list(await self._call("claim_summaries", worker=self._worker, limit=limit, lease_seconds=lease_seconds))

    async def store_summary(self, due_id: int, summary: Json) -> bool:
        """Stores a summary. Returns False when the lease was lost or it is there already."""
        return bool(await self._call("store_summary", due_id=due_id, worker=self._worker, summary=summary))

    async def skip_summary(self, due_id: int) -> None:
        """Settles a due row for which there is too little to summarise."""
        await self._call("skip_summary", due_id=due_id, worker=self._worker)

    async def fail_summary(self, due_id: int, error: str, retry_seconds: float, most: int) -> None:
        """Puts a summary off, up to `most` times."""
        await self._call(
            "fail_summary", due_id=due_id, worker=self._worker, error=error, retry_seconds=retry_seconds, most=most
        )
