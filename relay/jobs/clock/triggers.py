"""When jobs run next, whatever the clock on the wall does: a Raspberry Pi starts in another year, and is then told.

APScheduler's own triggers count every time that was missed, one by one: sixty years of minutes take minutes in which
nobody is answered.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from apscheduler.triggers.cron import CronTrigger
from apscheduler.triggers.interval import IntervalTrigger

MOMENT = timedelta(microseconds=1)


class Every(IntervalTrigger):  # type: ignore[misc]
    """So long after it ran last."""

    def get_next_fire_time(self, previous_fire_time: datetime | None, now: datetime) -> datetime:
        """See APScheduler."""
        return now + timedelta(seconds=self.interval_length)


class Daily(CronTrigger):  # type: ignore[misc]
    """Each day at an hour and minute. Days that were missed are one."""

    def get_next_fire_time(self, previous_fire_time: datetime | None, now: datetime) -> datetime | None:
        """See APScheduler."""
        found: datetime | None = super().get_next_fire_time(None, now + MOMENT)
        return found
