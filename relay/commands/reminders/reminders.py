"""Makes, lists and changes reminders."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, time, timedelta

from relay.commands.context import CommandContext
from relay.commands.registry import command, operation
from relay.commands.reminders.intents import read_intent
from relay.core.errors import CommandRefused, Conflict, NotAllowed, NotFound, OutOfRange, WrongArgument, require_found
from relay.core.frozen import frozen
from relay.core.limits import MAX_OFFSET, OPEN_REMINDERS, REMINDER_LENGTH
from relay.memory.reminders.calendar import make_calendar
from relay.memory.reminders.due import MISSED
from relay.memory.reminders.phrases import Unclear, Understood, read_phrase
from relay.memory.reminders.recurrence import OFTEN, BadRule, keep_to_day, next_occurrence, read_rule
from relay.memory.rows.proactive.reminders import NewReminder, OpenedReminder, Reminder, ReminderPage

HOW = "For example: /remind tomorrow 9:00 call the dentist"
MENTION = "Without a time, that works in the chat: /remind when dentist: take the insurance card"
GONE = "That reminder is gone or isn't yours."
OVER = "It's already over."
PASSED = "Its time has passed. Set another one, for example: /remind tomorrow 9:00 call the dentist"
CHANGED = "That reminder has changed in the meantime. See /reminders."
REFUSED = {
    "many": f"You have {OPEN_REMINDERS} reminders, which is the limit. Delete one first: /reminders",
    "private": "This conversation is off the record, so I can't keep a reminder.",
}
MORNING = time(9)
"""The time of day of a snooze until tomorrow."""


@command(
    "remind",
    usage="<when> <what>",
    help="set a reminder: tomorrow 9:00 call the dentist",
    surfaces=("chat", "cli", "http"),
)
async def remind(ctx: CommandContext, phrase: str) -> Reminder:
    """Makes a reminder from a phrase such as `every monday 8:00 bins`. Raises `CommandRefused` with a question if
    the phrase leaves something open."""
    if read_intent(phrase) is not None:  # the chat makes an intent of it
        raise CommandRefused(MENTION)
    said = understand(ctx, phrase)
    if not said.text:
        raise WrongArgument(f"What should I remind you of? Write it after the time. {HOW}")
    return await make_reminder(ctx, said)


def understand(ctx: CommandContext, phrase: str) -> Understood:
    """Reads a phrase in the person's time zone. Raises `CommandRefused` with a question if it is unclear."""
    if not phrase.strip():
        raise WrongArgument(f"When, and of what? {HOW}")
    said = read_phrase(phrase, datetime.now(UTC), ctx.zone)
    if isinstance(said, Unclear):
        raise WrongArgument(said.question)
    if len(said.text) > REMINDER_LENGTH:
        raise OutOfRange(f"That's {len(said.text)} characters; a reminder can have at most {REMINDER_LENGTH}.")
    return said


async def make_reminder(
    ctx: CommandContext, said: Understood, origin: str = "command", memory_id: int | None = None
) -> Reminder:
    """Makes a reminder for this chat; from a terminal, for the person's own chat with the bot."""
    here = ctx.bot_id != 0
    rule, first = keep_to_day(said.rule, said.start_at), said.start
    if rule != said.rule:
        try:
            first = next_occurrence(read_rule(rule, said.start_at), ctx.zone, datetime.now(UTC)) or first
        except BadRule as error:
            raise WrongArgument(str(error)) from None
    made = await ctx.store.make_reminder(
        NewReminder(
            space=ctx.space,
            bot_id=ctx.bot_id,
            chat_id=ctx.chat_id if here else ctx.user_id,
            topic_id=ctx.topic_id if here else 0,
            user_id=ctx.user_id,
            text=said.text,
            zone=str(ctx.zone),
            start_at=said.start_at,
            next_at=first,
            rule=rule,
            origin=origin if here else "cli",
            turn_id=ctx.turn.turn_id,
            memory_id=memory_id,
        )
    )
    if isinstance(made, str):
        raise Conflict(REFUSED[made])
    return made


async def postpone(ctx: CommandContext, reminder_id: int, minutes: int) -> Reminder:
    """Moves the next time of a reminder that is not due yet, at most to the next occurrence of its rule."""
    one = await own_reminder(ctx, reminder_id)
    if one.next_at is None or one.status not in ("active", "proposed"):
        raise Conflict(OVER)
    return await move(ctx, one, one.next_at + timedelta(minutes=minutes), one.next_at, one.status)


