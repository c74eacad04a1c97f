"""The sessions of a conversation."""

from __future__ import annotations

from relay.commands.context import CommandContext
from relay.commands.registry import command
from relay.core.errors import CommandRefused
from relay.core.limits import MAX_OFFSET
from relay.memory.rows.sessions import Session, SessionPage

NO_SUCH_NUMBER = "There is no session with that number. /sessions lists them."


@command("sessions", usage="[number]", help="past conversations in this chat")
async def sessions(ctx: CommandContext, offset: int = 0, limit: int = 100) -> SessionPage:
    """Returns sessions of this conversation, newest first."""
    return await ctx.store.sessions(ctx.space, ctx.chat_id, ctx.topic_id, min(offset, MAX_OFFSET), limit)


async def session_numbered(ctx: CommandContext, number: int) -> Session:
    """Returns a session by its place in the list; 1 is the newest. Raises `CommandRefused` where there is none."""
    page = await sessions(ctx, max(0, number - 1), 1)
    if number < 1 or not page.sessions:
        raise CommandRefused(NO_SUCH_NUMBER)
    return await open_session(ctx, page.sessions[0].id)


async def open_session(ctx: CommandContext, session_id: int) -> Session:
    """Returns a session of this conversation with its summary and its first and last words."""
    found = await ctx.store.session(ctx.space, ctx.chat_id, ctx.topic_id, session_id)
    if found is None:
        raise CommandRefused("That session belongs to another conversation.")
    return found
