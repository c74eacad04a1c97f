"""Nights: what they have to deal with, and what they did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from relay.memory.derivations.derivation import Derivation

PhaseResult = Mapping[str, int | str]
"""What a phase came to: numbers by what they count, or why it failed or was skipped."""


@dataclass(frozen=True, slots=True)
class Tidied:
    """How many memories a night, or a person's word about it, took out of use."""

    merged: int = 0
    superseded: int = 0
    archived: int = 0


@dataclass(frozen=True, slots=True)
class Night:
    """A night, with the results of the phases that are done."""

    id: int
    begun_at: datetime
    ended_at: datetime | None
    phases: dict[str, PhaseResult]


@dataclass(frozen=True, slots=True)
class NightSpace:
    """A space with which a night has to deal."""

    space_id: int
    kind: str
    owner_id: int | None
    group_id: int | None
    active: int
    """Its active memories."""
    chat_id: int | None = None
    """Where its digest goes; None: none is wanted."""


@dataclass(frozen=True, slots=True)
class NightAhead:
    """What a night would find now."""

    last: Night | None
    spaces: int
    awake: tuple[NightSpace, ...]
    """The first hundred of them."""
    digests: int
    goals: int
    """Goals past their date."""
    summaries: int
    """Summaries that are owed."""


@dataclass(frozen=True, slots=True)
class Note:
    """What a memory says."""

    id: int
    content: str


@dataclass(frozen=True, slots=True)
class DatedNote:
    """What a memory says, and when that was said last."""

    id: int
    content: str
    at: datetime


@dataclass(frozen=True, slots=True)
class MemoryPair:
    """Two memories that may say the same or contradict each other."""

    older: DatedNote
    newer: DatedNote

    def undated(self) -> tuple[Note, Note]:
        """The older and the newer one without their dates."""
        return Note(self.older.id, self.older.content), Note(self.newer.id, self.newer.content)


@dataclass(frozen=True, slots=True)
class PairPage:
    """Pairs, and the last new memory whose pairs they hold; None: there is no further one."""

    pairs: tuple[MemoryPair, ...]
    after: int | None


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One change. `compare`: the model has not been asked yet."""

    action: Literal["archive", "supersede", "merge", "compare"]
    older: Note
    newer: Note | None = None
    content: str = ""
    """Of a merge: the sentence that says both."""
    derivation: Derivation | None = None
    """Of a merge: how that sentence was made."""

    def as_json(self) -> dict[str, Any]:
        """As `relay_consolidate` takes it."""
        notes = {"older": self.older, "newer": self.newer}
        told = {age: {"id": note.id, "content": note.content} for age, note in notes.items() if note is not None}
        made = {"content": self.content, "derivation": self.derivation.as_json()} if self.derivation else {}
        return {"action": self.action, **told, **made}
