"""What a turn loads before it asks the model."""

from __future__ import annotations

from dataclasses import field
from datetime import datetime
from functools import lru_cache
from typing import Annotated

from pydantic import BeforeValidator, TypeAdapter

from relay.core.frozen import frozen
from relay.core.models import Block, ReplyTo
from relay.core.spending.charge import ChargedUse
from relay.memory.rows.choices import StoredChoices
from relay.memory.rows.contexts.composition import ComposedRow
from relay.memory.rows.proactive.reminders import ShownIntent
from relay.memory.rows.turns.preferences import Preference
from relay.memory.rows.upkeep.writing import ShownSummary

PREFERENCES = TypeAdapter(tuple[Preference, ...])


@lru_cache(maxsize=64)
def read_preferences(text: str) -> tuple[Preference, ...]:
    """Decodes the preferences that a prompt may show. They rarely change, so the latest results are cached."""
    return PREFERENCES.validate_json(text)


@frozen
class ShownSoul:
    """The personality, at one version."""

    version: int
    text: str


@frozen
class ShownPersona:
    """The persona in one chat and topic, which adds to the soul."""

    id: int
    text: str
    """Empty: there is no persona."""


@frozen
class Memory:
    """A memory as a prompt carries it."""

    id: int
    kind: str
    content: str
    subject_id: int | None = None
    subject: str | None = None
    category: str | None = None
    """A learning's category: identity, knowledge or operational."""
    pinned: bool = False
    importance: int = 5
    """1 to 10."""
    valid_until: datetime | None = None
    said_at: datetime | None = None
    """When its person said it, if these are their words, which may contain “tomorrow”; None: a model's words."""
    zone: str = ""
    """The time zone of who said it; empty: unknown."""


@frozen
class Namesake:
    """A person of a group where some have the same name."""

    name: str
    """The name that they used last."""
    mark: str | None
    """What tells them apart from others with this name: their username or a number."""


@frozen
class ComposedContext:
    """The composition that a session began with."""

    id: int
    name: str
    tainted: bool
    rows: tuple[ComposedRow, ...]


@frozen
class StoredMessage:
    """One side of an exchange."""

    id: int
    role: str
    """user or assistant."""
    user_id: int | None
    name: str | None
    text: str
    blocks: list[Block]
    """A user's content blocks, or the messages (`ModelMessage`) of the assistant's turn, including tool calls."""
    untrusted: bool
    """Others wrote some of it."""
    tainted: bool
    """It is an answer to what others wrote."""
    created_at: datetime
    started_by: str | None = None
    """What made the assistant write unasked: reminder, heartbeat or digest. None: it is a person's message, or an
    answer."""
    reply_to: ReplyTo | None = None
    """Set only for a turn's own message."""


@frozen
class RepliedMessage:
    """The stored message that the present one replies to."""

    role: str
    user_id: int | None
    text: str
    untrusted: bool
    """Others wrote some of it, or it is an answer to what others wrote."""
    at: datetime


@frozen
class FormerAnswer:
    """An answer that another one replaced."""

    text: str
    blocks: list[Block]
    """The blocks, as in a `StoredMessage` of the assistant."""
    tainted: bool


@frozen
class Context:
    """What `begin` loaded for a turn."""

    space_id: int
    thread_id: int
    message_id: int | None
    """None: there is no message to answer again."""
    soul: ShownSoul
    persona: ShownPersona | None
    choices: StoredChoices
    """The speaker's own settings."""
    memories: tuple[Memory, ...]
    lent: tuple[Memory, ...]
    """Memories of the speaker's own space, lent to the group."""
    summary: ShownSummary | None
    recent: tuple[StoredMessage, ...]
    message: StoredMessage | None
    """The present message, as it is stored."""
    reply_to: RepliedMessage | None
    people: dict[int, Namesake] = field(default_factory=dict)
    """The people of a group where some have the same name, by id; elsewhere empty."""
    preferences: Annotated[tuple[Preference, ...], BeforeValidator(read_preferences)] = ()
    """How the speaker likes answers: the preferences that may apply here."""
    preference_seconds: float = 0.0
    """How long the database took to choose them."""
    intents: tuple[ShownIntent, ...] = ()
    """The speaker's standing intents that apply to this message."""
    open_intents: tuple[ShownIntent, ...] = ()
    """Those that may apply now, newest first."""
    former: FormerAnswer | None = None
    """The answer that the present one replaced, if it was requested."""
    memory_counts: dict[str, int] = field(default_factory=dict)
    """How many memories the space has for a prompt, loaded or not: facts by kind, learnings by category."""
    faded: int = 0
    """How many of those are learnings that nothing has confirmed for half a year. A prompt leaves them out."""
    latest_summary: ShownSummary | None = None
    """A newer summary than `summary`, for a prompt that has no room for all of `recent`; None: there is none."""
    composed: ComposedContext | None = None
    spent: tuple[ChargedUse, ...] = ()
    """Today's use of models, if it was requested."""
