"""Changes a reminder by words, and by several fields at once."""

from __future__ import annotations

from datetime import UTC, datetime

from relay.commands.context import CommandContext
from relay.commands.registry import operation
from relay.commands.reminders.reminders import accept, change, delete, own_reminder, pause
from relay.core.errors import CommandRefused, OutOfRange
from relay.core.frozen import frozen
from relay.core.limits import REMINDER_LENGTH
from relay.memory.reminders.phrases import Unclear, read_phrase
from relay.memory.reminders.recurrence import STEPS, BadRule, least_gap, next_occurrence, read_rule
from relay.memory.rows.proactive.reminders import Reminder


@frozen
class ReminderPatch:
    """The changes of a reminder; None: unchanged."""

    words: str | None = None
    """A new time, a new text, or both: see `edit`."""
    paused: bool | None = None
    deleted: bool | None = None
    """False: restores a deleted one."""
    accepted: bool = False
    """Starts one that waits for a tap."""


async def edit(ctx: CommandContext, reminder_id: int, words: str) -> Reminder:
    """Changes a reminder's time, its text, or both, depending on the words: `friday 9:00`, `friday 9:00 bins`,
    `bins`. A time of day alone changes that of a rule."""
    one = await own_reminder(ctx, reminder_id)
    said = read_phrase(words, datetime.now(UTC), one.tzinfo)
    if len(words) > REMINDER_LENGTH:
        raise OutOfRange(f"That is {len(words)} characters; a reminder has at most {REMINDER_LENGTH}.")
    if isinstance(said, Unclear):
        if said.lacks_time:
            raise CommandRefused(said.question)
        return await change(ctx, one, "changed", text=" ".join(words.split()) or one.text)
    local, rule, following = said.start.replace(tzinfo=None), said.rule, said.start
    try:
        if said.bare and is_daily(one):
            local, rule = datetime.combine(one.start_at.date(), local.time()), one.rule
        if rule:
            found = next_occurrence(read_rule(rule, local, least_gap(one.kind)), one.tzinfo, datetime.now(UTC))
            following = found or following
    except BadRule as error:
        raise CommandRefused(str(error)) from None
    return await change(
        ctx, one, "changed", text=said.text or one.text, start_at=local.isoformat(),
        rule=rule, next_at=following.isoformat(), occurrence=None, zone=one.zone, status="active",
    )  # fmt: skip


def is_daily(one: Reminder) -> bool:
    """Tests whether a reminder has a rule of days, weeks, months or years."""
    return bool(one.rule) and not any(f"FREQ={step}" in one.rule for step in STEPS)


@operation("http")
async def patch_reminder(ctx: CommandContext, reminder_id: int, patch: ReminderPatch) -> Reminder:
    """Restores, accepts, rewords, moves, pauses or resumes a reminder, in this order."""
    done: Reminder = await own_reminder(ctx, reminder_id)
    if patch.deleted is False:
        done = await delete(ctx, reminder_id, on=False)
    if patch.accepted:
        done = await accept(ctx, reminder_id)
    if patch.words is not None:
        done = await edit(ctx, reminder_id, patch.words)
    if patch.paused is not None:
        done = await pause(ctx, reminder_id, patch.paused)
    return done
