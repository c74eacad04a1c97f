"""Judging of messages, and rederivation of memories."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from relay.core.models import Space
from relay.memory.calls.base import Calls
from relay.memory.rows.jobs import ClaimedJob
from relay.memory.rows.upkeep.judging import (
    Candidate,
    Comparison,
    FoundMemory,
    JudgedMessage,
    JudgingResult,
    JudgingWork,
)
from relay.memory.rows.upkeep.night import DatedNote, Note
from relay.memory.rows.upkeep.rederivation import DerivedMemory, OtherKnownMemory, TaughtThread
from relay.memory.rows.upkeep.writing import DerivedSummary, NewSummary, SourcedSummary


class JudgeCalls(Calls):
    """Threads waiting to be judged, and findings."""

    async def begin_judging(self, job: ClaimedJob) -> JudgingWork | None:
        """Returns what to judge next in a job's thread. None: there is nothing; the job was ended or given back."""
        return await self._find(JudgingWork, "judging_work", job_id=job.id, fence=job.fence)

    async def store_judged(self, job: ClaimedJob, result: JudgingResult) -> bool:
        """Stores the findings, moves the cursor and gives the job back, atomically. Returns False if the job or
        position was lost, or memory is paused. Safe to repeat."""
        return bool(await self._call("store_judged", job_id=job.id, fence=job.fence, result=result.as_json()))

    async def delay_judging(self, job: ClaimedJob, again: int, seconds: float) -> None:
        """Delays what a model is to judge again, and gives the job back."""
        await self._call("put_off_again", job_id=job.id, fence=job.fence, again=again, seconds=seconds)

    async def pass_judging(self, limit: int) -> int:
        """Moves cursors of waiting threads to the end, unjudged. Returns how many."""
        return int(await self._call("pass_judging", limit=limit))

    async def count_unjudged(self) -> int:
        """Counts messages waiting to be judged, in all spaces."""
        return int(await self._call("unjudged"))

    async def near_memories(self, space_id: int, candidates: Sequence[Comparison], limit: int) -> list[list[DatedNote]]:
        """Returns the memories nearest to each candidate."""
        told = [one.as_json() for one in candidates]
        return await self._list(list[DatedNote], "near_memories", space_id=space_id, candidates=told, limit=limit)


class RederiveCalls(Calls):
    """Rederivation."""

    async def list_derived_summaries(self, space: Space, since: datetime | None, after: int) -> list[DerivedSummary]:
        """Returns a space's next summaries that a model wrote since then."""
        since_then = since and since.isoformat()
        where = {"space": space.as_json(), "since": since_then, "after": after}
        return await self._list(DerivedSummary, "derived_summaries", **where)

    async def find_derived_summary(self, id: int) -> SourcedSummary | None:
        """Returns a summary with its inputs."""
        return await self._find(SourcedSummary, "derived_summary", id=id)

    async def replace_summary(self, id: int, was: str, summary: NewSummary) -> bool:
        """Replaces a summary's text if it is still `was`. Returns whether it did."""
        return bool(await self._call("replace_summary", id=id, was=was, summary=summary.as_json()))

    async def list_told_threads(
        self, space: Space, since: datetime | None, after: int, version: str
    ) -> list[TaughtThread]:
        """Returns the next threads with messages since then that another version may have judged."""
        since_then = since and since.isoformat()
        where = {"space": space.as_json(), "since": since_then, "after": after, "version": version}
        return await self._list(TaughtThread, "told_threads", **where)

    async def mark_rejudged(self, thread_id: int, version: str) -> None:
        """Marks a thread as holding only this version's findings."""
        await self._call("rejudged", thread_id=thread_id, version=version)

    async def list_told_messages(
        self, thread_id: int, since: datetime | None, after: int, limit: int
    ) -> list[JudgedMessage]:
        """Returns a thread's next messages that may teach something."""
        since_then = since and since.isoformat()
        where = {"thread_id": thread_id, "since": since_then, "after": after, "limit": limit}
        return await self._list(JudgedMessage, "told_messages", **where)

    async def list_derived_memories(self, space_id: int, name: str, messages: Sequence[int]) -> list[DerivedMemory]:
        """Returns what a derivation currently stores from some messages."""
        numbers = [str(number) for number in messages]
        return await self._list(DerivedMemory, "derived_memories", space_id=space_id, name=name, messages=numbers)

    async def list_known_besides(self, space_id: int, name: str, messages: Sequence[int]) -> list[OtherKnownMemory]:
        """Returns other memories from some messages, current or ended for good."""
        numbers = [str(number) for number in messages]
        return await self._list(OtherKnownMemory, "known_besides", space_id=space_id, name=name, messages=numbers)

    async def check_wanted(self, space_id: int, candidates: Sequence[Candidate]) -> list[bool]:
        """Tests for each candidate whether nobody has forgotten, undone or discarded it."""
        told = [{"subject_id": one.subject_id, "evidence": list(one.evidence)} for one in candidates]
        return list(await self._call("wanted", space_id=space_id, candidates=told))

    async def apply_derived(self, space_id: int, was: Note | None, memory: FoundMemory | None) -> bool:
        """Replaces a rederived memory; returns whether it did. A refining or superseding `memory` names its target."""
        return bool(
            await self._call(
                "apply_derived",
                space_id=space_id,
                was=was and {"id": str(was.id), "content": was.content},
                memory=memory and memory.as_json(),
            )
        )
