"""Sessions and summaries."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from pydantic import Field


@dataclass(frozen=True, slots=True)
class SessionEnd:
    """What ending a session did."""

    session_id: int
    """The session that runs now."""
    messages: int
    """How many messages the session that ended had; 0: it goes on, empty as it was."""
    private: bool = False
    """It was off the record, and is erased."""


@dataclass(frozen=True, slots=True)
class SaidWords:
    """The beginning of a message."""

    role: str
    user_id: int | None
    name: str | None
    text: str
    """At most 1,000 characters."""
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A session of a thread, in numbers."""

    id: int
    title: str | None
    titled_by: str | None
    """person or model."""
    began: Annotated[datetime, Field(alias="from")]
    ended: Annotated[datetime | None, Field(alias="to")]
    """When the last message was said."""
    present: bool
    """It runs now."""
    messages: int
    input: int
    """Tokens of all its answers."""
    output: int
    first: SaidWords | None
    summary: str | None = None
    """Only of a session that is opened alone, as is `last`."""
    last: SaidWords | None = None


@dataclass(frozen=True, slots=True)
class SessionPage:
    """Some of a thread's sessions, newest first, and how many there are."""

    total: int
    sessions: tuple[Session, ...]


@dataclass(frozen=True, slots=True)
class SummaryVersion:
    """A version of a thread's summary."""

    number: int
    """Starts at 1."""
    id: int
    text: str
    model: str
    author_id: int | None
    """The person who corrected it; None: a model wrote it."""
    by: str | None
    """Their name."""
    tainted: bool
    """It is made of what others wrote, or of what several people said."""
    created_at: datetime


@dataclass(frozen=True, slots=True)
class SummaryInUse:
    """A version of a thread's summary, and what it covers. Counts stop at 5,000."""

    summary: SummaryVersion | None
    versions: int
    present: int | None
    """The id of the version that is used now."""
    messages: int
    through: datetime | None
    """When the last message that it covers was said."""
    fresh: int
    """How many messages were said since."""


@dataclass(frozen=True, slots=True)
class SummaryPage:
    """Some versions of a thread's summary, newest first, and how many there are."""

    total: int
    present: int | None
    versions: tuple[SummaryVersion, ...]