def is_postponed(one: Reminder) -> bool:
    """Tests whether a reminder is due later than at its own next time, so that a postponement can be taken back. One
    that was moved to a later time of its rule has no `occurrence`."""
    if one.occurrence is not None or not one.rule or one.next_at is None:
        return one.occurrence is not None
    try:
        following = following_occurrence(one)
    except CommandRefused:  # a rule that can't be read
        return False
    return following is not None and following < one.next_at


async def take_back_postponement(ctx: CommandContext, reminder_id: int) -> Reminder:
    """Moves a postponed reminder back to its own time. Raises `Conflict` if that has passed."""
    one = await own_reminder(ctx, reminder_id)
    at = following_occurrence(one) if one.rule else one.start_at.replace(tzinfo=one.tzinfo)
    if at is None or one.next_at is None or not datetime.now(UTC) < at <= one.next_at:
        raise Conflict("It can't go back: its own time has passed.")
    return await change(
        ctx, one, "changed", next_at=at.isoformat(), occurrence=None, status=one.status, turn_id=ctx.turn.turn_id
    )


@command(
    "reminders",
    usage="[ics]",
    help="what I'll remind you of; ics: as a calendar file",
    surfaces=("chat", "cli", "http"),
)
async def reminders(ctx: CommandContext, offset: int = 0, limit: int = 100) -> ReminderPage:
    """Returns a page of open reminders, the nearest first: the person's own, or in a group the group's."""
    await ctx.require_sight()
    return await ctx.store.reminders(ctx.space, ctx.user_id, min(offset, MAX_OFFSET), limit)


@frozen
class Calendar:
    """Reminders as an iCalendar file."""

    name: str
    events: int
    text: str


@operation("chat", "cli", "http")
async def calendar(ctx: CommandContext, empty: bool = False) -> Calendar:
    """Returns the active reminders as a calendar. Raises `CommandRefused` if it has none and may not be `empty`."""
    found = [one for one in (await reminders(ctx, 0, OPEN_REMINDERS)).reminders if one.status == "active"]
    if not found and not empty:
        raise CommandRefused(f"You have no upcoming reminders. {HOW}")
    return Calendar("relay.ics", len(found), make_calendar(found).decode())


@operation("chat", "http")
async def open_reminder(ctx: CommandContext, reminder_id: int) -> OpenedReminder:
    """Returns a reminder with its latest events. Raises `CommandRefused` if the person may not see it."""
    await ctx.require_sight()
    return require_found(await ctx.store.reminder(ctx.space, ctx.user_id, reminder_id), NotFound(GONE))


async def own_reminder(ctx: CommandContext, reminder_id: int) -> OpenedReminder:
    """Returns a reminder like `open_reminder`. Raises `CommandRefused` unless the person may change it, as its owner or
    an admin."""
    found = await open_reminder(ctx, reminder_id)
    if found.user_id != ctx.user_id and not ctx.admin:
        raise NotAllowed("Only the person who asked for it can change it.")
    return found


async def existing_reminder(ctx: CommandContext, reminder_id: int) -> OpenedReminder:
    """Returns a reminder like `own_reminder`, unless it is deleted."""
    one = await own_reminder(ctx, reminder_id)
    if one.status == "deleted":
        raise NotFound(GONE)
    return one


async def change(ctx: CommandContext, one: Reminder, event: str, **fields: object) -> Reminder:
    """Changes a reminder, unless it was changed in the meantime. Raises `CommandRefused`."""
    changed = await ctx.store.change_reminder(one.id, event, ctx.user_id, one.next_at, **fields)
    return require_found(changed, Conflict(CHANGED))


async def snooze(ctx: CommandContext, reminder_id: int, minutes: int) -> Reminder:
    """Repeats a reminder in some minutes, or tomorrow morning (0), but no later than at the next occurrence of its
    rule, which would be lost otherwise."""
    one = await existing_reminder(ctx, reminder_id)
    if one.rule and one.status == "paused":
        raise Conflict("It's paused. Resume it first.")
    now = datetime.now(UTC)
    if minutes:
        again = now + timedelta(minutes=minutes)
    else:
        tomorrow = now.astimezone(ctx.zone).date() + timedelta(days=1)
        again = datetime.combine(tomorrow, MORNING, ctx.zone)
    return await move(ctx, one, again, now, "active")


async def move(ctx: CommandContext, one: Reminder, to: datetime, after: datetime, status: str) -> Reminder:
    """Moves a reminder to another time, or to the first occurrence of its rule `after` a moment if that comes first;
    once, even if the turn runs again."""
    following = following_occurrence(one, after) if one.rule else None
    own = following is not None and following <= to  # it is the rule's own time again
    at = (following if own and following else to).isoformat()
    occurrence, turn_id = None if own else at, ctx.turn.turn_id
    return await change(ctx, one, "snoozed", next_at=at, occurrence=occurrence, status=status, turn_id=turn_id)


