"""The database and its work, for alerts and `relay doctor`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from relay.core.frozen import frozen
from relay.core.spending.charge import ChargedUse
from relay.memory.rows.status import ParkedJobs


@frozen
class Examination:
    """A description of the database."""

    server: str
    number: int
    """The server's version as a number: 180000."""
    bytes: int
    since: datetime | None
    """When Relay's schema was created."""
    extensions: Mapping[str, str]
    """The versions of its extensions, by name."""
    tables: tuple[str, ...]
    functions: tuple[str, ...]
    open: tuple[str, ...]
    """Rights that roles other than Relay's have, as sentences."""


@frozen
class WorkState:
    """The work of all bots."""

    working: bool
    """A running Relay holds a lease now."""
    admins: int
    users: int
    waiting: int
    waiting_seconds: float | None
    set_aside: int
    """How many turns were given up in the last day."""
    incidents: tuple[str, ...]
    """Open incidents, at most five."""
    rivalled: tuple[str, ...] = ()
    """Ids of bots whose messages another program reads."""
    parked: tuple[ParkedJobs, ...] = ()
    """Jobs that failed for good in the last week."""


@frozen
class WatchedIncident:
    """An incident; admins get a message when it begins and when it ends."""

    id: int
    kind: str
    detail: str
    begun_at: datetime
    seen_at: datetime
    calm_since: datetime | None = None
    over_at: datetime | None = None
    told_at: datetime | None = None


@frozen
class Readings:
    """A bot's health, in numbers."""

    now: datetime
    queue_seconds: float
    """How long the oldest due turn has waited."""
    turns: int
    """How many turns the last ten minutes had, at most 500."""
    failed: int
    error: str | None
    """Why the last failed turn failed."""
    owed: int
    """Jobs that failed four times or more and are retried."""
    owed_error: str | None
    """Which of those jobs failed last, and why."""
    spent: tuple[ChargedUse, ...]
    open: tuple[WatchedIncident, ...]


@frozen
class Observation:
    """An observation of a condition."""

    kind: str
    state: Literal["wrong", "calm", "over"]
    """wrong: the condition holds, long enough to count; calm: it does not hold now; over: it has not held for long
    enough."""
    detail: str = ""
    seconds: float = 0.0
