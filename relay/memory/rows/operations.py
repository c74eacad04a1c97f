"""The database and its work, for alerts and `relay doctor`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from relay.core.charge import ChargedUse
from relay.memory.rows.status import ParkedJobs


@dataclass(frozen=True, slots=True)
class Examination:
    """A description of the database."""

    server: str
    number: int
    """The server's version as a number: 180000."""
    bytes: int
    since: datetime | None
    """When Relay's schema was created."""
    extensions: Mapping[str, str]
    """Their versions by name."""
    tables: tuple[str, ...]
    functions: tuple[str, ...]
    open: tuple[str, ...]
    """Rights that others than Relay have, as sentences."""


@dataclass(frozen=True, slots=True)
class WorkState:
    """The work of all bots."""

    working: bool
    """Some Relay holds a lease now."""
    admins: int
    users: int
    waiting: int
    waiting_seconds: float | None
    set_aside: int
    """Turns of the last day that were given up."""
    incidents: tuple[str, ...]
    """Open incidents, at most five."""
    rivalled: tuple[str, ...] = ()
    """Ids of bots whose messages another program reads."""
    parked: tuple[ParkedJobs, ...] = ()
    """Of the last week."""


@dataclass(frozen=True, slots=True)
class WatchedIncident:
    """An incident that admins hear of when it begins and ends."""

    id: int
    kind: str
    detail: str
    begun_at: datetime
    seen_at: datetime
    calm_since: datetime | None = None
    over_at: datetime | None = None
    told_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Readings:
    """A bot's health, in numbers."""

    now: datetime
    queue_seconds: float
    """How long the oldest due turn has waited."""
    turns: int
    """Of the last ten minutes, at most 500."""
    failed: int
    error: str | None
    """Why the last one failed."""
    owed: int
    """Summaries and titles that failed four times or more."""
    owed_error: str | None
    spent: tuple[ChargedUse, ...]
    open: tuple[WatchedIncident, ...]


@dataclass(frozen=True, slots=True)
class Sighting:
    """An observation of a condition."""

    kind: str
    state: Literal["wrong", "calm", "over"]
    """wrong: it is, and for how long; calm: it is not, now; over: it has been fine long enough."""
    detail: str = ""
    seconds: float = 0.0
