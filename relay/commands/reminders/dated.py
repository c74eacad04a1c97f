"""Reminders of goals and events that were learned. They are proposed, and made by a tap."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, time, timedelta, tzinfo
from typing import Literal

from relay.commands.context import CommandContext
from relay.commands.reminders.reminders import delete, make_reminder
from relay.core.errors import CommandRefused, require_found
from relay.core.frozen import frozen
from relay.core.limits import REMINDER_LENGTH
from relay.memory.reminders.phrases import Understood
from relay.memory.reminders.recurrence import localize
from relay.memory.rows.proactive.reminders import DatedMemory, Reminder

When = Literal["day", "eve", "hour"]
MORNING, EVENING = time(9), time(18)
PASSED = "That's over, or I no longer know about it."


@frozen
class ReminderTimes:
    """The times that are proposed for a goal or event."""

    memory_id: int
    times: Mapping[When, datetime]


async def reminder_times(ctx: CommandContext, memory_id: int) -> ReminderTimes:
    """Proposes times to be reminded of a goal or event. Raises `CommandRefused` if none is left."""
    return ReminderTimes(memory_id, proposed(await _find_dated(ctx, memory_id), ctx.services.zone, ctx.zone))


async def remind_of(ctx: CommandContext, memory_id: int, when: When) -> Reminder:
    """Makes a reminder of a goal or event at a proposed time, in place of the one for its former date. Raises
    `CommandRefused` if it has passed."""
    one = await _find_dated(ctx, memory_id)
    at = require_found(proposed(one, ctx.services.zone, ctx.zone).get(when), CommandRefused(PASSED))
    made = await make_reminder(ctx, Understood(at, "", one.content[:REMINDER_LENGTH]), "button", one.id)
    if one.was is not None:
        await delete(ctx, one.was.reminder_id)
    return made


async def same_time(ctx: CommandContext, memory_id: int) -> When | None:
    """Returns which of the times a reminder has that was set for the former date; None: none, or another time."""
    one = await _find_dated(ctx, memory_id)
    if one.was is None or one.was.at is None:
        return None
    before = datetime.min.replace(tzinfo=UTC)
    former = proposed(replace(one, at=one.was.at, exact=one.was.exact), ctx.services.zone, ctx.zone, before)
    now = proposed(one, ctx.services.zone, ctx.zone)
    return next((when for when, at in former.items() if at == one.was.next_at and when in now), None)


async def _find_dated(ctx: CommandContext, memory_id: int) -> DatedMemory:
    await ctx.require_sight()
    found = require_found(await ctx.store.dated_memory(ctx.space, memory_id), CommandRefused(PASSED))
    own = found.was is not None and found.was.user_id == ctx.user_id
    return found if own else replace(found, was=None)  # somebody else's stays


def proposed(one: DatedMemory, noted_in: tzinfo, zone: tzinfo, now: datetime | None = None) -> dict[When, datetime]:
    """Returns the times that are still in the future: on the day, the evening before, and an hour before if a time is
    known. `noted_in`: the zone in which days are noted; `zone`: the person's."""
    day = one.at.astimezone(zone if one.exact else noted_in).date()
    times: dict[When, datetime] = {
        "day": localize(datetime.combine(day, MORNING), zone),
        "eve": localize(datetime.combine(day - timedelta(days=1), EVENING), zone),
    }
    if one.exact:
        times["hour"] = (one.at - timedelta(hours=1)).astimezone(zone)
        if times["day"] >= one.at:
            del times["day"]
    return {when: at for when, at in times.items() if at > (now or datetime.now(UTC))}
