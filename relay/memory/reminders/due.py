"""The messages for due reminders, and the next time of each. Pure.

A reminder that is up to a day late is sent with the time when it was due. Reminders that are later than that are listed
as missed, in one message for each chat. Of a rule's past occurrences, only the last one counts. A chat gets at most
twenty messages an hour; further reminders are combined into one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from relay.core.frozen import frozen
from relay.core.text import escape_lines, escape_markdown, one_line
from relay.memory.reminders.recurrence import BadRule, by_day, last_occurrence, next_occurrence, read_rule
from relay.memory.rows.proactive.reminders import Checked, DueReminder, MovedOn, ReminderMessage, ReminderWork

LATE = timedelta(minutes=2)
MISSED = timedelta(hours=24)
MOST_AN_HOUR = 20
HOLD = timedelta(minutes=10)
"""How long reminders wait after too many messages; then they are combined."""
MOST_ASKED = 3
AGAIN_MINUTES = 60
"""After how many minutes a question is repeated by day, unless the person says otherwise."""
CHECKS_AT_ONCE = 4
"""How many checks run at once; the other due ones follow. Each asks a model up to twice, within one job's time."""


@frozen
class Telling:
    """The messages that are sent now."""

    messages: tuple[ReminderMessage, ...]
    not_before: datetime | None = None
    """No message is sent in this chat before then."""


def first_of(work: ReminderWork) -> ReminderWork:
    """Returns what is delivered first: everything that needs no model, then a few checks at a time."""
    checks = needs_check(work)
    if not checks:
        return work
    plain = [one for one in work.reminders if one not in checks]
    return replace(work, reminders=tuple(plain or checks[:CHECKS_AT_ONCE]))


def needs_check(work: ReminderWork) -> list[DueReminder]:
    """Returns the due reminders about which a model must be asked first."""
    if work.told >= MOST_AN_HOUR:
        return []
    checks = [one for one in work.reminders if one.kind == "check" and one.status == "active" and is_readable(one)]
    return [one for one in checks if not is_missed(one, work.now)]


def tell(work: ReminderWork, checked: Mapping[int, Checked]) -> Telling:
    """Returns the messages that are sent in a chat now. `checked`: the results of the checks, by the reminders' ids."""
    if work.reminders and work.told >= MOST_AN_HOUR:
        return Telling((), work.now + HOLD)
    said: list[ReminderMessage] = []
    silent: list[ReminderMessage] = []
    missed: list[DueReminder] = []
    for one in work.reminders:
        if one.status == "proposed":
            said.append(end_unconfirmed(one, work.now))
        elif not is_readable(one):
            said.append(end_unreadable(one, work.now))
        elif one.asked and one.answered:
            silent.append(ReminderMessage("", (move_on(one, work.now, "done"),)))
        elif is_missed(one, work.now):
            missed.append(one)
        elif one.kind == "check":
            said_of = describe_check(one, work.now, checked[one.id])
            (said if said_of.text else silent).append(said_of)
        else:
            said.append(say(one, work.now))
    if missed:
        said.append(list_missed(missed, work.now))
    room = MOST_AN_HOUR - work.told
    if len(said) > room:
        said = [*said[: room - 1], join(said[room - 1 :])]
    return Telling((*silent, *said))


def is_readable(one: DueReminder) -> bool:
    """Tests whether a reminder's rule is allowed. One that was stored earlier, or imported, may not be."""
    try:
        return not one.rule or bool(read_rule(one.rule, one.start_at))
    except BadRule:
        return False


def end_unreadable(one: DueReminder, now: datetime) -> ReminderMessage:
    """Returns the last message for a reminder whose rule can't be read."""
    why = "I can't read when this repeats, so this was the last time. Set it again: /remind"
    text = f"⏰ {escape_lines(one.text)}\n\n{why}"
    return ReminderMessage(text, (MovedOn(one.id, one.next_at or now, "fired", None, status="ended"),), one.tainted)


def end_unconfirmed(one: DueReminder, now: datetime) -> ReminderMessage:
    """Returns the only message for a reminder whose time comes before the person confirmed it."""
    text = f"⏰ You hadn't confirmed this reminder: {addressed(one)}{was_due(one.next_at or now, now, one)}"
    ended = MovedOn(
        one.id, one.next_at or now, "missed", None, status="ended", detail="it wasn't confirmed", proposed=True
    )
    return ReminderMessage(text, (ended,), one.tainted)


def addressed(one: DueReminder) -> str:
    """Returns a reminder's text (Markdown). In a group it mentions the person who asked for it."""
    text = escape_lines(one.text)
    return f"[{escape_markdown(one.name)}](tg://user?id={one.user_id}): {text}" if one.name else text


