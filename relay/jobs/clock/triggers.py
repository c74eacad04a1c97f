"""Triggers that ignore changes of the wall clock: a Raspberry Pi starts with the wrong year, which is corrected later.

APScheduler's own triggers count every missed time one by one: for sixty years of minutes that takes minutes, in which
nobody gets an answer.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from apscheduler.triggers.cron import CronTrigger
from apscheduler.triggers.interval import IntervalTrigger

MOMENT = timedelta(microseconds=1)


class Every(IntervalTrigger):  # type: ignore[misc]
    """Runs at a fixed interval after the last run."""

    def get_next_fire_time(self, previous_fire_time: datetime | None, now: datetime) -> datetime:
        """Returns the next time, as in APScheduler."""
        return now + timedelta(seconds=self.interval_length)


class Daily(CronTrigger):  # type: ignore[misc]
    """Runs each day at an hour and minute. Several missed days count as one."""

    def get_next_fire_time(self, previous_fire_time: datetime | None, now: datetime) -> datetime | None:
        """Returns the next time, as in APScheduler."""
        found: datetime | None = super().get_next_fire_time(None, now + MOMENT)
        return found