@operation("chat", "http")
async def mark_done(ctx: CommandContext, reminder_id: int) -> Reminder:
    """Ends a snooze, or a question that is repeated; in a group, for everybody who sees it. The next occurrence of a
    rule stays. Doing this again changes nothing. Raises `Conflict` if it was never sent."""
    one = await open_reminder(ctx, reminder_id)
    if one.status == "deleted":
        raise NotFound(GONE)
    if one.events and one.events[0].kind == "done":
        return one
    happened = {event.kind for event in one.events}
    if "made" in happened and not happened & {"fired", "missed"}:
        raise Conflict("I haven't sent it yet.")
    following = following_occurrence(one)
    ended = one.status if one.status != "active" else "active" if following else "ended"
    return await change(ctx, one, "done", next_at=following and following.isoformat(), occurrence=None, status=ended)


def following_occurrence(one: Reminder, after: datetime | None = None) -> datetime | None:
    """Returns the next occurrence of a rule after a moment (now); None if it is over, or there is no rule."""
    if not one.rule:
        return one.next_at if one.occurrence is None and not one.asked and one.next_at else None
    try:
        return next_occurrence(read_rule(one.rule, one.start_at), one.tzinfo, after or datetime.now(UTC))
    except BadRule as error:
        raise CommandRefused(f"{error} Change the time, or delete it.") from None


async def pause(ctx: CommandContext, reminder_id: int, on: bool) -> Reminder:
    """Pauses a reminder, or resumes it with its next time; an imported one that comes every hour or more often is then
    limited to the day. Raises `Conflict` if that time passed too long ago to be sent late."""
    one = await existing_reminder(ctx, reminder_id)
    if one.status not in ("active", "paused"):
        raise Conflict("It's waiting for your OK." if one.status == "proposed" else OVER)
    if on == (one.status == "paused"):
        return one
    if on:
        return await change(ctx, one, "paused", status="paused")
    by_day = replace(one, rule=keep_to_day(one.rule, one.start_at, OFTEN))
    following = following_occurrence(by_day)  # refuses a rule that can't be read
    if following is None or by_day.rule == one.rule:
        return await change(ctx, one, "resumed", status="active", **ahead(one))
    at = following.isoformat()
    return await change(ctx, one, "resumed", status="active", rule=by_day.rule, next_at=at, occurrence=None)


@operation("chat", "http")
async def delete(ctx: CommandContext, reminder_id: int, on: bool = True) -> Reminder:
    """Deletes a reminder, or restores it. Raises `Conflict` if its time passed too long ago to be sent late."""
    one = await own_reminder(ctx, reminder_id)
    if on == (one.status == "deleted"):
        return one
    if on:
        return await change(ctx, one, "deleted", status="deleted")
    return await change(ctx, one, "restored", **ahead(one))


async def undo(ctx: CommandContext, reminder_id: int, on: bool = True) -> tuple[Reminder, Reminder | None]:
    """Deletes a reminder that was just set, or restores it. If it was set in place of the one for an event's former
    date, that comes back, or goes again. Returns both."""
    former = await ctx.store.former_reminder(reminder_id)
    now = await delete(ctx, reminder_id, on)
    return now, former and await delete(ctx, former.id, not on)


async def accept(ctx: CommandContext, reminder_id: int) -> Reminder:
    """Starts a reminder that waits for a tap; one whose time came first, with the next time of its rule. Raises
    `Conflict` if there is none, or its time passed too long ago to be sent late."""
    one = await own_reminder(ctx, reminder_id)
    if one.status == "ended":
        following = following_occurrence(one) if one.rule else None
        at = require_found(following, Conflict(PASSED)).isoformat()
        return await change(ctx, one, "changed", status="active", next_at=at, occurrence=None)
    if one.status != "proposed":
        return one
    return await change(ctx, one, "changed", status="active", **ahead(one))


def ahead(one: Reminder) -> dict[str, object]:
    """Returns the changes that move a reminder whose time has passed to the next time of its rule. If there is none, it
    is sent at once, with the time when it was due. Raises `Conflict` if it would be listed as missed instead."""
    now = datetime.now(UTC)
    if one.next_at is None or one.next_at > now:
        return {}
    following = following_occurrence(one) if one.rule else None
    if following is not None:
        return {"next_at": following.isoformat(), "occurrence": None}
    if now - one.next_at > MISSED:
        raise Conflict(PASSED)
    return {}
