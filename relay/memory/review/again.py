"""The judge as deriving again asks it: what is worth keeping of messages that were judged before."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

from relay.core.errors import EmptyAnswer
from relay.memory.rederivation.memories import Candidate
from relay.memory.review.judging import NAME, Judge, asked_findings, near_to, settled_with
from relay.memory.review.readings import readings
from relay.memory.review.settling import later

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Rejudge:
    """See `relay.memory.rederivation.memories.Rederiver`."""

    judge: Judge

    @property
    def name(self) -> str:
        return NAME

    @property
    def version(self) -> str:
        return self.judge.version

    async def derive(self, space_id: int, batch: Sequence[Json], known: Sequence[Json]) -> list[Candidate]:
        """What the judge finds in some messages now. Raises what the model raises, and `EmptyAnswer` when it gives no
        valid answer: what it found before then stays."""
        work = work_of(batch) | {"taught": list(known)}
        found: list[Candidate] = []
        for reading in readings(work):
            kept = await asked_findings(self.judge, self.judge.gate, work, reading)
            if kept is None:
                raise EmptyAnswer()
            found += [candidate(one.as_action(), reading.user_id, reading.name) for one in kept]
        return found

    async def settle(
        self, space_id: int, batch: Sequence[Json], fresh: Sequence[Json], leaving: AbstractSet[int]
    ) -> list[tuple[Json | None, Json]]:
        """See `relay.memory.rederivation.memories`. What contradicts something that was said later is over, and left
        out. Raises what the model raises."""
        at = {row["id"]: row["at"] for row in batch}
        actions = [
            {**one, "action": "learn", "at": max(at[said] for said in one["evidence"] if said in at)} for one in fresh
        ]
        near = [
            [row for row in rows if row["id"] not in leaving] for rows in await near_to(self.judge, space_id, actions)
        ]
        known = {row["id"]: row for rows in near for row in rows}
        settled = await settled_with(self.judge, self.judge.gate, work_of(batch), actions, near)
        return [
            (known.get(one.get("memory_id")), one)
            for one in settled
            if one["action"] != "refresh" and not (one["action"] == "supersede" and later(known[one["memory_id"]], one))
        ]


def work_of(batch: Sequence[Json]) -> Json:
    """A batch as the judge takes what is to be judged."""
    return {"thread_id": batch[0]["thread_id"], "before": [], "messages": list(batch), "taught": []}


def candidate(action: Json, user_id: int | None, name: str) -> Candidate:
    """A finding as deriving again compares it. What is knowledge is about nobody; all else is the speaker's."""
    mine = action["category"] != "knowledge"
    return Candidate(
        kind=action["kind"],
        content=action["content"],
        evidence=tuple(action["evidence"]),
        importance=action["importance"],
        confidence=action["confidence"],
        subject_id=user_id if mine else None,
        subject=name if mine else None,
        category=action["category"],
        tags=tuple(action["tags"]),
        valid_from=action["valid_from"],
        valid_until=action["valid_until"],
        tainted=action["tainted"],
    )
