"""Offers a reminder of an upcoming goal or event under the line that says it was learned."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from relay.commands.reminders.dated import PASSED, When, remind_of, reminder_times, same_time
from relay.core.models import Button, Rows
from relay.core.text import shorten
from relay.memory.rows.changes import MemoryChange
from relay.surfaces.chat.changes import acts_on
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import action
from relay.surfaces.chat.reminders.made import made_row
from relay.surfaces.chat.reminders.wording import plain_moment
from relay.surfaces.chat.reply import ButtonReply, button

MOST = 3
"""The most offers under one answer."""
SHOWN = 30
"""The most characters of a goal or event, if there are several."""
OFFERS = ("⏰ Remind me?", "⏰ Move the reminder")
HINTS: dict[When, str] = {"day": "", "eve": "", "hour": " (an hour before)"}


def offer_rows(changes: Sequence[MemoryChange]) -> list[list[Button]]:
    """Returns a button for each upcoming goal or event among the changes."""
    dated = {one.memory_id: one for one in changes if one.happens_at and one.status == "applied"}
    several = len(dated) > 1
    return [
        [button(OFFERS[one.reminded] + f" {shorten(one.content, SHOWN)}" * several, press_offer(one.memory_id))]
        for one in list(dated.values())[:MOST]
    ]


def standing_offers(rows: Rows, changes: Sequence[MemoryChange]) -> list[list[Button]]:
    """Returns a message's rows of buttons without the offers for what was undone or discarded. Pure."""
    over = [one.memory_id for one in changes if one.status not in ("applied", "pending")]
    offers = press_offer, press_time
    return [list(row) for row in rows if not any(acts_on(one, memory, *offers) for one in row for memory in over)]


@action("rf")
async def press_offer(call: ChatContext, memory_id: int) -> ButtonReply:
    """Proposes times for a reminder in place of the offer, unless one of the former date can have the same time."""
    if (when := await same_time(call, memory_id)) is not None:
        return await _remind(call, memory_id, when)
    found = await reminder_times(call, memory_id)
    if not found.times:
        return ButtonReply(PASSED, rows=replace_rows(call, memory_id, []))
    now = datetime.now(UTC)
    rows = [
        [button(f"⏰ {plain_moment(at, call.zone, now)}{HINTS[when]}", press_time(memory_id, when))]
        for when, at in found.times.items()
    ]
    return ButtonReply("When?", rows=replace_rows(call, memory_id, rows), result=found)


@action("rt")
async def press_time(call: ChatContext, memory_id: int, when: When) -> ButtonReply:
    """Makes a reminder of a goal or event at one of the proposed times."""
    return await _remind(call, memory_id, when)


async def _remind(call: ChatContext, memory_id: int, when: When) -> ButtonReply:
    """Makes the reminder, and shows its buttons in place of the times."""
    made = await remind_of(call, memory_id, when)
    at = plain_moment(made.next_at, call.zone, datetime.now(UTC)) if made.next_at else ""
    return ButtonReply(f"I'll remind you: {at}", rows=replace_rows(call, memory_id, [made_row(made)]), result=made)


def replace_rows(call: ChatContext, memory_id: int, by: Sequence[list[Button]]) -> list[list[Button]]:
    """Returns the message's rows of buttons, with `by` in place of those about a memory."""
    rows: list[list[Button]] = []
    placed = False
    for row in call.said.rows:
        if not any(acts_on(one, memory_id, press_offer, press_time) for one in row):
            rows.append(list(row))
        elif not placed:
            placed = True
            rows += by
    return rows
