"""The heartbeat: a check every few hours of what has changed."""

from __future__ import annotations

from datetime import UTC, datetime

from relay.commands.context import CommandContext
from relay.commands.registry import command
from relay.core.errors import CommandRefused, NotAllowed, OutOfRange
from relay.memory.rows.proactive.heartbeat import Heartbeat

EVERY_HOURS, FROM_HOUR, TO_HOUR = 4, 8, 21
CHECKLIST_LENGTH = 2_000
HOW = "For example: /heartbeat on every 4h 8-21"


@command("heartbeat", usage="[on [every 4h] [8-21]|off|edit]", help="look at what's new every few hours")
async def heartbeat(ctx: CommandContext) -> Heartbeat | None:
    """Returns this person's heartbeat; None: it was never on. Raises `NotAllowed` in a group."""
    require_own(ctx)
    return await ctx.store.heartbeat(ctx.space)


async def set_heartbeat(ctx: CommandContext, every: int, hours: tuple[int, int]) -> Heartbeat:
    """Turns the heartbeat on, with its interval in hours and its hours of the day. Raises `CommandRefused` for
    impossible hours."""
    require_own(ctx)
    if not 1 <= every <= 24:
        raise OutOfRange(f"Choose an interval from 1 to 24 hours. {HOW}")
    if max(hours) > 24:
        raise OutOfRange(f"A day has 24 hours. {HOW}")
    if hours[0] >= hours[1]:
        raise OutOfRange(f"The second hour must be later than the first. {HOW}")
    return await ctx.store.set_heartbeat(
        ctx.space, user_id=ctx.user_id, bot_id=ctx.bot_id, chat_id=ctx.chat_id if ctx.bot_id else ctx.user_id,
        topic_id=ctx.topic_id if ctx.bot_id else 0, every_hours=every, from_hour=hours[0], to_hour=hours[1],
        zone=str(ctx.zone), next_at=datetime.now(UTC).isoformat(), status="on",
    )  # fmt: skip


async def change_heartbeat(ctx: CommandContext, **change: object) -> Heartbeat:
    """Turns the heartbeat off, or changes its checklist. Raises `CommandRefused` if it was never on."""
    require_own(ctx)
    if await ctx.store.heartbeat(ctx.space) is None:
        raise CommandRefused(f"You haven't turned the heartbeat on yet. {HOW}")
    checklist = str(change.get("checklist", ""))
    if len(checklist) > CHECKLIST_LENGTH:
        raise OutOfRange(f"That's {len(checklist)} characters; a checklist can have at most {CHECKLIST_LENGTH}.")
    return await ctx.store.set_heartbeat(ctx.space, **change)


def require_own(ctx: CommandContext) -> None:
    """Raises `NotAllowed` outside of the person's own chat, because a heartbeat is about one person."""
    if ctx.space.kind != "private":
        raise NotAllowed("A heartbeat is private. Turn it on in our own chat.")
