"""Growth of the soul, with consent: turns proposals on and off, and accepts or dismisses a proposal."""

from __future__ import annotations

from datetime import UTC, datetime

from relay.commands.context import CommandContext
from relay.commands.registry import admins_only
from relay.commands.soul.soul import ActiveSoul, Drafted, check_length, draft_soul
from relay.core.errors import CommandRefused, require_found
from relay.core.frozen import frozen
from relay.core.limits import SOUL_TOKENS
from relay.core.models import Space
from relay.memory.night.growth import NIGHT
from relay.memory.reminders.recurrence import next_clock
from relay.memory.rows.soul import SoulIdea

GONE = "That idea is gone or isn't yours."
DECIDED = "That's already decided."
FADED = "What this idea was based on has changed, so I won't use it."
MOVED = "My soul has changed, so this idea no longer fits. Dismiss it, or write the change yourself with /soul edit."
CHANGED = "My soul has just changed. Tap again to apply the idea to the new version."


@frozen
class GrowthChoice:
    """Whether changes of the soul may be proposed to this admin."""

    on: bool


@frozen
class GrownSoul:
    """The soul with an idea applied, not active."""

    idea: SoulIdea
    active_version: int
    active_text: str
    text: str


@admins_only
async def soul_growth(ctx: CommandContext, on: bool | None = None) -> GrowthChoice:
    """Returns whether changes may be proposed to this admin from their own memory. Sets that first if `on` is given."""
    space = _own(ctx)
    if on is None:
        return GrowthChoice(await ctx.store.growth(space) is not None)
    growth = {
        "user_id": ctx.user_id, "bot_id": ctx.bot_id, "zone": str(ctx.zone),
        "next_at": next_clock(NIGHT, ctx.zone, datetime.now(UTC)).isoformat(),
    }  # fmt: skip
    await ctx.store.set_growth(space, growth if on else None)
    return GrowthChoice(on)


@admins_only
async def grown_soul(ctx: CommandContext, idea_id: int) -> GrownSoul:
    """Returns the soul with an open idea applied. Raises `CommandRefused` if that is no longer possible."""
    idea = require_found(await ctx.store.soul_idea(_own(ctx), idea_id), CommandRefused(GONE))
    if idea.status != "open":
        raise CommandRefused(DECIDED)
    if not idea.stands:
        raise CommandRefused(FADED)
    active = await ctx.store.soul()
    version, before = (active.version, active.text) if active else (0, "")
    text = require_found(idea.applied(before), CommandRefused(MOVED))
    check_length(text, SOUL_TOKENS, "soul")
    return GrownSoul(idea, version, before, text)


@admins_only
async def accept_idea(ctx: CommandContext, idea_id: int) -> ActiveSoul:
    """Activates the soul with an idea applied."""
    grown = await grown_soul(ctx, idea_id)
    now = await ctx.store.settle_idea(
        _own(ctx), idea_id, "accepted", ctx.user_id, ctx.name, grown.text, grown.active_version
    )
    active = await ctx.store.soul()
    if now is None or now.status != "accepted" or active is None:
        raise CommandRefused(CHANGED)
    return ActiveSoul(active.version, active.text, grown.active_version, grown.active_text)


@admins_only
async def draft_idea(ctx: CommandContext, idea_id: int) -> Drafted:
    """Makes a draft of the soul with an idea applied, so that it can be tried."""
    return await draft_soul(ctx, (await grown_soul(ctx, idea_id)).text, "an idea")


@admins_only
async def settle_idea(ctx: CommandContext, idea_id: int, decision: str) -> SoulIdea:
    """Settles an idea as dismissed or edited. It isn't proposed again."""
    found = await ctx.store.settle_idea(_own(ctx), idea_id, decision, ctx.user_id, ctx.name)
    return require_found(found, CommandRefused(GONE))


def _own(ctx: CommandContext) -> Space:
    return Space("private", owner_id=ctx.user_id)
