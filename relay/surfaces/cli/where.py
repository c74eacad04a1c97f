"""The conversation that a command of the shell is about."""

from __future__ import annotations

from dataclasses import replace

from relay.core.errors import DataRefused, NotFound, OutOfRange
from relay.core.frozen import frozen
from relay.core.models import Space, Thread
from relay.surfaces.chat.context import ChatContext


@frozen
class Where:
    """A conversation; by default the one at the terminal."""

    chat: int | None = None
    topic: int = 0


TERMINAL = Where()


async def go_to(ctx: ChatContext, where: Where) -> ChatContext:
    """Returns the context of a conversation. Raises `CommandRefused` if there is none."""
    if where.chat is None:
        if where.topic:
            raise OutOfRange("A topic belongs to a chat. Name the chat, too: --chat <id> --topic <id>.")
        return ctx
    group = where.chat < 0
    space = Space("group", chat_id=where.chat) if group else ctx.space
    own = where.chat == ctx.user_id and not where.topic
    topic = f", topic {where.topic}" if where.topic else ""
    nothing = f"Nothing has been said in the chat {where.chat}{topic} yet."
    try:
        if not own and not (await ctx.store.sessions(Thread(space, where.chat, where.topic), 0, 1)).total:
            raise NotFound(nothing)
    except DataRefused:  # no chat has a number beyond 64 bits
        raise OutOfRange(nothing) from None
    return replace(ctx, space=space, chat_id=where.chat, topic_id=where.topic, private=not group, sees=_see_everything)


async def _see_everything(_: object) -> bool:
    """Lets the person at the shell see everything, since they have the database."""
    return True