def is_missed(one: DueReminder, now: datetime) -> bool:
    """Tests whether a reminder is too late to be sent."""
    return now - due_time(one, now) > MISSED


def describe_check(one: DueReminder, now: datetime, checked: Checked) -> ReminderMessage:
    """Returns the message for the result of a check; without text if there is nothing to say."""
    if checked.text:
        told = f"🔎 {escape_markdown(checked.text)}"
        return ReminderMessage(told, (move_on(one, now, "fired"),), one.tainted or checked.tainted)
    moved = replace(move_on(one, now, "looked"), detail=checked.why)
    if checked.again is not None:
        due = one.occurrence or one.next_at
        moved = replace(moved, next_at=checked.again, occurrence=due, status="active")
    return ReminderMessage("", (moved,))


def due_time(one: DueReminder, now: datetime) -> datetime:
    """Returns the time for which a reminder is sent: the last of a rule's past occurrences. A question that is repeated
    is due at the time of its repetition."""
    due = (None if one.asked else one.occurrence) or one.next_at or now
    if not one.rule:
        return due
    passed = last_occurrence(read_rule(one.rule, one.start_at), one.tzinfo, now)
    return max(due, passed) if passed is not None and one.occurrence is None else due


def say(one: DueReminder, now: datetime) -> ReminderMessage:
    """Returns the message for one reminder."""
    due = due_time(one, now)
    text = f"⏰ {addressed(one)}"
    if one.kind == "ask" and one.asked:
        text = f"⏰ Still open: {addressed(one)}"
    elif one.occurrence is None:
        text += was_due(due, now, one)
    return ReminderMessage(text, (move_on(one, now, "fired"),), one.tainted)


def move_on(one: DueReminder, now: datetime, event: str) -> MovedOn:
    """Returns a reminder's next state after it was sent, answered or missed."""
    due = one.next_at or now
    moved = MovedOn(one.id, due, event, None, status="ended")
    asked = one.asked + 1
    following = None
    if one.rule:
        following = next_occurrence(read_rule(one.rule, one.start_at), one.tzinfo, max(now, one.occurrence or due))
    if event == "fired" and one.kind == "ask" and one.repeat_minutes and asked < MOST_ASKED:
        again = now + timedelta(minutes=one.repeat_minutes)
        again = by_day(again, one.tzinfo) if one.repeat_minutes == AGAIN_MINUTES else again
        if following is None or again < following:
            return replace(moved, next_at=again, occurrence=one.occurrence or due, asked=asked, status="active")
    return replace(moved, next_at=following, status="ended" if following is None else "active")


def list_missed(missed: Sequence[DueReminder], now: datetime) -> ReminderMessage:
    """Returns a message that lists reminders that are too late to be sent."""
    lines = [f"{one_line(addressed(one))} ({when(due_time(one, now), now, one)})" for one in missed]
    text = f"⏰ **Missed in the meantime:**\n{number(lines)}"
    moved = tuple(move_on(one, now, "missed") for one in missed)
    return ReminderMessage(text, moved, any(one.tainted for one in missed))


def join(messages: Sequence[ReminderMessage]) -> ReminderMessage:
    """Combines messages into one."""
    lines = number([line for one in messages for line in lines_of(one)])
    moved = tuple(moved for one in messages for moved in one.moved)
    return ReminderMessage(f"⏰ **Due now:**\n{lines}", moved, any(one.tainted for one in messages))


def lines_of(message: ReminderMessage) -> list[str]:
    """Returns a message as lines of a list, one for each of its reminders."""
    if len(message.moved) == 1:
        return [one_line(message.text.removeprefix("⏰ "))]
    return [line.partition(" ")[2] for line in message.text.splitlines()[1:]]


def number(lines: Sequence[str]) -> str:
    """Numbers lines as the buttons below them do; none if there is only one."""
    return "\n".join(f"{place}. {line}" for place, line in enumerate(lines, 1)) if len(lines) > 1 else lines[0]


def was_due(due: datetime, now: datetime, one: DueReminder) -> str:
    """Says when a reminder was due that comes late; empty for one that comes on time."""
    return f"\n\n(was due {when(due, now, one)})" if now - due > LATE else ""


def when(due: datetime, now: datetime, one: DueReminder) -> str:
    """Formats a past time in the reminder's zone."""
    local = due.astimezone(one.tzinfo)
    if local.date() == now.astimezone(one.tzinfo).date():
        return f"at {local.hour}:{local:%M}"
    return f"{local:%a} {local.day} {local:%b} at {local.hour}:{local:%M}"
