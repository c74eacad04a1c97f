"""Markers of passages to keep, as stored in the registry."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Literal

from relay.core.frozen import frozen


@frozen(kw_only=True)
class Keepit:
    """A marked passage."""

    id: int
    weight: Decimal
    content: str
    context: str
    """The text around the passage in its message."""
    start: int
    """The passage's beginning in its message's text, in characters. For a typed marker, its signs are included."""
    end: int
    origin: Literal["text", "command", "button", "cli", "http", "import"]
    user_id: int
    """The person who marked it."""
    message_id: int
    session_id: int
    role: Literal["user", "assistant"]
    """The role of the message's author."""
    name: str | None
    title: str | None
    """The session's title."""
    at: datetime
    """When the message was written."""
    created_at: datetime
    updated_at: datetime
    removed: bool
    survived: tuple[str, ...] = ()
    """Names of the versions that kept it word for word."""
    summarized: tuple[str, ...] = ()
    """Names of the versions that did not keep it word for word."""


@frozen
class KeepitPage:
    """A page of a thread's or session's markers, the most important first, with their total."""

    total: int
    keepits: tuple[Keepit, ...]


@frozen
class Survival:
    """Whether a marker survives a compression."""

    level: str
    ratio: int
    distance: int
    threshold: Decimal
    """The least weight that survives, at most 1."""
    survives: bool


@frozen
class OpenedKeepit:
    """A marker, and whether it would survive."""

    keepit: Keepit
    decay: tuple[Survival, ...]


Refusal = Literal["private", "missing", "absent", "other", "empty"]


@frozen
class KeepitChange:
    """The result of marking a passage, changing a weight or removing a marker."""

    refused: Refusal | None = None
    """Why nothing was done: the conversation is off the record, there is no such message, the message doesn't contain
    the passage, the marker is somebody else's, or there is nothing to keep."""
    keepit: Keepit | None = None
    before: Decimal | None = None
    """The marker's former weight."""
    draft: int | None = None
    """The id of the turn that remembers the passage until a weight is chosen."""
    passage: str = ""
    """The passage of `draft`."""
