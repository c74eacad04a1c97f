"""What a person decides about a night's tidying of memory that would take much of it out of use."""

from __future__ import annotations

from relay.commands.context import CommandContext
from relay.commands.memory.access import NOT_YOURS
from relay.core.errors import NotAllowed
from relay.memory.rows.upkeep.nights import Tidied


async def settle_consolidation(ctx: CommandContext, consolidation_id: int, go: bool) -> Tidied | None:
    """Does what a night found, or leaves it. A private space obeys its owner, a group's memory the admins.

    None: it was decided before.
    """
    space = await ctx.store.consolidation(consolidation_id)
    if space is None:
        return None
    if ctx.user_id != space.owner_id if space.kind == "private" else not ctx.admin:
        raise NotAllowed(NOT_YOURS)
    return await ctx.store.settle_consolidation(consolidation_id, go)
