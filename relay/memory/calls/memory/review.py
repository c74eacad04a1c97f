"""Judging what was said, and deriving memories again."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from relay.core.models import Space
from relay.memory.calls.base import Calls, Json
from relay.memory.rows.upkeep.writing import DerivedSummary, NewSummary, SourcedSummary


class JudgeCalls(Calls):
    """Threads that wait to be judged, and what was found in them."""

    async def claim_judging(self, limit: int, lease_seconds: int) -> tuple[list[Json], bool]:
        """Leases threads in which something waits, each with its next messages: `{thread_id, space_id, kind, after,
        through, again, failures, messages, before, taught}`. And whether others may wait though these are few."""
        found = await self._call("claim_judging", worker=self._worker, limit=limit, lease_seconds=lease_seconds)
        return list(found["work"]), bool(found["passed"])

    async def renew_judging(self, thread_id: int, lease_seconds: int) -> None:
        """Prolongs the lease of a thread that is being judged."""
        await self._call("renew_judging", thread_id=thread_id, worker=self._worker, lease_seconds=lease_seconds)

    async def keep_judged(self, thread_id: int, result: Json) -> bool:
        """Keeps what was found and moves the cursor, all of it or nothing: `{after, again, through, findings, fallback,
        again_seconds}`. Returns False when the lease or the place was lost; the same again changes nothing more."""
        return bool(await self._call("keep_judged", thread_id=thread_id, worker=self._worker, result=result))

    async def put_off_judging(self, thread_id: int, error: str, retry_seconds: float, again: int | None) -> None:
        """Puts a thread off; its cursor stays."""
        await self._call(
            "put_off_judging",
            thread_id=thread_id,
            worker=self._worker,
            error=error,
            retry_seconds=retry_seconds,
            again=again,
        )

    async def pass_judging(self, limit: int) -> int:
        """Moves the cursors of threads in which something waits to the end, unjudged. Returns how many."""
        return int(await self._call("pass_judging", limit=limit))

    async def unjudged(self) -> int:
        """How many messages wait to be judged, in all spaces."""
        return int(await self._call("unjudged"))

    async def judging_rests(self) -> float | None:
        """Seconds until something that waits may be judged; None: nothing does."""
        found: float | None = await self._call("judging_rests")
        return found

    async def near_memories(self, space_id: int, candidates: list[Json], limit: int) -> list[list[Json]]:
        """For each candidate `{content, subject_id, kind, vector, model}` the memories nearest to it."""
        return list(await self._call("near_memories", space_id=space_id, candidates=candidates, limit=limit))


class RederiveCalls(Calls):
    """Deriving again."""

    async def derived_summaries(self, space: Space, since: datetime | None, after: int) -> list[DerivedSummary]:
        """The next summaries of a space that a model wrote since then."""
        since_then = since and since.isoformat()
        where = {"space": space.as_json(), "since": since_then, "after": after}
        return await self._list(DerivedSummary, "derived_summaries", **where)

    async def derived_summary(self, id: int) -> SourcedSummary | None:
        """A summary with what it was made of."""
        return await self._find(SourcedSummary, "derived_summary", id=id)

    async def replace_summary(self, id: int, was: str, summary: NewSummary) -> bool:
        """Replaces a summary's text, if it is still `was`. Returns whether it did."""
        return bool(await self._call("replace_summary", id=id, was=was, summary=summary.as_json()))

    async def told_threads(self, space: Space, since: datetime | None, after: int, version: str) -> list[Json]:
        """The next threads of a space in which something was said since then that another version may have judged:
        `{id, space_id}`."""
        found = await self._call(
            "told_threads", space=space.as_json(), since=since and since.isoformat(), after=after, version=version
        )
        return list(found)

    async def rejudged(self, thread_id: int, version: str) -> None:
        """A thread holds findings of this version of the judge alone."""
        await self._call("rejudged", thread_id=thread_id, version=version)

    async def told_messages(self, thread_id: int, since: datetime | None, after: int, limit: int) -> list[Json]:
        """The next messages of a thread from which something may be learned."""
        since_then = since and since.isoformat()
        return list(await self._call("told_messages", thread_id=thread_id, since=since_then, after=after, limit=limit))

    async def derived_memories(self, space_id: int, name: str, messages: Sequence[int]) -> list[Json]:
        """What a derivation keeps now of some messages: `{id, content, kind, subject_id, subject, evidence, held}`."""
        found = await self._call(
            "derived_memories", space_id=space_id, name=name, messages=[str(number) for number in messages]
        )
        return list(found)

    async def known_besides(self, space_id: int, name: str, messages: Sequence[int]) -> list[Json]:
        """What else is known of some messages, or was until it was over, beside what a derivation keeps of them now:
        `{content, subject_id, evidence, tainted}`."""
        found = await self._call(
            "known_besides", space_id=space_id, name=name, messages=[str(number) for number in messages]
        )
        return list(found)

    async def wanted(self, space_id: int, candidates: Sequence[Json]) -> list[bool]:
        """Which of these candidates (`{subject_id, evidence}`) nobody has forgotten, undone or discarded before."""
        told = [{"subject_id": one["subject_id"], "evidence": list(one["evidence"])} for one in candidates]
        return list(await self._call("wanted", space_id=space_id, candidates=told))

    async def apply_derived(self, space_id: int, was: Json | None, memory: Json | None) -> bool:
        """Keeps what was derived again in the place of what it was until now; whether it did. `memory` may tell how it
        stands to that: `{action: refine or supersede, memory_id}`."""
        return bool(await self._call("apply_derived", space_id=space_id, was=was, memory=memory))
