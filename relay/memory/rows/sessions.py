"""Sessions and summaries."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field

from relay.core.frozen import frozen


@frozen
class SessionEnd:
    """What ending a session did."""

    session_id: int
    """The id of the session that is running now."""
    messages: int
    """How many messages the ended session had; 0: the session was empty and continues."""
    private: bool = False
    """The ended session was off the record, and is erased."""


@frozen(kw_only=True)
class SaidWords:
    """A message, or the beginning of one."""

    role: str
    user_id: int | None
    name: str | None
    text: str
    at: datetime


@frozen(kw_only=True)
class Session:
    """A session of a thread, in numbers."""

    id: int
    title: str | None
    titled_by: str | None
    """person or model: who wrote the title."""
    began: Annotated[datetime, Field(alias="from")]
    ended: Annotated[datetime | None, Field(alias="to")]
    """When the last message was written."""
    present: bool
    """The session is running now."""
    messages: int
    tokens: int = 0
    """An estimate of the tokens of its messages."""
    input: int
    """Input tokens of all its answers."""
    output: int
    topics: tuple[str, ...] = ()
    registered: datetime | None = None
    """When it was added to the library; None: it is not in it."""
    accessed: datetime | None = None
    """When it was last opened, compressed or composed."""
    markers: int = 0
    versions: int = 0
    compositions: int = 0
    """How many compositions it is part of."""
    number: int | None = None
    """Its place in the list, from 1, the newest; None: it is linked from another conversation."""
    distance: int | None = None
    """How many sessions ago it was used, from 1, the last."""
    linked: str | None = None
    """Why it is linked to this conversation; None: it belongs to this conversation."""
    first: SaidWords | None
    summary: str | None = None
    """The summary, only of a session that is opened alone, like `last`."""
    last: SaidWords | None = None

    @property
    def ref(self) -> str:
        """Returns how a person names it: its place in the list, or else its id, #12."""
        return str(self.number) if self.number else f"#{self.id}"


@frozen
class SessionPage:
    """A page of a thread's sessions, newest first, with their total."""

    total: int
    sessions: tuple[Session, ...]
    linked: tuple[Session, ...] = ()
    """Sessions of other conversations that are linked to this one; only on the first page."""


@frozen
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
    """That person's name."""
    tainted: bool
    """It is made from what others wrote, or from what several people said."""
    created_at: datetime


@frozen
class SummaryInUse:
    """The current version of a thread's summary, and what it covers. Counts stop at 5,000."""

    summary: SummaryVersion | None
    versions: int
    present: int | None
    """The id of the version that is in use."""
    messages: int
    through: datetime | None
    """When the last message that it covers was written."""
    fresh: int
    """How many messages were written since."""
    kept: int = 0
    """How many marked passages it holds word for word."""
    left_out: int = 0
    """How many more had no room."""


@frozen
class SummaryPage:
    """A page of versions of a thread's summary, newest first, with their total."""

    total: int
    present: int | None
    versions: tuple[SummaryVersion, ...]
