"""Digests: a summary of the day, sent each night on request, or written right now."""

from __future__ import annotations

from dataclasses import dataclass

from relay.commands.context import CommandContext
from relay.commands.registry import ADMINS_ONLY, command
from relay.core.errors import CommandRefused, NotAllowed, RelayError
from relay.memory.rows.upkeep.digest import DigestPlace
from relay.memory.sleep.asking import BatchModel
from relay.memory.sleep.digest import DigestTopic, write_digest

NOT_NOW = "I can't write a digest right now."


@dataclass(frozen=True, slots=True)
class DigestChoice:
    """Whether this space's digest is sent each night."""

    on: bool
    own_chat: bool
    """It goes to the person's own chat, otherwise to the group's."""


@dataclass(frozen=True, slots=True)
class Digest:
    """The last 24 hours; no topics: nothing worth telling."""

    topics: tuple[DigestTopic, ...]


@command("digest", usage="[on|off|now]", help="a summary of the day, every night or right now")
async def digest(ctx: CommandContext, on: bool | None = None) -> DigestChoice:
    """Returns whether this space's digest is sent each night, after setting it where `on` is given.

    A person's digest goes to their own chat; a group's stays in the group, where only admins may set it.
    """
    own = ctx.space.kind == "private"
    if on is None:
        return DigestChoice(await ctx.store.digest_wanted(ctx.space) is not None, own)
    if not own and not ctx.admin:
        raise NotAllowed(ADMINS_ONLY)
    chat_id, topic_id = (ctx.user_id, 0) if own else (ctx.chat_id, ctx.topic_id)
    await ctx.store.want_digest(ctx.space, DigestPlace(ctx.user_id, chat_id, topic_id) if on else None)
    return DigestChoice(on, own)


async def digest_now(ctx: CommandContext) -> Digest:
    """Writes a digest of the last 24 hours. Raises `CommandRefused` where the model can't."""
    summariser = ctx.services.summariser
    model = BatchModel(ctx.store, summariser.gate, summariser.model_name, summariser.results)
    try:
        return Digest(await write_digest(model, await ctx.store.digest_now(ctx.space), ctx.user_id))
    except RelayError as error:
        raise CommandRefused(f"{NOT_NOW} {error}", f"{NOT_NOW} {error.plain}") from error
    except TimeoutError:
        raise CommandRefused(NOT_NOW) from None
