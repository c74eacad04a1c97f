"""The buttons under a reminder that was sent: snooze and done."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Literal

from relay.commands.reminders import reminders as commands
from relay.core.models import Button
from relay.surfaces.chat.callbacks import Callback, callback
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import pressed
from relay.surfaces.chat.reminders.wording import plain_moment
from relay.surfaces.chat.reply import ButtonReply, button


@callback("rs")
class Snooze(Callback):
    """Repeats a reminder later."""

    reminder_id: int
    minutes: Literal[10, 60, 0]


@callback("rd")
class ReminderDone(Callback):
    """Marks a reminder as done."""

    reminder_id: int


def told_rows(reminders: Sequence[int]) -> tuple[tuple[Button, ...], ...]:
    """Returns the buttons under a message with a reminder; none if it has several."""
    if len(reminders) != 1:
        return ()
    [one] = reminders
    snoozes = (
        button("10 min", Snooze(one, 10)), button("1 h", Snooze(one, 60)), button("Tomorrow 9:00", Snooze(one, 0)),
    )  # fmt: skip
    return snoozes, (button("✓ Done", ReminderDone(one)),)


@pressed(Snooze)
async def press_snooze(call: ChatContext, to: Snooze) -> ButtonReply:
    again = await commands.snooze(call, to.reminder_id, to.minutes)
    when = plain_moment(again.next_at, call.zone, datetime.now(UTC)) if again.next_at else ""
    return ButtonReply(
        f"I'll remind you again: {when}", rows=[[button(f"💤 {when} · ✓ Done", ReminderDone(again.id))]], result=again
    )


@pressed(ReminderDone)
async def press_done(call: ChatContext, to: ReminderDone) -> ButtonReply:
    done = await commands.mark_done(call, to.reminder_id)
    return ButtonReply("Done.", rows=[], result=done)
