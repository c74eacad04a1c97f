"""Shows digests, and whether they are sent."""

from __future__ import annotations

from relay.commands.history.digest import digest as digest_command
from relay.commands.history.digest import digest_now
from relay.memory.sleep.digest import as_markdown
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import shows
from relay.surfaces.chat.reply import CommandReply

HOW = "`/digest on` sends it each night, `/digest off` ends that, `/digest now` shows the last 24 hours."
NOTHING_WORTH_TELLING = "There was nothing in the last 24 hours that is worth a digest."


@shows("digest")
async def digest(call: ChatContext) -> CommandReply:
    """Turns the nightly digest of this space on or off, or shows the last day's now."""
    word = call.text.strip().lower()
    if word == "now":
        written = await digest_now(call)
        text = as_markdown(written.topics) or NOTHING_WORTH_TELLING
        return CommandReply(text, private=call.space.kind == "private", result=written)
    choice = await digest_command(call, {"on": True, "off": False}.get(word))
    if word == "on":
        where = "to our own chat" if choice.own_chat else "here"
        text = f"Each night I'll silently send {where} what the day brought. A day without anything brings none."
    elif word == "off":
        text = "I won't send a digest any more."
    else:
        text = f"{'I send a digest each night' if choice.on else 'I send no digest'}. {HOW}"
    return CommandReply(text, result=choice)
