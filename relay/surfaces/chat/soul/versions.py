"""What souls, personas and summaries have in common: texts in versions, by somebody, of a bounded length."""

from __future__ import annotations

import asyncio
import re

from relay.commands.soul.limits import check_length
from relay.core.errors import CommandRefused
from relay.core.models import File
from relay.core.prompt_markup import estimate_tokens
from relay.core.text import escape_markdown
from relay.memory.rows.soul import Persona, Soul
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.reply import CommandReply
from relay.surfaces.chat.soul import difference
from relay.surfaces.chat.times import moment

ONE_MESSAGE = 3500
"""UTF-16 units of a text that fits one message together with what is said about it."""
CUT = 4000
"""A message this long (characters) may be the first part of a text that Telegram split."""


def byline(call: ChatContext, version: Soul | Persona) -> str:
    """Who wrote a version, and when."""
    names = {call.user_id: "by you · ", None: ""}
    who = names.get(version.author_id, f"by {escape_markdown(version.author or str(version.author_id))} · ")
    return f"{who}{moment(version.created_at, call.zone)}"


def about(text: str, most: int) -> str:
    """A text's length and its bound, in words."""
    return f"about {estimate_tokens(text)} of at most {most} tokens"


def unfit(call: ChatContext, text: str, most: int, what: str) -> str:
    """Why a text that somebody wrote cannot be taken; empty when it can."""
    tokens = estimate_tokens(text)
    return f"That is about {tokens} tokens; a {what} has at most {most}." if tokens > most else cut_off(call, what)


def check_text(call: ChatContext, text: str, limit: int, what: str) -> None:
    """Raises `CommandRefused` for a text that is too long, or may be only the first part of one."""
    check_length(text, limit, what)
    if line := cut_off(call, what):
        raise CommandRefused(line)


def cut_off(call: ChatContext, what: str) -> str:
    """What is said to a message that may be only the first part of a text; empty for others."""
    if len(call.said.text) < CUT:
        return ""
    return (
        "A message that long may be only the first part of your text, so I have not taken it. "
        f"Please make it shorter{', or send it as a .md or .txt document' if what == 'soul' else ''}."
    )


async def difference_to(before: str, after: str) -> str:
    """The difference as Markdown; made beside the event loop, since long texts take their time."""
    return await asyncio.to_thread(difference.difference, before, after)


def whole(text: str) -> str:
    """A text as Markdown that shows just it."""
    return difference.exact(text)


def to_copy(asked: str, text: str, name: str, asks: str) -> CommandReply:
    """A question with a text to copy: in a code block, or as a document when it is too long for the same message."""
    if len(text.encode("utf-16-le")) // 2 > ONE_MESSAGE:
        return CommandReply(f"{asked} It is in this document.", asks=asks, file=File(name, text.encode()))
    fence = "`" * max(3, 1 + max((len(ticks) for ticks in re.findall("`+", text)), default=0))
    return CommandReply(f"{asked} Here it is, to copy:\n{fence}\n{text}\n{fence}", asks=asks)
