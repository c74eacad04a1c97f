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
from relay.surfaces.chat.changes import acts_on
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import action
from relay.surfaces.chat.reminders.reminders import LATER, ask_edit
from relay.surfaces.chat.reminders.wording import plain_moment, show_moment
from relay.surfaces.chat.reply import ButtonReply, button


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
        return [button("⏰ Undo", press_made(one.id, "back"))]
    if one.status == "proposed":
        return [button("⏰ Yes", press_made(one.id, "yes")), button("✖ No", press_made(one.id, "undo"))]
    return [
        button("⏰ Undo", press_made(one.id, "sooner" if commands.is_postponed(one) else "undo")),
        button("✎ Edit", ask_edit(one.id)),
        button(later_label(one), press_made(one.id, "later")),
    ]


def later_label(one: Reminder) -> str:
    """Names the button that postpones a reminder. Once postponed, it shows the new time."""
    if not commands.is_postponed(one) or one.next_at is None:
        return "1 h later"
    return f"💤 {plain_moment(one.next_at, one.tzinfo, datetime.now(UTC))}"


@action("rm")
async def press_made(
    call: ChatContext, reminder_id: int, what: Literal["undo", "back", "yes", "later", "sooner"]
) -> ButtonReply:
    """Undoes, restores, accepts or postpones a reminder under the answer that set it, and changes its row of buttons;
    the line above them is corrected soon after."""
    former = None
    if what == "yes":
        now = await commands.accept(call, reminder_id)
    elif what == "later":
        now = await commands.postpone(call, reminder_id, LATER)
    elif what == "sooner":
        now = await commands.take_back_postponement(call, reminder_id)
    else:
        now, former = await commands.undo(call, reminder_id, what == "undo")
    ringing = former if former is not None and now.status == "deleted" else now
    when = plain_moment(ringing.next_at, call.zone, datetime.now(UTC)) if ringing.next_at else ""
    toast = "Deleted." if ringing.status == "deleted" else f"I'll remind you: {when}" if when else "It's over."
    rows = [made_row(now) if is_about(row, now.id) else list(row) for row in call.said.rows]
    return ButtonReply(toast, rows=rows, result=now)


def is_about(row: Sequence[Button], reminder_id: int) -> bool:
    """Tests whether a row of buttons is about a reminder."""
    return any(acts_on(one, reminder_id, press_made) for one in row)


MOST_ROWS = 8
"""The most reminders of one message that have buttons."""


def told_rows(reminders: Sequence[int]) -> tuple[tuple[Button, ...], ...]:
    """Returns the buttons under a message with reminders: a numbered row for each of a few; none for many."""
    if len(reminders) > MOST_ROWS:
        return ()
    if len(reminders) != 1:
        return tuple(
            (
                button(f"{place}: 1 h", press_snooze(one, 60)),
                button(f"{place}: tomorrow 9:00", press_snooze(one, 0)),
                button(f"{place}: ✓", press_done(one)),
            )
            for place, one in enumerate(reminders, 1)
        )
    [one] = reminders
    snoozes = button("10 min", press_snooze(one, 10)), button("1 h", press_snooze(one, 60))
    return (*snoozes, button("Tomorrow 9:00", press_snooze(one, 0))), (button("✓ Done", press_done(one)),)


@action("rs")
async def press_snooze(call: ChatContext, reminder_id: int, minutes: Literal[10, 60, 0]) -> ButtonReply:
    """Repeats a reminder later."""
    again = await commands.snooze(call, reminder_id, minutes)
    when = plain_moment(again.next_at, call.zone, datetime.now(UTC)) if again.next_at else ""
    left = without_told(call.said.rows, [again.id])
    place = f"{place_of(call, again.id)}: " if left else ""
    row = [button(f"{place}💤 {when} · ✓ Done", press_done(again.id))]
    return ButtonReply(f"I'll remind you again: {when}", rows=[*left, row], result=again)


@action("rd")
async def press_done(call: ChatContext, reminder_id: int) -> ButtonReply:
    """Marks a reminder as done."""
    done = await commands.mark_done(call, reminder_id)
    return ButtonReply("Done.", rows=without_told(call.said.rows, [done.id]), result=done)


def without_told(rows: Rows, reminders: Collection[int]) -> list[Sequence[Button]]:
    """Returns the rows of buttons under sent reminders that are about others than these."""
    told = press_snooze, press_done
    return [row for row in rows if not any(acts_on(shown, one, *told) for shown in row for one in reminders)]


def place_of(call: ChatContext, reminder_id: int) -> str:
    """Returns the number of a reminder in a message with several."""
    labels = (one.text for row in call.said.rows for one in row if acts_on(one, reminder_id, press_snooze, press_done))
    return next(labels, "").partition(":")[0]
