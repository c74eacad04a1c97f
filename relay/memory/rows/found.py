"""Search results in a space."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class FoundEntry:
    """A message, memory, other artefact or document part that is relevant to a query."""

    kind: str
    """message, part or a kind of artefact."""
    id: int
    at: datetime
    snippet: str
    """The relevant passage, on one line of up to about 600 characters."""
    untrusted: bool = False
    """Written by others, or made from that."""
    part: int = 0
    """Of a document, from 1."""
    parts: int | None = None
    document: str | None = None
    """Its name."""
    message_id: int | None = None
    """The message itself, or the one that brought the document."""
    role: str | None = None
    """That message's role: user or assistant."""
    user_id: int | None = None
    name: str | None = None
    thread_id: int | None = None
    subject: str | None = None
    """A memory's subject."""
    status: str | None = None
    """Of a memory."""
    valid_until: datetime | None = None
    """Of a memory."""
    score: float = 0.0
    """By words and meaning together; comparable only within one search."""
    place: str | None = None
    """The name of the chat and topic, if requested."""
    lent: bool = False
    """It comes from the space that the speaker lends."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """What bears on a message well enough to be brought up, best first."""

    found: tuple[FoundEntry, ...]
