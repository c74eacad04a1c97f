"""Reminders that repeat move with the person who asked for them to another time zone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo

from relay.commands.context import CommandContext
from relay.core.limits import OPEN_REMINDERS
from relay.core.models import Space
from relay.memory.reminders.recurrence import BadRule, localize, next_occurrence, read_rule
from relay.memory.reminders.rule_days import STEPS
from relay.memory.rows.proactive.reminders import Reminder

FARTHEST_ZONES = timedelta(hours=26)
"""The most by which the clocks of two zones differ."""
EVENTS = {"active": "changed", "paused": "paused", "proposed": "made"}
"""What is recorded of a move, so that a deleted reminder is restored to the status it had."""


async def move_recurring(ctx: CommandContext, former: tzinfo, to: tzinfo) -> int:
    """Moves the reminders that repeat by a person's former zone to another one. Those of groups stay, and so do those
    of a zone that was named, and what comes every few minutes or hours and is over soon. Returns how many moved."""
    own = Space("private", owner_id=ctx.user_id)
    found = await ctx.store.reminders(own, ctx.user_id, 0, OPEN_REMINDERS)
    moved = 0
    for one in found.reminders:
        if not one.rule or one.zone != str(former) or one.zone == str(to):
            continue
        now = datetime.now(UTC)
        if ends_soon(one, now):
            continue
        at = moved_time(one, to, now)
        change = {"zone": str(to), "next_at": at and at.isoformat()}
        moved += bool(await ctx.store.change_reminder(one.id, EVENTS[one.status], ctx.user_id, one.next_at, **change))
    return moved


def ends_soon(one: Reminder, now: datetime) -> bool:
    """Tests whether a rule of minutes or hours ends so soon that it could already be over in another zone."""
    if not any(f"FREQ={step}" in one.rule for step in STEPS):
        return False
    try:
        return next_occurrence(read_rule(one.rule, one.start_at), one.tzinfo, now + FARTHEST_ZONES) is None
    except BadRule:
        return False


def moved_time(one: Reminder, to: tzinfo, now: datetime) -> datetime | None:
    """Returns the next time of a rule whose zone changes: the same day and hour there. If that has passed, it is sent
    at once, with the time when it was due. A postponed one keeps its moment, and a rule of hours goes on from now."""
    if one.next_at is None or one.occurrence is not None or not one.rule:
        return one.next_at
    try:
        rule = read_rule(one.rule, one.start_at)
    except BadRule:
        return one.next_at
    if rule.step is not None:
        return next_occurrence(rule, to, now)
    return localize(one.next_at.astimezone(one.tzinfo).replace(tzinfo=None), to)
