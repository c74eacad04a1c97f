"""The judge's input, its findings and their effect on memory, and what is derived again."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Literal

from relay.core.frozen import frozen
from relay.memory.derivations.derivation import Derivation


@frozen(kw_only=True)
class JudgedMessage:
    """A message as the judge reads it."""

    id: int
    thread_id: int
    role: str
    """user or assistant."""
    user_id: int | None = None
    name: str | None = None
    text: str
    """The beginning of the message."""
    untrusted: bool = False
    """Others wrote it."""
    tainted: bool = False
    """It answers what others wrote."""
    at: datetime
    learning: str = "on"
    """Its author's setting for learning: on, ask or off."""
    zone: str = ""
    """Its author's time zone; empty: the installation's."""


@frozen(kw_only=True)
class KnownMemory:
    """A memory that exists already."""

    content: str
    tainted: bool


@frozen(kw_only=True)
class TaughtMemory(KnownMemory):
    """A memory that the turns of a batch taught."""

    id: int
    kind: str
    subject_id: int | None
    subject: str | None
    source: int | None
    """The message that taught it."""
    at: datetime
    by_tag: bool | None
    """A tag of the answer made it, it is active, and it is not a learning."""


@frozen(kw_only=True)
class Batch:
    """Messages of one thread that are judged together."""

    thread_id: int
    messages: tuple[JudgedMessage, ...]
    before: tuple[JudgedMessage, ...] = ()
    """A few messages that came before them."""
    taught: tuple[KnownMemory, ...] = ()
    """The memories that these messages taught already."""


@frozen(kw_only=True)
class JudgingWork(Batch):
    """A thread that is leased to be judged, with its next messages."""

    space_id: int
    after: int
    """The thread's cursor: the message after which judging continues. `through` is where it moves to."""
    through: int
    again: int | None
    """The first message that only keywords have judged; None: there is none."""
    taught: tuple[TaughtMemory, ...] = ()


@frozen
class StatedFact:
    """A fact in a person's own words."""

    content: str
    subject_id: int
    subject: str
    at: datetime
    kind: str = "fact"


@frozen
class Comparison:
    """A text whose nearest memories are searched for. `vector` (as text) was made by `model`."""

    content: str
    kind: str
    subject_id: int | None
    subject: str | None
    vector: str | None = None
    model: str | None = None


@frozen(kw_only=True)
class Candidate:
    """Something that a derivation found worth keeping."""

    kind: str
    content: str
    evidence: tuple[int, ...]
    """The messages that say it, the first one first."""
    tainted: bool = False
    """It rests on others' words, so it waits for a tap and changes nothing until then."""
    importance: int = 5
    confidence: float = 1.0
    subject_id: int | None = None
    subject: str | None = None
    category: str | None = None
    tags: tuple[str, ...] = ()
    valid_from: str | None = None
    """ISO 8601, like the next field; a goal's deadline is the end of its day."""
    valid_until: str | None = None
    exact_at: str | None = None
    """The exact time of a goal or event, if its time of day was said."""


@frozen(kw_only=True)
class FoundMemory(Candidate):
    """A candidate with how it was made, and its effect on memory."""

    derivation: Derivation
    pending: bool
    """It waits for a tap."""
    at: datetime
    """When it was last said."""
    action: Literal["learn", "refresh", "refine", "supersede"] = "learn"
    memory_id: int | None = None
    """The memory that it refreshes, refines or supersedes."""
    own: FoundMemory | None = None
    """For a refinement: the candidate before it was combined with the memory."""

    def as_json(self) -> dict[str, object]:
        """Returns the JSON that `relay_store_judged` and `relay_apply_derived` take."""
        told = asdict(self) | {"at": self.at.isoformat(), "own": self.own and self.own.as_json()}
        return {name: value for name, value in told.items() if value is not None or name not in ("memory_id", "own")}


@frozen
class Ending:
    """A memory (`memory_id`) is ended by another (`taught`) that the answer's own tags kept."""

    taught: TaughtMemory
    memory_id: int

    def as_json(self) -> dict[str, object]:
        """Returns the JSON that `relay_store_judged` takes."""
        return {
            "action": "supersede",
            "memory_id": self.memory_id,
            "taught": self.taught.id,
            "kind": self.taught.kind,
            "content": self.taught.content,
            "subject_id": self.taught.subject_id,
            "subject": self.taught.subject,
            "tainted": self.taught.tainted,
            "evidence": [self.taught.source],
            "pending": False,
        }


@frozen(kw_only=True)
class JudgingResult:
    """The findings in a batch, and how far the cursor moves."""

    after: int
    through: int
    again: int | None
    version: str
    findings: tuple[FoundMemory | Ending, ...]
    fallback: bool
    """Keywords judged some of the batch."""
    again_seconds: float | None = None
    """In how many seconds a model is to judge it again; None: never."""


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


@frozen(kw_only=True)
class OtherKnownMemory(KnownMemory):
    """Another memory, present or past, from the messages that are judged again."""

    subject_id: int | None
    evidence: tuple[int, ...]


@frozen
class Candidates:
    """What a derivation found in a batch, as the cache stores it."""

    candidates: tuple[Candidate, ...]
