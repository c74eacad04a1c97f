"""The line and the buttons under an answer that set a reminder, and the buttons under a sent one."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Literal

from relay.commands.reminders import reminders as commands
from relay.core.models import Button, Rows
from relay.core.text import shorten
from relay.memory.rows.delivery import ToldReminder
from relay.memory.rows.proactive.reminders import Reminder
from relay.surfaces.chat.callbacks import AboutReminder, decode
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import pressed
from relay.surfaces.chat.reminders.reminders import LATER, ask_edit
from relay.surfaces.chat.reminders.wording import plain_moment, show_moment
from relay.surfaces.chat.reply import ButtonReply, button


class MadeReminder(AboutReminder, code="rm"):
    """Undoes, restores, accepts or postpones a reminder under the answer that set it."""

    what: Literal["undo", "back", "yes", "later", "sooner"]


def made_line(one: Reminder, now: datetime) -> str:
    """Describes a reminder in the line under an answer: plain text, in which only moments are links."""
    text = shorten(one.text, 60).replace("](", "] (")
    if one.status == "deleted":
        return f"⏰ Deleted: {text}"
    when = show_moment(one.next_at, one.tzinfo, now) if one.next_at else ""
    waits = "needs your OK" if one.status == "proposed" else ""
    return f"⏰ {', '.join(filter(None, [when, one.repeats, waits]))}: {text}"


def former_line(one: ToldReminder) -> re.Pattern[str]:
    """Returns a pattern for the line as it was, whenever the reminder was due then."""
    texts = "|".join(re.escape(shorten(text, 60)) for text in (*one.said, one.text))
    return re.compile(rf"⏰ (?:(?!⏰)[^\n])*?: (?:{texts})(?= · |$)", re.MULTILINE)


def made_row(one: Reminder) -> list[Button]:
    """Returns the buttons for a reminder under an answer."""
    if one.status == "deleted":
        return [button("⏰ Undo", MadeReminder(one.id, "back"))]
    if one.status == "proposed":
        return [button("⏰ Yes", MadeReminder(one.id, "yes")), button("✖ No", MadeReminder(one.id, "undo"))]
    return [
        button("⏰ Undo", MadeReminder(one.id, "sooner" if commands.is_postponed(one) else "undo")),
        button("✎ Edit", ask_edit(one.id)),
        button(later_label(one), MadeReminder(one.id, "later")),
    ]


def later_label(one: Reminder) -> str:
    """Names the button that postpones a reminder. Once postponed, it shows the new time."""
    if not commands.is_postponed(one) or one.next_at is None:
        return "1 h later"
    return f"💤 {plain_moment(one.next_at, one.tzinfo, datetime.now(UTC))}"


@pressed(MadeReminder)
async def press_made(call: ChatContext, to: MadeReminder) -> ButtonReply:
    """Changes a reminder, and its row of buttons; the line above them is corrected soon after."""
    former = None
    if to.what == "yes":
        now = await commands.accept(call, to.reminder_id)
    elif to.what == "later":
        now = await commands.postpone(call, to.reminder_id, LATER)
    elif to.what == "sooner":
        now = await commands.take_back_postponement(call, to.reminder_id)
    else:
        now, former = await commands.undo(call, to.reminder_id, to.what == "undo")
    ringing = former if former is not None and now.status == "deleted" else now
    when = plain_moment(ringing.next_at, call.zone, datetime.now(UTC)) if ringing.next_at else ""
    toast = "Deleted." if ringing.status == "deleted" else f"I'll remind you: {when}" if when else "It's over."
    rows = [made_row(now) if is_about(row, now.id) else list(row) for row in call.said.rows]
    return ButtonReply(toast, rows=rows, result=now)


def is_about(row: Sequence[Button], reminder_id: int) -> bool:
    """Tests whether a row of buttons is about a reminder."""
    shown = [decode(one.callback_data) for one in row]
    return any(isinstance(one, MadeReminder) and one.reminder_id == reminder_id for one in shown)


class Snooze(AboutReminder, code="rs"):
    """Repeats a reminder later."""

    minutes: Literal[10, 60, 0]


class ReminderDone(AboutReminder, code="rd"):
    """Marks a reminder as done."""


MOST_ROWS = 8
"""The most reminders of one message that have buttons."""


def told_rows(reminders: Sequence[int]) -> tuple[tuple[Button, ...], ...]:
    """Returns the buttons under a message with reminders: a numbered row for each of a few; none for many."""
    if len(reminders) > MOST_ROWS:
        return ()
    if len(reminders) != 1:
        return tuple(
            (
                button(f"{place}: 1 h", Snooze(one, 60)),
                button(f"{place}: tomorrow 9:00", Snooze(one, 0)),
                button(f"{place}: ✓", ReminderDone(one)),
            )
            for place, one in enumerate(reminders, 1)
        )
    [one] = reminders
    snoozes = (
        button("10 min", Snooze(one, 10)), button("1 h", Snooze(one, 60)), button("Tomorrow 9:00", Snooze(one, 0)),
    )  # fmt: skip
    return snoozes, (button("✓ Done", ReminderDone(one)),)


@pressed(Snooze)
async def press_snooze(call: ChatContext, to: Snooze) -> ButtonReply:
    again = await commands.snooze(call, to.reminder_id, to.minutes)
    when = plain_moment(again.next_at, call.zone, datetime.now(UTC)) if again.next_at else ""
    left = without_told(call.said.rows, [again.id])
    place = f"{place_of(call, again.id)}: " if left else ""
    row = [button(f"{place}💤 {when} · ✓ Done", ReminderDone(again.id))]
    return ButtonReply(f"I'll remind you again: {when}", rows=[*left, row], result=again)


@pressed(ReminderDone)
async def press_done(call: ChatContext, to: ReminderDone) -> ButtonReply:
    done = await commands.mark_done(call, to.reminder_id)
    return ButtonReply("Done.", rows=without_told(call.said.rows, [done.id]), result=done)


def without_told(rows: Rows, reminders: Collection[int]) -> list[Sequence[Button]]:
    """Returns the rows of buttons under sent reminders that are about others than these."""
    return [row for row in rows if not any(tells_of(shown, one) for shown in row for one in reminders)]


def place_of(call: ChatContext, reminder_id: int) -> str:
    """Returns the number of a reminder in a message with several."""
    labels = (one.text for row in call.said.rows for one in row if tells_of(one, reminder_id))
    return next(labels, "").partition(":")[0]


def tells_of(one: Button, reminder_id: int) -> bool:
    """Tests whether a button postpones a reminder that was sent, or marks it as done."""
    found = decode(one.callback_data)
    return isinstance(found, Snooze | ReminderDone) and found.reminder_id == reminder_id
