"""Renders /digest."""

from __future__ import annotations

from relay.commands.history.digest import digest as digest_command
from relay.commands.history.digest import digest_now
from relay.memory.sleep.digest import as_markdown
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import shows
from relay.surfaces.chat.reply import CommandReply

HOW = "`/digest on` sends one each night, `/digest off` stops that, `/digest now` shows the last 24 hours."
NOTHING_WORTH_TELLING = "Nothing in the last 24 hours was worth a digest."


@shows("digest")
async def digest(call: ChatContext) -> CommandReply:
    """Turns this space's nightly digest on or off, or shows the last day's now."""
    word = call.text.strip().lower()
    if word == "now":
        written = await digest_now(call)
        text = as_markdown(written.topics) or NOTHING_WORTH_TELLING
        return CommandReply(text, private=call.space.kind == "private", result=written)
    choice = await digest_command(call, {"on": True, "off": False}.get(word))
    if word == "on":
        where = "to our own chat" if choice.own_chat else "here"
        text = f"Each night I'll send a silent digest of the day {where}. On quiet days there won't be one."
    elif word == "off":
        text = "I won't send a digest any more."
    else:
        text = f"{'I send a digest each night' if choice.on else 'The nightly digest is off'}. {HOW}"
    return CommandReply(text, result=choice)
