"""The digest at a person's own time in the morning, with what is due at its top."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import datetime, time, tzinfo
from zoneinfo import ZoneInfo

import structlog

from relay.core.errors import RelayError
from relay.memory.night.asking import BatchModel
from relay.memory.night.digest import DigestTopic, day_notice, end_digest, plain, short, write_digest
from relay.memory.reminders.recurrence import next_clock
from relay.memory.rows.jobs import ClaimedJob
from relay.memory.rows.proactive.reminders import Reminder

log = structlog.get_logger()

TEXT_LENGTH = 120


async def tell_morning(batch: BatchModel, bot_id: int, admins: Callable[[], Collection[int]], job: ClaimedJob) -> bool:
    """Writes and queues one space's digest. Returns whether there was something to report. Raises the model's errors
    and `BudgetUsedUp` only if nothing is due, because due reminders are listed without a model."""
    work = await batch.store.morning_work(job)
    if work is None:
        return False
    own = work.digest
    if await end_digest(batch.store, own.chat_id if own.chat_id < 0 else None, own.user_id, admins()):
        return False
    zone = ZoneInfo(work.digest.zone)
    next_at = next_clock(work.digest.at_time or time(), zone, work.now)
    if work.quiet:
        return await batch.store.post_morning(job, bot_id, None, None, next_at)
    topics: tuple[DigestTopic, ...] = ()
    through: int | None = work.through_message
    try:
        topics = await write_digest(batch, work.day)
    except (RelayError, TimeoutError) as error:
        if not work.reminders:
            raise
        log.warning("a morning without a digest", space_id=work.day.space_id, error=str(error))
        through = None
    due = due_today(work.reminders, zone, work.now)
    notice = day_notice(batch, work.day, topics, due, [one.id for one in work.reminders])
    return await batch.store.post_morning(job, bot_id, notice, through, next_at)


def due_today(reminders: Sequence[Reminder], zone: tzinfo, now: datetime) -> str:
    """Lists what is due within a day (Markdown); empty if nothing is."""
    today = now.astimezone(zone).date()
    lines = []
    for one in reminders:
        at = (one.next_at or now).astimezone(zone)
        day = "" if at.date() <= today else "tomorrow "
        lines.append(f"- {day}{at.hour}:{at:%M} · {plain(short(one.text, TEXT_LENGTH))}")
    return "\n".join(["⏰ **Due today**", *lines]) if lines else ""
