"""What a turn loads before it asks the model."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from relay.core.charge import ChargedUse
from relay.core.models import Block, ReplyTo
from relay.memory.rows.choices import StoredChoices
from relay.memory.rows.turns.preferences import Preference


@dataclass(frozen=True, slots=True)
class ShownSoul:
    """The personality, at one version."""

    version: int
    text: str


@dataclass(frozen=True, slots=True)
class ShownPersona:
    """What the soul is besides in one chat and topic."""

    id: int
    text: str
    """Empty: nothing."""


@dataclass(frozen=True, slots=True)
class Memory:
    """A memory as a prompt carries it."""

    id: int
    kind: str
    content: str
    subject_id: int | None = None
    subject: str | None = None
    category: str | None = None
    """Of a learning: identity, knowledge or operational."""
    pinned: bool = False
    importance: int = 5
    """1 to 10."""
    valid_until: datetime | None = None


@dataclass(frozen=True, slots=True)
class ShownSummary:
    """A thread's summary."""

    id: int
    text: str
    tainted: bool


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """One side of an exchange."""

    id: int
    role: str
    """user or assistant."""
    user_id: int | None
    name: str | None
    text: str
    blocks: list[Block]
    """Of a user, content blocks; of the assistant, the messages (`ModelMessage`) of its turn, tool calls included."""
    untrusted: bool
    """Others wrote in it."""
    tainted: bool
    """It is an answer to what others wrote."""
    created_at: datetime
    reply_to: ReplyTo | None = None
    """Only of a turn's own message."""


@dataclass(frozen=True, slots=True)
class RepliedMessage:
    """The stored message that the present one replies to."""

    role: str
    user_id: int | None
    text: str
    untrusted: bool
    """Others wrote in it, or it is an answer to what others wrote."""
    at: datetime


@dataclass(frozen=True, slots=True)
class FormerAnswer:
    """An answer that another one took the place of."""

    text: str
    blocks: list[Block]
    """As of a `StoredMessage` of the assistant."""
    tainted: bool


@dataclass(frozen=True, slots=True)
class Context:
    """What `begin` loaded for a turn."""

    space_id: int
    thread_id: int
    message_id: int | None
    """None: there is nothing to answer again."""
    soul: ShownSoul
    persona: ShownPersona | None
    choices: StoredChoices
    """The speaker's own."""
    memories: tuple[Memory, ...]
    lent: tuple[Memory, ...]
    """Memories of the speaker's own space, lent to the group."""
    summary: ShownSummary | None
    recent: tuple[StoredMessage, ...]
    message: StoredMessage | None
    """The present message, as it is stored."""
    reply_to: RepliedMessage | None
    preferences: tuple[Preference, ...] = ()
    """How the speaker likes answers: what may act here."""
    former: FormerAnswer | None = None
    """The answer whose place the present one took, where that is asked for."""
    memory_counts: dict[str, int] = field(default_factory=dict)
    """How many memories the space could give, loaded or not: facts by kind, learnings by category."""
    faded: int = 0
    """How many of them are learnings that nothing confirmed for half a year: a prompt leaves them out."""
    latest_summary: ShownSummary | None = None
    """A newer summary than `summary`, for a prompt that has no room for all of `recent`; None: there is none."""
    spent: tuple[ChargedUse, ...] = ()
    """What was used today, where that was asked for."""
