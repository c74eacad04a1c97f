"""Shows where a memory came from."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo

from relay.commands.memory.browse import trace_memory
from relay.core.text import escape_markdown, shorten
from relay.memory.rows.memories import MemorySource, OpenedMemory
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import action
from relay.surfaces.chat.links import link_to
from relay.surfaces.chat.memory.places import title_of
from relay.surfaces.chat.memory_buttons import OpenMemory
from relay.surfaces.chat.memory_pages import cut_units
from relay.surfaces.chat.memory_views import View
from relay.surfaces.chat.reply import ButtonReply, CommandReply, button
from relay.surfaces.chat.times import moment

AROUND = 600
"""Characters of a source to quote."""
BY_SOMEBODY = {"forward": "forwarded from ", "bot": "sent through the bot "}
WORDS_OF = {
    "caption": "the caption of a file",
    "reply": "a replied-to file",
    "paid media": "paid media",
    "users shared": "shared people",
}
"""Names of block marks in which other people's words can be; any other mark is its own name."""


@action("mw")
async def show_origin(call: ChatContext, memory_id: int, view: View) -> ButtonReply:
    """Shows where a memory came from."""
    found = await trace_memory(call, memory_id)
    chat_id = found.source.chat_id or 0
    chat = await title_of(call, chat_id) if chat_id < 0 else ""
    return origin(found.memory, found.source, view, call.zone, call.user_id, chat).redraw()


def origin(row: OpenedMemory, source: MemorySource, view: View, zone: tzinfo, viewer: int, chat: str) -> CommandReply:
    """Shows where a memory came from. `chat`: the group's name, if it is known."""
    said, where = source.said, place_of(source, chat)
    lines = [f"**Where #{row.number} is from**", quote(cut_units(row.content, 300))]
    if source.elsewhere:
        lines.append("It comes from another chat, which I don't show here.")
    elif said is not None:
        who = "I" if said.role == "assistant" else name_of(said.user_id, said.name, viewer)
        lines.append(f"{who} said, {moment(said.at, zone)}{where}:")
        lines.append(quote(cut_around(said.text, row.content)) if said.text.strip() else "(no text)")
    elif row.by == "user":
        who = name_of(row.subject_id, row.subject, viewer)
        lines.append(f"{who} told me with /remember, {moment(source.at, zone)}{where}.")
    else:
        lines.append(f"Learned {moment(source.at, zone)}{where}. The original message is gone.")
    if row.tainted and not source.elsewhere:
        lines.append(f"The message included other people's words: {escape_markdown(foreign(source))}.")
    if source.answer is not None and not source.elsewhere:
        lines.append(f"I noted it in my answer of {moment(source.answer.at, zone)}:")
        lines.append(quote(cut_around(source.answer.text, row.content, AROUND // 2)))
    link = link_to(source.posted, source.topic_id)
    if link:
        lines.append(f"[Go to the message]({link})")
    back = [button("‹ Back", OpenMemory(row.id, view))]
    return CommandReply("\n\n".join(line for line in lines if line), rows=[back])


def name_of(user_id: int | None, name: str | None, viewer: int) -> str:
    """Names the author of a message, for the person who asks."""
    return "You" if user_id == viewer else escape_markdown(shorten(name or "Someone", 60))


def place_of(source: MemorySource, chat: str) -> str:
    """Names the chat and topic in which a memory was learned, if they are known."""
    if source.chat_id is None:
        return ""
    if source.chat_id == 0:
        return " in the terminal"
    group = escape_markdown(f"“{shorten(chat, 60)}”") if chat else "a group"
    topic = escape_markdown(f"“{shorten(source.topic, 60)}”") if source.topic and source.topic_id else ""
    where = " in our private chat" if source.chat_id > 0 else f" in {group}"
    return where + (f", topic {topic}" if topic else "")


def foreign(source: MemorySource) -> str:
    """Lists the other people's words that a turn read."""
    parts = source.said.foreign if source.said else ()
    found = []
    for part in parts:
        kind = str(part.kind or "text").replace("_", " ")
        by = f" by {part.author}" if part.author else ""
        if kind in BY_SOMEBODY:
            found.append(BY_SOMEBODY[kind] + (part.author or "someone"))
        else:
            found.append(WORDS_OF.get(kind, f"a {kind}") + by)
    if any(str(tool).startswith("web_") for tool in source.tools or []):
        found.append("web pages that I read")
    replied = source.reply_to
    if replied and not replied.own:
        found.append(f"a message by {replied.by or 'someone'} that was replied to")
    return cut_units("; ".join(dict.fromkeys(found)), 200) or "earlier in that conversation"


def cut_around(text: str, about: str, length: int = AROUND) -> str:
    """Returns the part of a text around the longest word that it shares with another."""
    if len(text) <= length:
        return text
    lower = text.lower()
    words: Sequence[str] = sorted(about.lower().split(), key=len, reverse=True)
    found = next((at for word in words if len(word) > 3 and (at := lower.find(word)) >= 0), 0)
    start = max(0, min(found - length // 3, len(text) - length))
    end = start + length
    return ("…" if start else "") + text[start:end].strip() + ("…" if end < len(text) else "")


def quote(text: str) -> str:
    """Quotes a text verbatim in Markdown, line by line."""
    lines = [line for line in (" ".join(line.split()) for line in text.splitlines()) if line]
    # The first character is a reference, so that the line does not become a list, rule or heading.
    return "\n".join(f"> &#{ord(line[0])};{' ' * (line[1:2] == ' ')}{escape_markdown(line[1:])}" for line in lines)
