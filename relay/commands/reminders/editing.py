"""Changes a reminder by words, and by several fields at once."""

from __future__ import annotations

from datetime import UTC, datetime

from relay.commands.context import CommandContext
from relay.commands.registry import operation
from relay.commands.reminders.intents import check_phrase
from relay.commands.reminders.reminders import accept, change, delete, existing_reminder, own_reminder, pause
from relay.core.errors import OutOfRange, WrongArgument
from relay.core.frozen import frozen
from relay.core.limits import REMINDER_LENGTH
from relay.memory.reminders.phrases import Unclear, read_phrase
from relay.memory.reminders.recurrence import BadRule, keep_to_day, least_gap, localize, next_occurrence, read_rule
from relay.memory.reminders.rule_days import STEPS
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
    `bins`. The time is meant in the person's time zone. A time of day alone changes that of a rule, in the rule's own
    zone, or moves a single reminder within its day. Words that repeat its present state change nothing. Raises
    `CommandRefused` if it can't be understood, such as a time of day for a reminder that comes every few hours."""
    one = await existing_reminder(ctx, reminder_id)
    if not words.strip():
        raise WrongArgument("Write a time, a text, or both, for example: friday 9:00 bins.")
    check_phrase(words)
    now = datetime.now(UTC)
    said = read_phrase(words, now, ctx.zone)
    if len(words) > REMINDER_LENGTH:
        raise OutOfRange(f"That's {len(words)} characters; a reminder can have at most {REMINDER_LENGTH}.")
    if isinstance(said, Unclear):
        if said.lacks_time:
            raise WrongArgument(said.question)
        text = words.strip()
        return one if text == one.text else await change(ctx, one, "changed", text=text)
    zone, rule, following = ctx.zone, said.rule, said.start
    if said.bare and not one.rule and one.next_at:
        within = localize(datetime.combine(one.next_at.astimezone(zone), said.start.time()), zone)
        following = within if within > now else following
    local = said.start_at if said.rule or one.rule else following.replace(tzinfo=None)
    try:
        if said.bare and any(word in one.rule for word in ("BYHOUR=", *(f"FREQ={step}" for step in STEPS))):
            often = f"every day {local:%H:%M}"
            raise WrongArgument(f"It comes {one.repeats}. Say how often it should come instead, such as: {often}")
        if said.bare and one.rule:
            zone, rule, local = one.tzinfo, one.rule, datetime.combine(one.start_at, local.time())
        if rule:
            rule = keep_to_day(rule, local)
            found = next_occurrence(read_rule(rule, local, least_gap(one.kind)), zone, now)
            following = found or following
    except BadRule as error:
        raise WrongArgument(str(error)) from None
    text = said.text or one.text
    planned = (text, local, rule, following, None, str(zone), "active")
    if planned == (one.text, one.start_at, one.rule, one.next_at, one.occurrence, one.zone, one.status):
        return one
    return await change(
        ctx, one, "changed", text=text, start_at=local.isoformat(),
        rule=rule, next_at=following.isoformat(), occurrence=None, zone=str(zone), status="active",
    )  # fmt: skip


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
