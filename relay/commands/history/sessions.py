"""The sessions of a conversation."""

from __future__ import annotations

from relay.commands.context import CommandContext
from relay.commands.registry import command, operation
from relay.core.errors import NotFound, WrongArgument, require_found
from relay.core.limits import MAX_OFFSET
from relay.core.models import Thread
from relay.core.program import RELAY
from relay.core.text import parse_number, pluralize
from relay.memory.rows.sessions import Session, SessionPage

NO_SUCH_NUMBER = "There's no session with that number."
NOT_HERE = "There's no session with that id here."


@command(
    "sessions", usage="[number | settings …]", help="past conversations in this chat", surfaces=("chat", "cli", "http")
)
async def sessions(ctx: CommandContext, offset: int = 0, limit: int = 100) -> SessionPage:
    """Returns a page of this conversation's sessions, newest first."""
    await ctx.require_sight()
    return await ctx.store.sessions(ctx.thread, min(offset, MAX_OFFSET), limit)


async def session_named(ctx: CommandContext, word: str) -> Session:
    """Returns a session by its place in the list, from 1, the newest, or by its id: #12. Raises `NotFound` if there is
    none, `WrongArgument` if the word isn't a number."""
    if word.startswith("#"):
        try:
            return await open_session(ctx, parse_number(word[1:]) or 0)
        except NotFound as error:
            raise NotFound(f"{error} {await say_elsewhere(ctx)}".strip()) from None
    number = parse_number(word)
    page = await sessions(ctx, max(0, (number or 0) - 1), 1)
    if not number or not page.sessions:
        refusal = WrongArgument if number is None else NotFound
        raise refusal(f"{NO_SUCH_NUMBER} {await say_elsewhere(ctx) or '/sessions lists them.'}")
    return await open_session(ctx, page.sessions[0].id)


async def say_elsewhere(ctx: CommandContext) -> str:
    """At a terminal, says how many sessions the person has in their Telegram chat, and how to list them. Otherwise
    empty."""
    await ctx.require_sight()
    if ctx.bot_id or ctx.chat_id:
        return ""
    total = (await ctx.store.sessions(Thread(ctx.space, ctx.user_id, 0), 0, 1)).total
    if not total:
        return ""
    are = "is" if total == 1 else "are"
    return f"There {are} {pluralize(total, 'session')} in your Telegram chat: {RELAY} session list --chat {ctx.user_id}"


@operation("chat", "cli", "http")
async def open_session(ctx: CommandContext, session_id: int) -> Session:
    """Returns a session of this conversation, or one linked to it, with its summary and its first and last words."""
    await ctx.require_sight()
    return require_found(await ctx.store.session(ctx.thread, session_id), NotFound(NOT_HERE))
