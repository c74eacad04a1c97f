"""What deriving memories again starts from, and its cached results."""

from __future__ import annotations

from dataclasses import dataclass

from relay.memory.rows.upkeep.judging import Candidate, Known
from relay.memory.rows.upkeep.nights import Note


@dataclass(frozen=True, slots=True)
class ToldThread:
    """A thread in which something was said that another version may have judged."""

    id: int
    space_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DerivedMemory:
    """A memory that a derivation keeps now."""

    id: int
    content: str
    subject_id: int | None
    evidence: tuple[int, ...]
    held: bool
    """A person has pinned, reworded or kept it, so nothing else takes its place."""

    def note(self) -> Note:
        """What it says."""
        return Note(self.id, self.content)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownBesides(Known):
    """What else is known, or was until it was over, of the messages that are judged again."""

    subject_id: int | None
    evidence: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Candidates:
    """What a derivation found in a batch, as the cache of results keeps it."""

    candidates: tuple[Candidate, ...]
