"""The database and the work in it, as alerts and `relay doctor` read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from relay.core.charge import ChargedUse
from relay.memory.rows.status import ParkedJobs


@dataclass(frozen=True, slots=True)
class Examination:
    """What the database is and has."""

    server: str
    number: int
    """The server's version as a number: 180000."""
    bytes: int
    since: datetime | None
    """When Relay's schema was made."""
    extensions: Mapping[str, str]
    """Their versions by name."""
    tables: tuple[str, ...]
    functions: tuple[str, ...]
    open: tuple[str, ...]
    """What others than Relay may do, in sentences."""


@dataclass(frozen=True, slots=True)
class WorkState:
    """How the work goes, for all bots."""

    working: bool
    """Some Relay holds a lease right now."""
    admins: int
    users: int
    waiting: int
    waiting_seconds: float | None
    set_aside: int
    """Turns of the last day that were given up."""
    incidents: tuple[str, ...]
    """What is wrong now, five at most."""
    rivalled: tuple[str, ...] = ()
    """The bots whose messages another program reads, by their ids."""
    parked: tuple[ParkedJobs, ...] = ()
    """Of the last week."""


@dataclass(frozen=True, slots=True)
class WatchedIncident:
    """Trouble that admins are told of, and told again when it is over."""

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
    """How things stand for a bot, in numbers."""

    now: datetime
    queue_seconds: float
    """For how long the oldest turn that is due has waited."""
    turns: int
    """Of the last ten minutes, 500 at most."""
    failed: int
    error: str | None
    """Why the last of them failed."""
    owed: int
    """Summaries and titles that failed four times or more."""
    owed_error: str | None
    spent: tuple[ChargedUse, ...]
    open: tuple[WatchedIncident, ...]


@dataclass(frozen=True, slots=True)
class Sighting:
    """What was seen of a condition."""

    kind: str
    state: Literal["wrong", "calm", "over"]
    """wrong: it is, and for how long; calm: it is not, now; over: it has not been for long enough."""
    detail: str = ""
    seconds: float = 0.0
