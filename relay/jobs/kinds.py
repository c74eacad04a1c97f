"""What a kind of job is: its work, and the limits under which it is done."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from relay.core.errors import RelayError
from relay.core.ports import MediaStore, Messenger
from relay.core.retry import RetryPolicy
from relay.memory.rows.jobs import ClaimedJob
from relay.memory.sleep.night import Phase
from relay.memory.spending.gate import Gate
from relay.memory.store import Store
from relay.memory.writing.summaries import Summariser

JOB_PAUSES = RetryPolicy(first=30.0, longest=3600.0)


@dataclass(frozen=True, slots=True)
class Retry:
    """How a failed job is tried again."""

    most: int
    """After so many failures it is parked."""
    pauses: RetryPolicy = JOB_PAUSES
    never: tuple[type[RelayError], ...] = ()
    """After these it is parked at once."""


@dataclass(frozen=True, slots=True)
class JobKind:
    """A kind of job. `run` does one; it may be called again for a job that was cut off, and returns whether something
    came of it."""

    name: str
    run: Callable[[ClaimedJob], Awaitable[bool]]
    timeout: float
    """Seconds that one job may take."""
    retry: Retry
    at_once: int = 1
    """How many a process does at once."""
    gate: Gate | None = None
    """Whose budget it takes. While today's is used up, jobs of this kind stay owed."""
    daily_at: tuple[int, int] | None = None
    """The hour and the minute at which one is owed every day; None: whatever makes it due owes it."""


@dataclass(frozen=True, slots=True)
class JobServices:
    """What the kinds of jobs need."""

    store: Store
    gate: Gate
    summariser: Summariser
    messenger: Messenger | None
    """Telegram; None: nothing can be said or renamed there."""
    keeper: MediaStore
    """Where kept files are."""
    bot_id: int
    phases: Callable[[], Sequence[Phase]]
    """Those of a night, in order."""
    sleep_at: tuple[int, int]
    """The hour and the minute at which a night begins."""
    keep_days: int
    """After so long records of what happened are dropped; 0: never."""
