"""The sessions of a conversation."""

from __future__ import annotations

from relay.commands.context import CommandContext
from relay.commands.registry import command, operation
from relay.core.errors import NotFound, require_found
from relay.core.limits import MAX_OFFSET
from relay.core.text import parse_number
from relay.memory.rows.sessions import Session, SessionPage

NO_SUCH_NUMBER = "There is no session with that number. /sessions lists them."
NOT_HERE = "There is no session with that id here."


@command(
    "sessions", usage="[number | settings …]", help="past conversations in this chat", surfaces=("chat", "cli", "http")
)
async def sessions(ctx: CommandContext, offset: int = 0, limit: int = 100) -> SessionPage:
    """Returns a page of this conversation's sessions, newest first."""
    await ctx.require_sight()
    return await ctx.store.sessions(ctx.space, ctx.chat_id, ctx.topic_id, min(offset, MAX_OFFSET), limit)


async def session_named(ctx: CommandContext, word: str) -> Session:
    """Returns a session by its place in the list, from 1, the newest, or by its id: #12. Raises `NotFound` if there is
    none."""
    if word.startswith("#"):
        return await open_session(ctx, parse_number(word[1:]) or 0)
    number = parse_number(word) or 0
    page = await sessions(ctx, max(0, number - 1), 1)
    if number < 1 or not page.sessions:
        raise NotFound(NO_SUCH_NUMBER)
    return await open_session(ctx, page.sessions[0].id)


@operation("chat", "cli", "http")
async def open_session(ctx: CommandContext, session_id: int) -> Session:
    """Returns a session of this conversation, or one linked to it, with its summary and its first and last words."""
    await ctx.require_sight()
    return require_found(await ctx.store.session(ctx.space, ctx.chat_id, ctx.topic_id, session_id), NotFound(NOT_HERE))
