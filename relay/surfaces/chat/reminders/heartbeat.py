"""Renders /heartbeat."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime

from relay.commands.reminders import heartbeat as commands
from relay.core.errors import CommandRefused, OutOfRange
from relay.core.text import escape_markdown
from relay.memory.proactive.heartbeat import LOOKED
from relay.memory.rows.proactive.heartbeat import Heartbeat
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import answers, shows
from relay.surfaces.chat.reminders.wording import plain_moment, say_who_sends
from relay.surfaces.chat.reply import CommandReply, question

OFF = (
    "The heartbeat is off. With `/heartbeat on every 4h 8-21`, I look every few hours at what's new and speak up only "
    "when it matters. If nothing is new, it costs nothing."
)
EVERY = re.compile(r"(?:every )?\b(\d{1,9}) ?h(?:ours?)?\b")
HOURS = re.compile(r"\b(\d{1,9})\s?[-–]\s?(\d{1,9})\b")
CHECKLIST = "checklist"


@shows("heartbeat", private=True)
async def heartbeat(call: ChatContext) -> CommandReply:
    """Turns the heartbeat on or off, asks for its checklist, or shows its state."""
    word, _, rest = call.text.strip().lower().partition(" ")
    if word == "on":
        set_up = reply(call, await commands.set_heartbeat(call, *read_times(rest)))
        return replace(set_up, text=set_up.text + await say_who_sends(call))
    if word == "off" and not rest:
        return reply(call, await commands.change_heartbeat(call, status="off"))
    if word == "edit" and not rest:
        now = await commands.heartbeat(call)
        if now is None:
            raise CommandRefused(f"You haven't turned the heartbeat on yet. {commands.HOW}")
        text = f"{question(CHECKLIST)} – what should I watch for? Now: {escape_markdown(checklist(now))}"
        return CommandReply(text, asks="My open orders, deadlines, …", result=now)
    if word:
        raise OutOfRange(f"I don't know that option. {commands.HOW}, /heartbeat off or /heartbeat edit")
    return reply(call, await commands.heartbeat(call))


@answers(CHECKLIST)
async def hear_checklist(call: ChatContext, _: int) -> CommandReply:
    """Sets a new checklist."""
    return reply(call, await commands.change_heartbeat(call, checklist=call.text.strip()))


def read_times(words: str) -> tuple[int, tuple[int, int]]:
    """Parses `every 4h 8-21` as hours: the interval, and the span of the day. Raises `OutOfRange`."""
    every, hours = EVERY.search(words), HOURS.search(words)
    left = HOURS.sub("", EVERY.sub("", words, 1), 1).strip()
    if left:
        raise OutOfRange(f"I don't know “{left}”. {commands.HOW}")
    return (
        int(every[1]) if every else commands.EVERY_HOURS,
        (int(hours[1]), int(hours[2])) if hours else (commands.FROM_HOUR, commands.TO_HOUR),
    )


def reply(call: ChatContext, now: Heartbeat | None) -> CommandReply:
    """Shows the state of the heartbeat."""
    if now is None or now.status == "off":
        return CommandReply(OFF, result=now)
    lines = [
        f"💓 Every {now.every_hours} h between {now.from_hour}:00 and {now.to_hour}:00 I look at what's new.",
        f"I watch for: {escape_markdown(checklist(now))} (`/heartbeat edit`)",
    ]
    if now.outcome in LOOKED and now.looked_at is not None:
        lines.append(f"I last looked {plain_moment(now.looked_at, call.zone, datetime.now(UTC))}: {now.outcome}.")
    elif now.outcome:
        lines.append(f"I skipped the last look: {now.outcome}.")
    return CommandReply("\n".join(lines), result=now)


def checklist(now: Heartbeat) -> str:
    """Returns the checklist, or its default."""
    return now.checklist or "whatever needs your attention"
