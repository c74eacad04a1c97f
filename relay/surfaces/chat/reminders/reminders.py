"""Renders /remind, /reminders and /quiet."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal

from relay.commands.reminders import reminders as commands
from relay.commands.reminders.editing import edit as edit_reminder
from relay.commands.reminders.intents import intents as list_intents
from relay.commands.reminders.intents import make_intent, read_intent
from relay.commands.reminders.quiet import quiet as hold_back
from relay.core.errors import OutOfRange
from relay.core.limits import OPEN_REMINDERS
from relay.core.models import Button, File
from relay.core.text import escape_lines, escape_markdown, pluralize, shorten
from relay.memory.rows.proactive.reminders import OpenedReminder, Reminder
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import action, answers, shows
from relay.surfaces.chat.people.bot_rights import administers
from relay.surfaces.chat.reminders import intents
from relay.surfaces.chat.reminders.wording import plain_moment, say_repeats, say_who_sends, show_moment
from relay.surfaces.chat.reply import ButtonReply, CommandReply, button, question, step_rows

PAGE = 6
HOW = "Write, for example: /remind tomorrow 9:00 call the dentist"
EVENTS = {
    "made": "made", "changed": "changed", "fired": "sent", "snoozed": "snoozed", "done": "done", "missed": "missed",
    "failed": "couldn't be delivered", "looked": "looked", "paused": "paused", "resumed": "resumed",
    "deleted": "deleted", "restored": "restored",
}  # fmt: skip
LATER = 60
"""Minutes by which a button postpones a reminder."""
EDITED = "reminder"
"""The word of the question that asks for another text or time."""


@shows("remind")
async def remind(call: ChatContext) -> CommandReply:
    """Makes a reminder for a time, or for when something is mentioned."""
    if (wanted := read_intent(call.text)) is not None:
        made_intent = await make_intent(call, *wanted)
        return CommandReply(intents.describe(made_intent), rows=intents.rows_of(made_intent), result=made_intent)
    made = await commands.remind(call, call.text)
    text = describe(call, made) + await say_who_sends(call, "reminds you")
    return CommandReply(text, rows=[made_row(made)], result=made)


@shows("reminders")
async def reminders(call: ChatContext) -> CommandReply:
    """Lists the upcoming reminders, or sends them as a calendar file."""
    word = call.text.strip().lower()
    if word in ("ics", "ical", "calendar"):
        made = await commands.calendar(call)
        text = f"📅 {pluralize(made.events, 'reminder')} as a calendar file. Open it to import into your calendar."
        return CommandReply(text, file=File(made.name, made.text.encode()), result=made)
    if word:
        raise OutOfRange("/reminders lists them all, and /reminders ics sends them as a calendar file.")
    return await page(call, 0)


@shows("quiet")
async def quiet(call: ChatContext) -> CommandReply:
    """Holds back all messages that the bot sends unasked."""
    asks = call.space.kind == "group" and bool(call.text.strip())
    now = await hold_back(call, call.text, asks and await administers(call.messenger, call.chat_id, call.user_id))
    return CommandReply(say_quiet(call, now.until), result=now)


def say_quiet(call: ChatContext, until: datetime | None) -> str:
    """Says whether messages are held back."""
    here, who = (" in this group", "its administrators write") if call.space.kind == "group" else ("", "you write")
    if until is None:
        how = "Its administrators can hold" if here else "You can hold"
        return f"I speak up{here} when something is due. {how} my messages back: `/quiet until 8:00` or `/quiet on`."
    moment = show_moment(until, call.zone, datetime.now(UTC))
    again = f" when {who} `/quiet off`" if until.year > 9000 else f": {moment}"
    return f"🤫 I'm quiet{here}. I'll speak up again{again}. Anything that comes due waits."


@action("rp")
async def turn_page(call: ChatContext, offset: int) -> ButtonReply:
    """Shows the list starting at an offset."""
    return (await page(call, offset)).redraw()


@action("ro")
async def press_reminder(call: ChatContext, reminder_id: int, offset: int) -> ButtonReply:
    """Shows one reminder."""
    return await show(call, reminder_id, offset)


@action("ra")
async def act_on_reminder(
    call: ChatContext, reminder_id: int, what: Literal["pause", "go", "delete", "restore", "accept", "later", "back"]
) -> ButtonReply:
    """Does something to a reminder."""
    if what in ("later", "back"):
        moved = await (
            commands.postpone(call, reminder_id, LATER)
            if what == "later"
            else commands.take_back_postponement(call, reminder_id)
        )
        return ButtonReply(text=describe(call, moved), rows=[made_row(moved)], result=moved)
    if what == "accept":
        await commands.accept(call, reminder_id)
    elif what in ("pause", "go"):
        await commands.pause(call, reminder_id, what == "pause")
    else:
        await commands.delete(call, reminder_id, what == "delete")
    return await show(call, reminder_id)


@action("re")
async def ask_edit(call: ChatContext, reminder_id: int) -> ButtonReply:
    """Asks for another time or text."""
    one = await commands.own_reminder(call, reminder_id)
    text = (
        f"{question(EDITED, one.id)} – reply with a new time, a new text, or both: `friday 9:00`, "
        f"`friday 9:00 {shorten(one.text, 40)}`"
    )
    return ButtonReply(says=CommandReply(text, asks="friday 9:00"))


@answers(EDITED)
async def edit(call: ChatContext, reminder_id: int) -> CommandReply:
    """Changes a reminder as the reply says."""
    changed = await edit_reminder(call, reminder_id, call.text)
    return CommandReply(describe(call, changed), rows=rows_of(changed), result=changed)


async def show(call: ChatContext, reminder_id: int, offset: int = 0) -> ButtonReply:
    """Puts a reminder in place of the message above the button."""
    one = await commands.open_reminder(call, reminder_id)
    lines = [describe(call, one), *history(call, one)]
    return ButtonReply(
        text="\n\n".join(lines), rows=[*rows_of(one), [button("‹ Reminders", turn_page(offset))]], result=one
    )


async def page(call: ChatContext, offset: int) -> CommandReply:
    """Renders a page of the list, with its buttons. A terminal shows all of it: scripts can't turn pages."""
    size = PAGE if call.bot_id else OPEN_REMINDERS
    found = await commands.reminders(call, offset, size)
    quiet_line = [say_quiet(call, found.quiet_until)] if found.quiet_until else []
    mentions = await list_intents(call)
    shown = mentions[offset : offset + size]
    head = f"⏰ **{pluralize(found.total, 'reminder')}**" if found.total else f"You have no upcoming reminders. {HOW}"
    lines = [head if found.reminders or not offset else "There are no more reminders.", *quiet_line]
    numbered = list(enumerate(found.reminders, offset + 1))
    lines += [f"**{number}** · {line(call, one)}" for number, one in numbered]
    rows = [[button(str(number), press_reminder(one.id, offset)) for number, one in numbered]] if numbered else []
    rows += intents.list_rows(shown)
    rows += step_rows(offset, size, max(found.total, len(mentions)), turn_page, ("‹ Sooner", "Later ›"))
    return CommandReply("\n\n".join([*lines, *intents.lines(shown)]), rows=rows, result=found)


