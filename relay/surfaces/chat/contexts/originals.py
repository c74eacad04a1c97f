"""Renders a session's messages as they were said, in pages."""

from __future__ import annotations

from relay.commands.contexts.library import open_original
from relay.core.text import escape_markdown, shorten
from relay.memory.rows.contexts.library import OriginalMessage
from relay.surfaces.chat.callbacks import Callback, callback
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.contexts.session_buttons import OpenSession
from relay.surfaces.chat.handlers import pressed
from relay.surfaces.chat.reply import ButtonReply, button, step_rows
from relay.surfaces.chat.times import moment

PAGE = 6
SHOWN = 500
"""The most characters of each message."""


@callback("oo")
class OpenOriginal(Callback):
    """Shows a session's messages starting at an offset."""

    session_id: int
    offset: int = 0


@pressed(OpenOriginal)
async def press_original(call: ChatContext, to: OpenOriginal) -> ButtonReply:
    found = await open_original(call, to.session_id, to.offset, PAGE)
    last = min(to.offset + PAGE, found.total)
    lines = [f"**Messages {min(to.offset + 1, last)}–{last} of {found.total}**"]
    lines += [_line(call, one) for one in found.messages]
    rows = step_rows(to.offset, PAGE, found.total, lambda at: OpenOriginal(to.session_id, at), ("‹ Earlier", "Later ›"))
    return ButtonReply(text="\n\n".join(lines), rows=[*rows, [button("‹ Session", OpenSession(to.session_id))]])


def _line(call: ChatContext, one: OriginalMessage) -> str:
    """Quotes a message, with its time and author."""
    who = "me" if one.role == "assistant" else escape_markdown(shorten(one.name or "you", 40))
    return f"**{who}**, {moment(one.at, call.zone)}\n{escape_markdown(shorten(one.text, SHOWN))}"
