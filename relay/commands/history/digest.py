"""Digests: a summary of the day, sent each night or morning on request, or written right now."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, time

from relay.commands.context import CommandContext
from relay.commands.registry import ADMINS_ONLY, command
from relay.core.errors import CommandRefused, NotAllowed, RelayError
from relay.core.frozen import frozen
from relay.memory.night.asking import BatchModel
from relay.memory.night.digest import DigestTopic, write_digest
from relay.memory.reminders.recurrence import next_clock
from relay.memory.rows.upkeep.digest import DigestPlace, PutAway

NOT_NOW = "I can't write a digest right now."


@frozen
class DigestChoice:
    """Whether and when this space's digest is sent."""

    on: bool
    own_chat: bool
    """It goes to the person's own chat, otherwise to the group's."""
    at: time | None = None
    """The time of each morning; None: at night."""


@frozen
class Digest:
    """The last 24 hours; no topics: there is nothing to report."""

    topics: tuple[DigestTopic, ...]
    put_away: tuple[PutAway, ...]
    """Archived preferences that no nightly digest has reported yet."""


@command("digest", usage="[on|off|now|at 7:30]", help="a summary of the day: every night, every morning, or now")
async def digest(ctx: CommandContext, on: bool | None = None, at: time | None = None) -> DigestChoice:
    """Returns whether and when this space's digest is sent. Sets that first if `on` is given: each night, or each
    morning `at` a time.

    A person's digest goes to their own chat; a group's stays in the group, where only admins may set it.
    """
    own = ctx.space.kind == "private"
    if on is None:
        found = await ctx.store.digest_wanted(ctx.space)
        return DigestChoice(found is not None, own, found.at_time if found else None)
    if not own and not ctx.admin:
        raise NotAllowed(ADMINS_ONLY)
    chat_id, topic_id = (ctx.user_id, 0) if own else (ctx.chat_id, ctx.topic_id)
    place = DigestPlace(ctx.user_id, chat_id, topic_id)
    if at is not None:
        next_at = next_clock(at, ctx.zone, datetime.now(UTC))
        place = replace(place, at_time=at, zone=str(ctx.zone), bot_id=ctx.bot_id, next_at=next_at)
    await ctx.store.want_digest(ctx.space, place if on else None)
    return DigestChoice(on, own, at)


async def digest_now(ctx: CommandContext) -> Digest:
    """Writes a digest of the last 24 hours. Raises `CommandRefused` if the model can't."""
    await ctx.require_sight()
    summariser = ctx.services.summariser
    model = BatchModel(ctx.store, summariser.gate, summariser.model_name)
    try:
        day = await ctx.store.digest_now(ctx.space)
        return Digest(await write_digest(model, day, ctx.user_id), day.put_away)
    except RelayError as error:
        raise CommandRefused(f"{NOT_NOW} {error}", f"{NOT_NOW} {error.plain}") from error
    except TimeoutError:
        raise CommandRefused(NOT_NOW) from None
