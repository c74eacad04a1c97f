"""The judge for rederivation: reads messages that were judged before."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from relay.core.errors import EmptyAnswer
from relay.core.frozen import frozen
from relay.memory.review.judging import NAME, Judge, ask_findings, near_to, settle_findings
from relay.memory.review.readings import readings
from relay.memory.rows.upkeep.judging import Batch, Candidate, FoundMemory, JudgedMessage, KnownMemory
from relay.memory.rows.upkeep.night import Note


@frozen
class Rejudge:
    """See `relay.memory.rederivation.memories.Rederiver`."""

    judge: Judge

    @property
    def name(self) -> str:
        return NAME

    @property
    def version(self) -> str:
        return self.judge.version

    async def derive(
        self, space_id: int, messages: Sequence[JudgedMessage], known: Sequence[KnownMemory]
    ) -> list[Candidate]:
        """Returns what the judge finds in some messages now. Raises the model's errors, and `EmptyAnswer` for no valid
        answer: the earlier findings then stay."""
        batch = Batch(thread_id=messages[0].thread_id, messages=tuple(messages), taught=tuple(known))
        found: list[Candidate] = []
        for reading in readings(batch):
            kept = await ask_findings(self.judge, self.judge.gate, batch, reading)
            if kept is None:
                raise EmptyAnswer()
            found += [one.as_candidate(reading.user_id, reading.name) for one in kept]
        return found

    async def settle(
        self,
        space_id: int,
        messages: Sequence[JudgedMessage],
        fresh: Sequence[FoundMemory],
        leaving: AbstractSet[int],
    ) -> list[tuple[Note | None, FoundMemory]]:
        """See `relay.memory.rederivation.memories`. Leaves out what contradicts something said later. Raises the
        model's errors."""
        near = [[row for row in rows if row.id not in leaving] for rows in await near_to(self.judge, space_id, fresh)]
        batch = Batch(thread_id=messages[0].thread_id, messages=tuple(messages))
        memories = {row.id: row for rows in near for row in rows}
        changed: list[tuple[Note | None, FoundMemory]] = []
        for one in await settle_findings(self.judge, self.judge.gate, batch, fresh, near):
            known = None if one.memory_id is None else memories[one.memory_id]
            is_over = one.action == "supersede" and known is not None and known.at > one.at
            if one.action != "refresh" and not is_over:
                changed.append((Note(known.id, known.content) if known else None, one))
        return changed
