"""Groups: what the bot answers there, and whose memory is lent to them."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Literal

from relay.commands.context import CommandContext
from relay.commands.registry import admins_only, command, operation
from relay.core.errors import CommandRefused, NotAllowed
from relay.core.frozen import frozen
from relay.core.models import Space
from relay.memory.calls.people import EVERYWHERE
from relay.memory.rows.people import GroupPlace, SpokenGroup

Mode = Literal["all", "addressed", "off"]
"""Which messages are answered: all from known people, those addressed to the bot, or none."""
ANSWER_IN_GROUPS = "That works only in groups, where it sets what I answer. Here I answer everything."
LINK_IN_GROUPS = "That works only in groups, where /link lends your own memory, for your own messages only."
UNLINK_IN_GROUPS = "That works only in groups, where /unlink takes back what /link lent."
ALONE = "You're the only person here, so I use your own memory anyway. Ask again when others have joined."
MOST_LISTED = 20
"""The most groups of a person that are listed. Telegram is asked about the membership in each."""
NOBODY_LENDS = "No one's memory is linked to this group."
TAKEN = "Someone else's memory is already linked to this group."


@frozen
class Answering:
    """The setting of which messages are answered in a topic, and in the rest of its group."""

    topic: bool
    """The setting is for a topic; False: for the whole group."""
    here: str | None
    """all, addressed or off; None: not set."""
    everywhere: str | None


@frozen
class Lending:
    """The loan of a person's memory to a group."""

    lender: int | None


@command(
    "answer",
    usage="[all|addressed|off] [everywhere]",
    help="what I answer in this group or topic",
    audience="admin",
    surfaces=("chat",),
    places=("group",),
)
async def answer(ctx: CommandContext, forum: bool, mode: Mode | None = None, everywhere: bool = False) -> Answering:
    """Sets which messages are answered if a mode is given, in the topic or the whole group (`everywhere`). Returns the
    settings. `forum`: the group has topics."""
    if ctx.private:
        raise CommandRefused(ANSWER_IN_GROUPS)
    topic_id = ctx.topic_id if forum or ctx.topic_id else EVERYWHERE
    if mode is not None:
        await ctx.store.set_place(ctx.chat_id, EVERYWHERE if everywhere else topic_id, mode, ctx.user_id)
    place = await ctx.store.place(ctx.chat_id, topic_id)
    return Answering(topic_id != EVERYWHERE, place.answers, place.everywhere)


@command("link", help="lend your memory to this group", audience="admin", surfaces=("chat",), places=("group",))
async def find_lending(ctx: CommandContext) -> Lending:
    """Returns whose memory is lent to this group. Raises `CommandRefused` if a person's own memory is used anyway."""
    if ctx.private:
        raise CommandRefused(LINK_IN_GROUPS)
    place = await _place(ctx)
    if place.lender is None and ctx.space.kind == "private":
        raise CommandRefused(ALONE)
    return Lending(place.lender)


@admins_only
async def lend(ctx: CommandContext) -> Lending:
    """Lends the person's own memory to this group."""
    if ctx.private:
        raise CommandRefused(LINK_IN_GROUPS)
    if await ctx.store.link(ctx.chat_id, ctx.user_id) != ctx.user_id:
        raise CommandRefused(TAKEN)
    return Lending(ctx.user_id)


@command(
    "unlink",
    help="stop lending your memory to this group",
    audience="admin",
    surfaces=("chat",),
    places=("group",),
)
async def unlink(ctx: CommandContext) -> Lending:
    """Ends the person's loan; an admin may also end someone else's."""
    if ctx.private:
        raise CommandRefused(UNLINK_IN_GROUPS)
    lender = (await _place(ctx)).lender
    if lender is None or not await ctx.store.unlink(ctx.chat_id, lender):
        raise CommandRefused(NOBODY_LENDS)
    return Lending(None)


@operation("http")
async def list_groups(ctx: CommandContext) -> list[SpokenGroup]:
    """Returns the groups whose memory this person may see, the one with the latest message first. Raises `NotAllowed`
    outside of private chats."""
    if not ctx.private:
        raise NotAllowed
    groups = await ctx.store.groups_of(ctx.user_id, MOST_LISTED)
    seen = await asyncio.gather(*(ctx.may_see(Space("group", chat_id=one.chat_id)) for one in groups))
    return [one for one, sees in zip(groups, seen, strict=True) if sees]


async def take_back(ctx: CommandContext, lender: int) -> Lending:
    """Ends the lender's loan; only they and admins may."""
    if ctx.user_id != lender and not ctx.admin:
        raise NotAllowed
    await ctx.store.unlink(ctx.chat_id, lender)
    return Lending(None)


async def _place(ctx: CommandContext) -> GroupPlace:
    """Returns the group's settings. Ends the loan of a lender who is no longer an admin."""
    place = await ctx.store.place(ctx.chat_id, EVERYWHERE)
    if place.lender is None or place.lender in ctx.services.people.admins:
        return place
    await ctx.store.unlink(ctx.chat_id, place.lender)
    return replace(place, lender=None)
