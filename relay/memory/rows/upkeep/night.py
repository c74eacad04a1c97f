"""Nights: their input and their results."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Literal

from relay.core.frozen import frozen
from relay.memory.derivations.derivation import Derivation

PhaseResult = Mapping[str, int | str]
"""A phase's result: numbers by what they count, or why it failed or was skipped."""


@frozen
class TidiedCounts:
    """How many memories a night, or a person's decision about its plan, removed from use or learned."""

    merged: int = 0
    superseded: int = 0
    archived: int = 0
    patterns: int = 0
    """How many were learned from several memories together."""


@frozen
class Night:
    """A night, with the results of the phases that are done."""

    id: int
    begun_at: datetime
    ended_at: datetime | None
    phases: dict[str, PhaseResult]


@frozen
class NightSpace:
    """A space that a night has to process."""

    space_id: int
    kind: str
    owner_id: int | None
    group_id: int | None
    active: int
    """How many active memories it has."""
    chat_id: int | None = None
    """The chat that gets its digest; None: nobody wants one."""
    user_id: int | None = None
    """Who turned its digest on."""


@frozen
class NightAhead:
    """What a night would process now."""

    last: Night | None
    spaces: int
    awake: tuple[NightSpace, ...]
    """The first hundred spaces."""
    digests: int
    goals: int
    """How many goals are past their date."""
    summaries: int
    """How many summaries are owed."""


@frozen
class Note:
    """The text of a memory."""

    id: int
    content: str


@frozen
class DatedNote:
    """The text of a memory, and when it was last said."""

    id: int
    content: str
    at: datetime
    sessions: tuple[int, ...] = ()
    """The ids of the sessions in which it was said."""


@frozen
class MemoryPair:
    """Two memories that may say the same or contradict each other."""

    older: DatedNote
    newer: DatedNote

    def strip_dates(self) -> tuple[Note, Note]:
        """Returns the older and the newer text without their dates."""
        return Note(self.older.id, self.older.content), Note(self.newer.id, self.newer.content)


@frozen
class PairPage:
    """A page of pairs. `after`: the last new memory whose pairs it holds; None: there are no more."""

    pairs: tuple[MemoryPair, ...]
    after: int | None


@frozen
class PlanStep:
    """One change of a plan. `compare`: the model has not been asked yet."""

    action: Literal["archive", "supersede", "merge", "pattern", "compare"]
    older: Note
    newer: Note | None = None
    content: str = ""
    """For a merge, the sentence that replaces both; for a pattern, the rule in them."""
    derivation: Derivation | None = None
    """How that sentence was made."""

    def as_json(self) -> dict[str, Any]:
        """Returns the JSON that `relay_consolidate` takes."""
        notes = {"older": self.older, "newer": self.newer}
        told = {age: {"id": note.id, "content": note.content} for age, note in notes.items() if note is not None}
        made = {"content": self.content, "derivation": self.derivation.as_json()} if self.derivation else {}
        return {"action": self.action, **told, **made}
