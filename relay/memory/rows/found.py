"""What a search of a space found."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class FoundEntry:
    """A message, a memory, a summary or a part of a document that bears on a query."""

    kind: str
    """message, memory, summary or part."""
    id: int
    at: datetime
    snippet: str
    """What of it bears on the query, on one line of about 600 characters at most."""
    untrusted: bool = False
    """Others wrote it, or it was made of what others wrote."""
    part: int = 0
    """Of a document, from 1 on."""
    parts: int | None = None
    document: str | None = None
    """Its name."""
    message_id: int | None = None
    """The message itself, or the one that brought the document."""
    role: str | None = None
    """Who wrote that message: user or assistant."""
    user_id: int | None = None
    name: str | None = None
    thread_id: int | None = None
    subject: str | None = None
    """Whom a memory is about."""
    status: str | None = None
    """Of a memory."""
    valid_until: datetime | None = None
    """Of a memory."""
    score: float = 0.0
    """By words and meaning together; only comparable within one search."""
    place: str | None = None
    """The name of the chat and topic, where that was asked for."""
    lent: bool = False
    """It comes from the space that the speaker lends, not from the one that is asked."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """What bears on a message well enough to be brought up, best first."""

    found: tuple[FoundEntry, ...]
