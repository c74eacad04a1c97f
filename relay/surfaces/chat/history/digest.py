"""Renders /digest."""

from __future__ import annotations

import re
from datetime import time

from relay.commands.history.digest import DigestChoice, digest_now
from relay.commands.history.digest import digest as digest_command
from relay.core.errors import OutOfRange
from relay.memory.night.digest import as_markdown
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import shows
from relay.surfaces.chat.reminders.wording import say_who_sends
from relay.surfaces.chat.reply import CommandReply

HOW = (
    "`/digest on` sends one every night. `/digest at 7:30` sends one every morning, with what's due that day. "
    "`/digest off` stops it, and `/digest now` shows the last 24 hours."
)
FOR_OTHERS = "In this group, my admins set that. `/digest now` shows the last 24 hours."
NOTHING_WORTH_TELLING = "Nothing in the last 24 hours was worth a digest."
CLOCK = re.compile(r"(?:at )?(\d{1,2})(?:[:.](\d{2}))?")


@shows("digest")
async def digest(call: ChatContext) -> CommandReply:
    """Turns this space's digest on or off, sets its time, or shows the last day's now."""
    word = call.text.strip().lower()
    if word == "now":
        written = await digest_now(call)
        text = as_markdown(written.topics, written.put_away) or NOTHING_WORTH_TELLING
        return CommandReply(text, private=call.space.kind == "private", result=written)
    if word in ("on", "off"):
        choice = await digest_command(call, word == "on")
    elif word:
        choice = await digest_command(call, True, read_clock(word))
    else:
        choice = await digest_command(call)
        how = HOW if choice.own_chat or call.admin else FOR_OTHERS
        return CommandReply(f"{standing(choice)} {how}", result=choice)
    who = await say_who_sends(call) if choice.on else ""
    return CommandReply(say_choice(choice) + who, result=choice)


def read_clock(word: str) -> time:
    """Parses `at 7:30` or `7:30`. Raises `OutOfRange` for anything else."""
    found = CLOCK.fullmatch(word)
    if found is None or int(found[1]) > 23 or int(found[2] or 0) > 59:
        raise OutOfRange("Write /digest on, /digest off, /digest now, or a time: /digest at 7:30")
    return time(int(found[1]), int(found[2] or 0))


def say_choice(choice: DigestChoice) -> str:
    """Says what was set."""
    where = "to our own chat" if choice.own_chat else "here"
    if not choice.on:
        return "I won't send digests any more."
    if choice.at is None:
        return f"Every night I'll send a silent digest of the day {where}, unless there's nothing to report."
    return (
        f"Every day at {clock(choice.at)} I'll send a silent digest {where}: what's due that day, and what "
        "happened the day before. I won't send one if there's nothing to report."
    )


def standing(choice: DigestChoice) -> str:
    """Says whether there is a digest, and when."""
    if not choice.on:
        return "The digest is off."
    return f"I send a digest every {'night' if choice.at is None else f'day at {clock(choice.at)}'}."


def clock(at: time) -> str:
    """Formats a time of day: 7:30."""
    return f"{at.hour}:{at:%M}"
