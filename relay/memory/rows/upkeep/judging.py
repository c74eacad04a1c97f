"""What the judge reads, what it finds, and what becomes of that in memory."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Literal

from relay.memory.derivations.derivation import Derivation


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedMessage:
    """A message as the judge reads it."""

    id: int
    thread_id: int
    role: str
    """user or assistant."""
    user_id: int | None = None
    name: str | None = None
    text: str
    """The beginning of it."""
    untrusted: bool = False
    """Others wrote it."""
    tainted: bool = False
    """It answers what others wrote."""
    at: datetime
    learning: str = "on"
    """What its author wants of learning: on, ask or off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What memory says already."""

    content: str
    tainted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TaughtMemory(Known):
    """A memory that the turns of a batch taught."""

    id: int
    kind: str
    subject_id: int | None
    subject: str | None
    source: int | None
    """The message that taught it."""
    at: datetime
    by_tag: bool | None
    """A tag of the answer made it, and it is active and no learning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Messages of one thread that are judged together."""

    thread_id: int
    messages: tuple[JudgedMessage, ...]
    before: tuple[JudgedMessage, ...] = ()
    """A few that came before them."""
    taught: tuple[Known, ...] = ()
    """What is known of them already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgingWork(Batch):
    """A thread that is leased to be judged, with its next messages."""

    space_id: int
    after: int
    """Where its cursor stands, and where it moves to."""
    through: int
    again: int | None
    """Only keywords have judged it from here on; None: nothing has."""
    taught: tuple[TaughtMemory, ...] = ()


@dataclass(frozen=True, slots=True)
class Comparison:
    """Something for which near memories are looked for. `vector` (as text) is made by `model`."""

    content: str
    kind: str
    subject_id: int | None
    subject: str | None
    vector: str | None = None
    model: str | None = None

    def as_json(self) -> dict[str, object]:
        """As `relay_near_memories` takes it."""
        told = asdict(self)
        if self.vector is None:
            del told["vector"], told["model"]
        return told


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """Something that a derivation finds worth keeping."""

    kind: str
    content: str
    evidence: tuple[int, ...]
    """The messages that say it, the first of them first."""
    tainted: bool = False
    """It rests on words of others: it waits for a tap, and changes nothing before."""
    importance: int = 5
    confidence: float = 1.0
    subject_id: int | None = None
    subject: str | None = None
    category: str | None = None
    tags: tuple[str, ...] = ()
    valid_from: str | None = None
    """ISO 8601, like the next; a goal's deadline is the end of its day."""
    valid_until: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundMemory(Candidate):
    """A candidate with how it was made, and what it does to memory."""

    derivation: Derivation
    pending: bool
    """It waits for a tap."""
    at: datetime
    """When it was said last."""
    action: Literal["learn", "refresh", "refine", "supersede"] = "learn"
    memory_id: int | None = None
    """The memory that it refreshes, refines or supersedes."""
    own: FoundMemory | None = None
    """Of what refines: itself, as it was before it was put together with the memory."""

    def as_json(self) -> dict[str, object]:
        """As `relay_store_judged` and `relay_apply_derived` take it."""
        told = asdict(self) | {"at": self.at.isoformat(), "own": self.own and self.own.as_json()}
        return {name: value for name, value in told.items() if value is not None or name not in ("memory_id", "own")}


@dataclass(frozen=True, slots=True)
class Ending:
    """What the answer's own tags kept (`taught`) ends another memory (`memory_id`)."""

    taught: TaughtMemory
    memory_id: int

    def as_json(self) -> dict[str, object]:
        """As `relay_store_judged` takes it."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgingResult:
    """What was found in a batch, and how far the cursor moves."""

    after: int
    through: int
    again: int | None
    version: str
    findings: tuple[FoundMemory | Ending, ...]
    fallback: bool
    """Keywords judged some of it."""
    again_seconds: float | None = None
    """In how many seconds a model is to judge it again; None: it is not."""

    def as_json(self) -> dict[str, object]:
        """As `relay_store_judged` takes it."""
        return {
            "after": self.after,
            "through": self.through,
            "again": self.again,
            "version": self.version,
            "findings": [one.as_json() for one in self.findings],
            "fallback": self.fallback,
            "again_seconds": self.again_seconds,
        }
