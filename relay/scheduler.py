"""When jobs run (APScheduler)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

import structlog
from apscheduler.schedulers.asyncio import AsyncIOScheduler

from relay.errors import RelayError
from relay.jobs import Summariser, summarise_due, tidy
from relay.titles import Titler, title_due

log = structlog.get_logger()

SWEEP_MINUTES = 3


class Scheduler:
    """Runs the jobs of one process; what a job works on is leased in the database."""

    def __init__(self, summariser: Summariser, titler: Titler) -> None:
        self._summariser = summariser
        self._titler = titler
        self._scheduler = AsyncIOScheduler(
            timezone=UTC, job_defaults={"coalesce": True, "max_instances": 1, "misfire_grace_time": None}
        )

    def start(self) -> None:
        """Starts the jobs; the sweeps for what a crash missed run at once."""
        now = datetime.now(UTC)
        for name, job in (("summaries", self._summarise), ("titles", self._title)):
            self._scheduler.add_job(
                _logged, "interval", args=[name, job], minutes=SWEEP_MINUTES, id=name, next_run_time=now
            )
        self._scheduler.add_job(_logged, "cron", args=["tidy", self._tidy], hour=3, minute=10, id="tidy")
        self._scheduler.start()

    def write_soon(self) -> None:
        """A summary or a title is due: the jobs run now instead of at the next sweep."""
        if self._scheduler.running:
            for name in ("summaries", "titles"):
                self._scheduler.modify_job(name, next_run_time=datetime.now(UTC))

    def stop(self) -> None:
        """Stops the jobs. One that is cut off is no error: the next start frees what it had leased."""
        logging.getLogger("apscheduler.executors.default").addFilter(_is_no_cancellation)
        if self._scheduler.running:
            self._scheduler.shutdown(wait=False)

    async def _summarise(self) -> None:
        await summarise_due(self._summariser)

    async def _title(self) -> None:
        await title_due(self._titler)

    async def _tidy(self) -> None:
        await tidy(self._summariser.store)


def _is_no_cancellation(record: logging.LogRecord) -> bool:
    return not (record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError))


async def _logged(name: str, job: Callable[[], Awaitable[None]]) -> None:
    """Runs a job; a failure is logged and waits for the next time."""
    try:
        await job()
    except RelayError as error:
        log.warning("job failed", job=name, error=str(error))
