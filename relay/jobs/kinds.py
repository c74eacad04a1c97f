"""Kinds of jobs: their work and limits."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence

from relay.core.errors import RelayError
from relay.core.frozen import frozen
from relay.core.ports import MediaStore, Messenger
from relay.core.retry import RetryPolicy
from relay.memory.night.run import Phase
from relay.memory.proactive.looking import Lookout
from relay.memory.review.judging import Judge
from relay.memory.rows.jobs import ClaimedJob
from relay.memory.rows.upkeep.night import PhaseResult
from relay.memory.spending.gate import Gate
from relay.memory.store import Store
from relay.memory.writing.compressor import Compressor
from relay.memory.writing.summaries import Summariser

JOB_PAUSES = RetryPolicy(first=30.0, longest=3600.0, obeyed=6_600.0)
"""No pause exceeds two hours: `relay.is_due` takes a longer one for the mistake of a wrong clock."""


class NotNow(RelayError):
    """A job can't be done now. It is tried again after `seconds`, and that doesn't count as a failure."""

    def __init__(self, reason: str, seconds: float) -> None:
        super().__init__(reason)
        self.seconds = seconds


@frozen
class Retry:
    """How a failed job is retried."""

    most: int
    """Failures after which it is parked."""
    pauses: RetryPolicy = JOB_PAUSES
    never: tuple[type[RelayError], ...] = ()
    """Errors that park it at once."""


@frozen
class JobKind:
    """A kind of job. `run` does one and returns whether it had a result; it may run again after an interruption."""

    name: str
    run: Callable[[ClaimedJob], Awaitable[bool]]
    timeout: float
    """The time limit of one job, in seconds."""
    retry: Retry
    at_once: int = 1
    """How many jobs of this kind run at once in a process."""
    gate: Gate | None = None
    """The gate that knows who pays. While today's budget is used up, these jobs stay owed."""
    daily_at: tuple[int, int] | None = None
    """The hour and minute at which a job is owed every day; None: other code owes it."""
    minutes: float = 0
    """After how many minutes each bot's process owes a job and runs it again; 0: other code owes it."""


@frozen
class JobServices:
    """What the kinds of jobs need."""

    store: Store
    gate: Gate
    summariser: Summariser
    judge: Judge
    lookout: Lookout
    compressor: Compressor
    messenger: Messenger | None
    """Telegram; None: nothing can be sent or renamed."""
    media_store: MediaStore
    """Where copies of media are stored."""
    bot_id: int
    send_queued: Callable[[], Awaitable[object]]
    """Sends queued messages now."""
    back_up: Callable[[], Awaitable[PhaseResult]]
    """Makes a backup and deletes old ones."""
    phases: Callable[[], Sequence[Phase]]
    """The phases of a night, in order."""
    sleep_at: tuple[int, int]
    """The hour and minute at which a night begins."""
    keep_days: int
    """How long records are kept in days; 0: forever."""
    admins: Callable[[], Collection[int]]
    """The admins as this process last saw them."""
