"""Judging what was said, and deriving memories again."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from relay.core.models import Space
from relay.memory.calls.base import Calls
from relay.memory.rows.upkeep.judging import (
    Candidate,
    Comparison,
    FoundMemory,
    JudgedMessage,
    JudgingClaim,
    JudgingResult,
    JudgingWork,
)
from relay.memory.rows.upkeep.nights import DatedNote, Note
from relay.memory.rows.upkeep.rederivation import DerivedMemory, KnownBesides, ToldThread
from relay.memory.rows.upkeep.writing import DerivedSummary, NewSummary, SourcedSummary


class JudgeCalls(Calls):
    """Threads that wait to be judged, and what was found in them."""

    async def claim_judging(self, limit: int, lease_seconds: int) -> tuple[list[JudgingWork], bool]:
        """Leases threads in which something waits, each with its next messages. Returns also whether others may wait
        though these are few."""
        found = await self._fetch(
            JudgingClaim, "claim_judging", worker=self._worker, limit=limit, lease_seconds=lease_seconds
        )
        return list(found.work), found.passed

    async def renew_judging(self, thread_id: int, lease_seconds: int) -> None:
        """Prolongs the lease of a thread that is being judged."""
        await self._call("renew_judging", thread_id=thread_id, worker=self._worker, lease_seconds=lease_seconds)

    async def keep_judged(self, thread_id: int, result: JudgingResult) -> bool:
        """Keeps what was found and moves the cursor, all of it or nothing. Returns False when the lease or the place
        was lost; the same again changes nothing more."""
        return bool(await self._call("keep_judged", thread_id=thread_id, worker=self._worker, result=result.as_json()))

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

    async def near_memories(self, space_id: int, candidates: Sequence[Comparison], limit: int) -> list[list[DatedNote]]:
        """For each candidate the memories nearest to it."""
        told = [one.as_json() for one in candidates]
        return await self._list(list[DatedNote], "near_memories", space_id=space_id, candidates=told, limit=limit)


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

    async def told_threads(self, space: Space, since: datetime | None, after: int, version: str) -> list[ToldThread]:
        """The next threads of a space in which something was said since then that another version may have judged."""
        since_then = since and since.isoformat()
        where = {"space": space.as_json(), "since": since_then, "after": after, "version": version}
        return await self._list(ToldThread, "told_threads", **where)

    async def rejudged(self, thread_id: int, version: str) -> None:
        """A thread holds findings of this version of the judge alone."""
        await self._call("rejudged", thread_id=thread_id, version=version)

    async def told_messages(
        self, thread_id: int, since: datetime | None, after: int, limit: int
    ) -> list[JudgedMessage]:
        """The next messages of a thread from which something may be learned."""
        since_then = since and since.isoformat()
        where = {"thread_id": thread_id, "since": since_then, "after": after, "limit": limit}
        return await self._list(JudgedMessage, "told_messages", **where)

    async def derived_memories(self, space_id: int, name: str, messages: Sequence[int]) -> list[DerivedMemory]:
        """What a derivation keeps now of some messages."""
        numbers = [str(number) for number in messages]
        return await self._list(DerivedMemory, "derived_memories", space_id=space_id, name=name, messages=numbers)

    async def known_besides(self, space_id: int, name: str, messages: Sequence[int]) -> list[KnownBesides]:
        """What else is known of some messages, or was until it was over, beside what a derivation keeps of them now."""
        numbers = [str(number) for number in messages]
        return await self._list(KnownBesides, "known_besides", space_id=space_id, name=name, messages=numbers)

    async def wanted(self, space_id: int, candidates: Sequence[Candidate]) -> list[bool]:
        """Which of these candidates nobody has forgotten, undone or discarded before."""
        told = [{"subject_id": one.subject_id, "evidence": list(one.evidence)} for one in candidates]
        return list(await self._call("wanted", space_id=space_id, candidates=told))

    async def apply_derived(self, space_id: int, was: Note | None, memory: FoundMemory | None) -> bool:
        """Keeps what was derived again in the place of what it was until now; whether it did. A `memory` that refines
        or supersedes names the one that it does so to."""
        return bool(
            await self._call(
                "apply_derived",
                space_id=space_id,
                was=was and {"id": str(was.id), "content": was.content},
                memory=memory and memory.as_json(),
            )
        )
