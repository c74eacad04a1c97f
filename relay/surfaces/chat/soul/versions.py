"""Helpers for texts with versions: souls, personas and summaries."""

from __future__ import annotations

import asyncio
import re

from relay.commands.soul.soul import check_length
from relay.core.errors import CommandRefused
from relay.core.models import File
from relay.core.prompt_markup import estimate_tokens
from relay.core.text import escape_markdown
from relay.memory.rows.soul import Persona, Soul
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.difference import difference
from relay.surfaces.chat.reply import CommandReply
from relay.surfaces.chat.times import moment

ONE_MESSAGE = 3500
"""The most UTF-16 units of a text that fits into one message with its heading."""
CUT = 4000
"""A message of this many characters may be the first part of a text that Telegram split."""


def byline(call: ChatContext, version: Soul | Persona) -> str:
    """Says who wrote a version, and when."""
    names = {call.user_id: "by you · ", None: ""}
    who = names.get(version.author_id, f"by {escape_markdown(version.author or str(version.author_id))} · ")
    return f"{who}{moment(version.created_at, call.zone)}"


def describe_length(text: str, most: int) -> str:
    """Says how long a text is, and its limit."""
    return f"about {estimate_tokens(text):,} of at most {most:,} tokens"


def check_text(call: ChatContext, text: str, limit: int, what: str) -> None:
    """Raises `CommandRefused` for a text that is too long, or may be only the first part of one."""
    check_length(text, limit, what)
    if call.bot_id and len(call.said.text) >= CUT:
        instead = ", or send it as a .md or .txt document" if what == "soul" else ""
        raise CommandRefused(
            "A message that long may be only the first part of your text, so I haven't used it. "
            f"Please make it shorter{instead}."
        )


async def difference_to(before: str, after: str) -> str:
    """Returns the difference as Markdown. It runs in a thread, because long texts take a while."""
    return await asyncio.to_thread(difference, before, after)


def ask_with_text(asked: str, text: str, name: str, asks: str) -> CommandReply:
    """Asks a question with a text to copy: in a code block, or as a document if it is too long for one message."""
    if len(text.encode("utf-16-le")) // 2 > ONE_MESSAGE:
        return CommandReply(f"{asked} It's in this document.", asks=asks, file=File(name, text.encode()))
    fence = "`" * max(3, 1 + max((len(ticks) for ticks in re.findall("`+", text)), default=0))
    return CommandReply(f"{asked} Here it is, to copy:\n{fence}\n{text}\n{fence}", asks=asks)