def line(call: ChatContext, one: Reminder) -> str:
    """Renders a reminder in the list."""
    states = {"proposed": "needs your OK", "paused": "paused"}
    when = states.get(one.status) or (
        plain_moment(one.next_at, call.zone, datetime.now(UTC)) if one.next_at else "over"
    )
    rule = say_repeats(one, call.zone)
    return f"{escape_markdown(shorten(one.text, 80))}\n{' · '.join(filter(None, [when, rule]))}"


def describe(call: ChatContext, one: Reminder) -> str:
    """Renders a reminder: what, when, how often."""
    text = f"⏰ {escape_lines(one.text)}"
    when = show_moment(one.next_at, call.zone, datetime.now(UTC)) if one.next_at else ""
    if one.status == "deleted":
        return f"~~{text}~~\nDeleted."
    if one.status == "ended" or not when:
        return f"{text}\nIt's over."
    states = {"proposed": "Needs your OK", "paused": "Paused"}
    parts = [states.get(one.status, ""), f"next: {when}" if one.rule else when, say_repeats(one, call.zone)]
    return f"{text}\n" + " · ".join(filter(None, parts))


def history(call: ChatContext, one: OpenedReminder) -> list[str]:
    """Renders the latest events of a reminder."""
    now = datetime.now(UTC)
    lines = []
    for event in one.events[:5]:
        said = EVENTS[event.kind]
        if event.kind == "fired":
            said = "sent" if event.sent else "refused by Telegram" if event.failed else "on its way"
        if event.detail:
            said = f"{said}, {escape_markdown(event.detail)}"
        lines.append(f"{plain_moment(event.at, call.zone, now)}: {said}")
    return ["\n".join(lines)] if lines else []


def made_row(one: Reminder) -> list[Button]:
    """Returns the buttons under a reminder that was just made. Undo takes back the latest step."""
    return [
        button("↩ Undo", act_on_reminder(one.id, "back" if commands.is_postponed(one) else "delete")),
        button("✎ Edit", ask_edit(one.id)),
        button("1 h later", act_on_reminder(one.id, "later")),
    ]


def rows_of(one: Reminder) -> list[list[Button]]:
    """Returns the buttons under a reminder."""
    if one.status == "deleted":
        return [[button("↩ Undo", act_on_reminder(one.id, "restore"))]]
    first = {
        "proposed": [button("✅ Yes", act_on_reminder(one.id, "accept"))],
        "active": [button("⏸ Pause", act_on_reminder(one.id, "pause"))],
        "paused": [button("▶ Resume", act_on_reminder(one.id, "go"))],
    }.get(one.status, [])
    return [[*first, button("✎ Edit", ask_edit(one.id)), button("🗑 Delete", act_on_reminder(one.id, "delete"))]]
