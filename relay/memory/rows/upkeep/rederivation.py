"""What deriving memories again starts from, and its cached results."""

from __future__ import annotations

from relay.core.frozen import frozen
from relay.memory.rows.upkeep.judging import Candidate, KnownMemory
from relay.memory.rows.upkeep.night import Note


@frozen
class TaughtThread:
    """A thread in which something was said that another version may have judged."""

    id: int
    space_id: int


@frozen(kw_only=True)
class DerivedMemory:
    """A memory that a derivation keeps now."""

    id: int
    content: str
    subject_id: int | None
    evidence: tuple[int, ...]
    held: bool
    """A person has pinned, reworded or kept it, so nothing replaces it."""

    def note(self) -> Note:
        """Returns its text."""
        return Note(self.id, self.content)


@frozen(kw_only=True)
class OtherKnownMemory(KnownMemory):
    """Another memory, present or past, from the messages that are judged again."""

    subject_id: int | None
    evidence: tuple[int, ...]


@frozen
class Candidates:
    """What a derivation found in a batch, as the cache stores it."""

    candidates: tuple[Candidate, ...]
