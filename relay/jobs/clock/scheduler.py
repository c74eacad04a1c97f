"""The clock that starts jobs at their times (APScheduler)."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from datetime import time as clock_time

import structlog
from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.base import BaseTrigger
from apscheduler.triggers.interval import IntervalTrigger

from relay.core import metrics
from relay.core.errors import RelayError
from relay.core.frozen import frozen
from relay.jobs.watch.conditions import Outcome

log = structlog.get_logger()

QUIET_SECONDS = 0.2
"""Jobs that turns made due start after no turn has ended for this long, so that they slow no answer down."""
SOON_SECONDS = 2.0
"""While turns keep ending, such jobs start this often."""
CLOCK_SECONDS = 30.0
"""How often the wall clock is checked, and the least change of it that counts as having been set."""


class Every(IntervalTrigger):  # type: ignore[misc]
    """Runs at a fixed interval after the last run."""

    def get_next_fire_time(self, previous_fire_time: datetime | None, now: datetime) -> datetime:
        """Returns the next time, as in APScheduler. In UTC: in a local time, the hour that is repeated when summer time
        ends would lead back an hour."""
        return now.astimezone(UTC) + timedelta(seconds=self.interval_length)


class Daily(BaseTrigger):  # type: ignore[misc]
    """Runs each day at an hour and minute: the first time, if a day has it twice; an hour later, if a day lacks it.
    Several missed days count as one. APScheduler's own trigger skips a day when summer time begins."""

    def __init__(self, hour: int, minute: int, zone: tzinfo) -> None:
        self._time = clock_time(hour, minute, tzinfo=zone)

    def get_next_fire_time(self, previous_fire_time: datetime | None, now: datetime) -> datetime:
        """Returns the next time, as in APScheduler."""
        today = now.astimezone(self._time.tzinfo)
        moments = (datetime.combine(today + timedelta(days=days), self._time).astimezone(UTC) for days in (0, 1))
        return next(moment for moment in moments if moment > now)


@frozen
class Schedule:
    """When a job runs again and again. The job leases its work in the database."""

    name: str
    run: Callable[[], Awaitable[object]]
    minutes: float = 0
    """The job runs at the start, and this many minutes after each run."""
    at: tuple[int, int] | None = None
    """Alternatively, it runs once a day at this hour and minute."""
    makes_up_for: str = ""
    """The schedule of the daily job that it runs if that was missed; their outcome is one. Empty: it has its own."""


class Scheduler:
    """Runs the jobs of one process."""

    def __init__(self, jobs: Sequence[Schedule], zone: tzinfo = UTC) -> None:
        self._jobs = list(jobs)
        self.outcomes: dict[str, Outcome] = {}
        """The result of each job's last run."""
        self._running: set[str] = set()
        self._again: set[str] = set()
        self._scheduler = AsyncIOScheduler(
            timezone=zone, job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": None}
        )
        self._zone = zone
        self._soon: asyncio.TimerHandle | None = None
        self._watching: asyncio.TimerHandle | None = None
        self._owed: set[str] = set()
        self._owed_since = 0.0

    def add(self, job: Schedule) -> None:
        """Adds a job. Must be called before the start."""
        self._jobs.append(job)

    def start(self) -> None:
        """Starts the jobs. Those that look for what a crash interrupted run at once."""
        for job in self._jobs:
            first = {} if job.at else {"next_run_time": datetime.now(UTC)}
            self._scheduler.add_job(self.run, self._trigger(job), args=[job], id=job.name, **first)
        self._scheduler.start()
        self._watch_clock(time.time() - time.monotonic())

    def _trigger(self, job: Schedule) -> Every | Daily:
        if job.at is None:
            return Every(minutes=job.minutes, timezone=UTC)
        return Daily(*job.at, self._zone)

    def _watch_clock(self, before: float) -> None:
        """Reschedules the jobs after the wall clock was set or the machine slept, so that none waits for an outdated
        time. Those whose time was skipped run now. `before`: by how many seconds the wall clock was ahead of the
        monotonic one, which stands still while the machine sleeps."""
        ahead = time.time() - time.monotonic()
        if abs(ahead - before) > CLOCK_SECONDS:
            log.warning("the clock was set", seconds=round(ahead - before))
            now = datetime.now(UTC)
            for job in self._scheduler.get_jobs():
                skipped = job.next_run_time <= now and job.id not in self._running
                due = now if skipped else job.trigger.get_next_fire_time(None, now)
                self._scheduler.modify_job(job.id, next_run_time=due)
        self._watching = asyncio.get_running_loop().call_later(CLOCK_SECONDS, self._watch_clock, ahead)

    def run_soon(self, names: Sequence[str]) -> None:
        """Runs these jobs, which have something to do, after `QUIET_SECONDS` without another call, or after
        `SOON_SECONDS` in any case. A job that is running then runs once more."""
        self._owed.update(names)
        if not self._owed or not self._scheduler.running:
            return
        loop = asyncio.get_running_loop()
        if self._soon is None:
            self._owed_since = loop.time()
        else:
            self._soon.cancel()
        self._soon = loop.call_at(min(loop.time() + QUIET_SECONDS, self._owed_since + SOON_SECONDS), self._look)

    def _look(self) -> None:
        self._soon = None
        if not self._scheduler.running:
            return  # it stopped meanwhile
        owed, self._owed = self._owed, set()
        for job in self._jobs:
            if job.name in owed and job.name in self._running:
                self._again.add(job.name)
            elif job.name in owed:
                self._scheduler.modify_job(job.name, next_run_time=datetime.now(UTC))

    async def run(self, job: Schedule) -> None:
        """Runs a job, and again if more became due meanwhile, which it may have missed."""
        self._running.add(job.name)
        try:
            await self._run_once(job)
            while job.name in self._again:
                self._again.discard(job.name)
                await self._run_once(job)
        finally:
            self._running.discard(job.name)
            self._again.discard(job.name)

    async def _run_once(self, job: Schedule) -> None:
        """Runs a job once and records how it ended. A failure is logged, and the job waits for its next time."""
        # The job may run in the context of a turn that made it due; its log lines must not have that turn's fields.
        structlog.contextvars.clear_contextvars()
        structlog.contextvars.bind_contextvars(job=job.name)
        try:
            await job.run()
        except asyncio.CancelledError:
            metrics.JOBS.labels(job.name, "cut_off").inc()
            raise
        except RelayError as error:
            log.warning("job failed", error=str(error))
            self._record_end(job, str(error))
        except Exception as error:
            self._record_end(job, type(error).__name__)  # its text may quote what it failed on
            raise
        else:
            self._record_end(job, "")

    def _record_end(self, job: Schedule, error: str) -> None:
        metrics.JOBS.labels(job.name, "failed" if error else "done").inc()
        name = job.makes_up_for or job.name
        before = self.outcomes.get(name)
        failures = (before.failures if before else 0) + 1 if error else 0
        self.outcomes[name] = Outcome(datetime.now(UTC), error, failures, bool(job.at or job.makes_up_for))

    def stop(self) -> None:
        """Stops the jobs. Interrupting one is not an error: the next start releases its leases."""
        logging.getLogger("apscheduler.executors.default").addFilter(_is_no_cancellation)
        for timer in (self._soon, self._watching):
            if timer is not None:
                timer.cancel()
        if self._scheduler.running:
            self._scheduler.shutdown(wait=False)


def _is_no_cancellation(record: logging.LogRecord) -> bool:
    return not (record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError))
