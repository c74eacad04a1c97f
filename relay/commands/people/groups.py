"""Groups: what the bot answers there, and whose memory is lent to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from relay.commands.context import CommandContext
from relay.commands.registry import admins_only, command
from relay.core.errors import CommandRefused, NotAllowed
from relay.memory.calls.people import EVERYWHERE
from relay.memory.rows.people import GroupPlace

Mode = Literal["all", "addressed", "off"]
"""What is answered: every message of known people, messages addressed to the bot, or none."""
ANSWER_IN_GROUPS = "That is for groups: there it says what I answer. Here I answer everything."
LINK_IN_GROUPS = "That is for groups: there /link lends your own memory to them, for your own messages only."
UNLINK_IN_GROUPS = "That is for groups: there /unlink takes back what /link lent."
ALONE = "You are the only person here, so I use your own memory anyway. Ask again when others have joined."
NOBODY_LENDS = "Nobody lends me their memory here."
TAKEN = "Someone else's memory is already linked to this group."


@dataclass(frozen=True, slots=True)
class Answering:
    """What is answered in a topic, and in the rest of its group."""

    topic: bool
    """It applies to a topic; False: to the whole group."""
    here: str | None
    """all, addressed or off; None: not set."""
    everywhere: str | None


@dataclass(frozen=True, slots=True)
class Lending:
    """Whose memory is lent to a group."""

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
    """Sets what is answered if a mode is given, in the topic or the whole group (`everywhere`). Returns the settings.
    `forum`: the group has topics."""
    if ctx.private:
        raise CommandRefused(ANSWER_IN_GROUPS)
    topic_id = ctx.topic_id if forum or ctx.topic_id else EVERYWHERE
    if mode is not None:
        await ctx.store.set_place(ctx.chat_id, EVERYWHERE if everywhere else topic_id, mode, ctx.user_id)
    place = await ctx.store.place(ctx.chat_id, topic_id)
    return Answering(topic_id != EVERYWHERE, place.answers, place.everywhere)


@command("link", help="share your memory with this group", audience="admin", surfaces=("chat",), places=("group",))
async def find_lending(ctx: CommandContext) -> Lending:
    """Returns whose memory is lent to this group; refuses if a person's own memory is used anyway."""
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
    help="stop sharing your memory with this group",
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


async def take_back(ctx: CommandContext, lender: int) -> Lending:
    """Ends the lender's loan; only they and admins may."""
    if ctx.user_id != lender and not ctx.admin:
        raise NotAllowed
    await ctx.store.unlink(ctx.chat_id, lender)
    return Lending(None)


async def _place(ctx: CommandContext) -> GroupPlace:
    return await ctx.store.place(ctx.chat_id, EVERYWHERE)
