"""The library of sessions: their originals, suggestions, and what a space stores."""

from __future__ import annotations

from datetime import datetime

from relay.core.frozen import frozen
from relay.memory.rows.sessions import SaidWords


@frozen(kw_only=True)
class OriginalMessage(SaidWords):
    """A message of a session as it was said."""

    id: int
    untrusted: bool
    """Others wrote some of it."""


@frozen
class OriginalPage:
    """A page of a session's messages, oldest first, with their total. `offset`: how many come before the page of those
    after a message."""

    total: int
    messages: tuple[OriginalMessage, ...]
    offset: int = 0


@frozen(kw_only=True)
class Suggestion:
    """A past session that fits what somebody begins to talk about."""

    session_id: int
    title: str | None
    first: str | None
    """The session's first words."""
    score: float
    relevance: float
    used_at: datetime
    version_id: int | None
    """The version to use; None: the session's original."""
    tokens: int
    make: bool = False
    """A new version of this many tokens must be made first."""
    linked: str | None = None
    """Why the session is linked to this conversation; None: it belongs to this conversation."""
    version: str | None = None
    """The name of the version to use."""
    registered: datetime | None = None
    topics: tuple[str, ...] = ()
    """The session's topics that the question names."""
    files: tuple[str, ...] = ()
    """The names of files that both the session and the question have."""


@frozen
class Stored:
    """How much a space stores of one kind."""

    kind: str
    rows: int
    bytes: int


@frozen
class Freed:
    """How much the settings would drop tonight."""

    rows: int
    bytes: int


@frozen
class StorageStatistics:
    """How much a space stores, counted at most once a day."""

    at: datetime
    stored: tuple[Stored, ...]
    database: int
    """The size of the whole database in bytes."""
    freed: Freed
