"""Judging of messages, and rederivation of memories."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from relay.core.models import Space
from relay.memory.calls.base import Calls, rpc
from relay.memory.rows.jobs import ClaimedJob
from relay.memory.rows.upkeep.judging import (
    Candidate,
    Comparison,
    DerivedMemory,
    FoundMemory,
    JudgedMessage,
    JudgingResult,
    JudgingWork,
    OtherKnownMemory,
    TaughtThread,
)
from relay.memory.rows.upkeep.night import DatedNote, Note
from relay.memory.rows.upkeep.writing import DerivedSummary, NewSummary, SourcedSummary


class ReviewCalls(Calls):
    """Threads waiting to be judged, findings, and rederivation."""

    @rpc("judging_work")
    async def begin_judging(self, job: ClaimedJob) -> JudgingWork | None:
        """Returns what to judge next in a job's thread. None: there is nothing; the job was ended or given back."""

    @rpc()
    async def store_judged(self, job: ClaimedJob, result: JudgingResult) -> bool:
        """Stores the findings, moves the cursor and gives the job back, atomically. Returns False if the job or
        position was lost, or memory is paused. Safe to repeat."""

    @rpc("put_off_again")
    async def delay_judging(self, job: ClaimedJob, again: int, seconds: float) -> None:
        """Delays what a model is to judge again, and gives the job back."""

    @rpc()
    async def pass_judging(self, limit: int) -> int:
        """Moves cursors of waiting threads to the end, unjudged. Returns how many."""

    @rpc("unjudged")
    async def count_unjudged(self) -> int:
        """Counts messages waiting to be judged, in all spaces."""

    @rpc()
    async def near_memories(self, space_id: int, candidates: Sequence[Comparison], limit: int) -> list[list[DatedNote]]:
        """Returns the memories nearest to each candidate."""

    @rpc("derived_summaries")
    async def list_derived_summaries(self, space: Space, since: datetime | None, after: int) -> list[DerivedSummary]:
        """Returns a space's next summaries that a model wrote since then."""

    @rpc("derived_summary")
    async def find_derived_summary(self, id: int) -> SourcedSummary | None:
        """Returns a summary with its inputs."""

    @rpc()
    async def replace_summary(self, id: int, was: str, summary: NewSummary) -> bool:
        """Replaces a summary's text if it is still `was`. Returns whether it did."""

    @rpc("told_threads")
    async def list_told_threads(
        self, space: Space, since: datetime | None, after: int, version: str
    ) -> list[TaughtThread]:
        """Returns the next threads with messages since then that another version may have judged."""

    @rpc("rejudged")
    async def mark_rejudged(self, thread_id: int, version: str) -> None:
        """Marks a thread as holding only this version's findings."""

    @rpc("told_messages")
    async def list_told_messages(
        self, thread_id: int, since: datetime | None, after: int, limit: int
    ) -> list[JudgedMessage]:
        """Returns a thread's next messages that may teach something."""

    @rpc("derived_memories")
    async def list_derived_memories(self, space_id: int, name: str, messages: Sequence[int]) -> list[DerivedMemory]:
        """Returns what a derivation currently stores from some messages."""

    @rpc("known_besides")
    async def list_known_besides(self, space_id: int, name: str, messages: Sequence[int]) -> list[OtherKnownMemory]:
        """Returns other memories from some messages, current or ended for good."""

    @rpc("wanted")
    async def check_wanted(self, space_id: int, candidates: Sequence[Candidate]) -> list[bool]:
        """Tests for each candidate whether nobody has forgotten, undone or discarded it."""

    @rpc()
    async def apply_derived(self, space_id: int, was: Note | None, memory: FoundMemory | None) -> bool:
        """Replaces a rederived memory; returns whether it did. A refining or superseding `memory` names its target."""
