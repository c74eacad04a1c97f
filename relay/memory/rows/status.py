"""The state of a space and the installation, in numbers."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from relay.core.frozen import frozen
from relay.memory.rows.usage import DailyUse


@frozen
class LastDay:
    """A space's turns in the last 24 hours, and their tokens."""

    turns: int
    input: int
    cached: int
    written: int
    output: int

    @property
    def asked(self) -> int:
        """Returns the total of input tokens."""
        return self.input + self.cached + self.written


@frozen
class VersionCounts:
    """A space's compressed versions."""

    ready: int
    by_night: int
    """How many the night made in the last 24 hours."""


@frozen
class Incident:
    """Something that is wrong with the installation."""

    begun_at: datetime
    detail: str


@frozen
class LastNight:
    """The last nightly run, with the report of each phase."""

    begun_at: datetime
    ended_at: datetime | None
    phases: Mapping[str, Mapping[str, Any]]


@frozen
class ParkedJobs:
    """The jobs of a kind that failed for good."""

    kind: str
    jobs: int
    last_error: str
    """Why the last of them failed."""


@frozen
class Status:
    """A space and the installation, in numbers."""

    waiting: int
    """How many updates are in the queue."""
    running: int
    set_aside: int
    """How many turns of the last 24 hours were given up."""
    summaries_due: int
    soul: int | None
    """The soul's version; None: there is none."""
    liked: int
    """How many 👍 people gave in 30 days. `disliked`: how many 👎."""
    disliked: int
    memories: int
    pending: int
    """How many memories wait for a tap."""
    threads: int
    exchanges: int
    today: LastDay
    parked: tuple[ParkedJobs, ...]
    """Jobs that failed for good in the last 7 days."""
    incidents: tuple[Incident, ...]
    night: LastNight | None
    used: tuple[DailyUse, ...]
    """What the space used in the last 24 hours."""
    versions: VersionCounts = VersionCounts(0, 0)
