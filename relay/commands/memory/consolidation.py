"""A person's decision about a consolidation that would retire a large part of memory."""

from __future__ import annotations

from relay.commands.context import CommandContext
from relay.commands.memory.access import NOT_YOURS
from relay.core.errors import NotAllowed
from relay.memory.rows.upkeep.night import TidiedCounts


async def settle_consolidation(ctx: CommandContext, consolidation_id: int, go: bool) -> TidiedCounts | None:
    """Applies or rejects a night's plan. In a private space, only its owner may decide; in a group, its admins. None:
    it was already decided."""
    space = await ctx.store.consolidation(consolidation_id)
    if space is None:
        return None
    if ctx.user_id != space.owner_id if space.kind == "private" else not ctx.admin:
        raise NotAllowed(NOT_YOURS)
    return await ctx.store.settle_consolidation(consolidation_id, go)
