"""The judge as deriving again asks it: what is worth keeping of messages that were judged before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from relay.capture.judging import NAME, Judge, asked_findings
from relay.capture.readings import readings
from relay.errors import EmptyAnswer
from relay.rederive.memories import Candidate

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Rejudge:
    """See `relay.rederive.memories.Rederiver`."""

    judge: Judge

    @property
    def name(self) -> str:
        return NAME

    @property
    def version(self) -> str:
        return self.judge.version

    async def derive(self, space_id: int, batch: Sequence[Json]) -> list[Candidate]:
        """What the judge finds in some messages now. Raises what the model raises, and `EmptyAnswer` when it gives no
        valid answer: what it found before then stays."""
        work = {"thread_id": batch[0]["thread_id"], "before": [], "messages": list(batch), "taught": []}
        found: list[Candidate] = []
        for reading in readings(work):
            kept = await asked_findings(self.judge, self.judge.model, work, reading)
            if kept is None:
                raise EmptyAnswer()
            found += [candidate(one.as_action(), reading.user_id, reading.name) for one in kept]
        return found


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
    )
