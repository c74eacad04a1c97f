"""Drops versions of a session, and restores them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from relay.commands.context import CommandContext
from relay.commands.contexts.space_settings import show_settings
from relay.commands.contexts.versions import all_versions
from relay.commands.memory.access import require_switch
from relay.commands.registry import operation
from relay.core.errors import Conflict, InUse, NotFound, OutOfRange
from relay.core.frozen import frozen
from relay.memory.rows.contexts.versions import RestoredVersion, Version

MOST_PRUNED = 100
NO_SUCH_VERSION = "There's no such version here, or it's still being made."
NOTHING_DROPPED = "There's nothing to bring back here. It may be back already, or it's too late."


@frozen
class PruningPlan:
    """Versions to prune, and whether to ask first."""

    versions: tuple[Version, ...]
    asks: bool
    active: bool
    """A running conversation uses one of them."""


async def plan_pruning(ctx: CommandContext, session_id: int, versions: Collection[int] | None = None) -> PruningPlan:
    """Plans to drop versions of a session; None: all that aren't being made, of which there may be none. Raises
    `CommandRefused` if none of the given versions exists, or this person may not drop them."""
    await require_switch(ctx)
    listed = await all_versions(ctx, session_id)
    if versions is None:
        chosen = tuple(one for one in listed if one.status != "due")
    else:
        chosen = tuple(one for one in listed if one.id in versions)
        if not chosen:
            raise OutOfRange("Select the versions to prune first.")
    active = any(one.active for one in chosen)
    asks = bool(chosen) and (await show_settings(ctx)).ui.confirm
    return PruningPlan(chosen, active or asks, active)


@operation("chat", "cli", "http")
async def prune(ctx: CommandContext, versions: Sequence[int], force: bool = False) -> tuple[Version, ...]:
    """Drops up to a hundred versions, all or none, and returns them. Raises `NotFound` if one is missing and, without
    `force`, `InUse` if a running conversation uses one. Compositions that hold them keep their text."""
    if not 0 < len(versions) <= MOST_PRUNED:
        raise OutOfRange(f"Which versions? Up to {MOST_PRUNED} can be pruned at once.")
    return await prune_all(ctx, versions, force)


async def prune_all(ctx: CommandContext, versions: Sequence[int], force: bool) -> tuple[Version, ...]:
    """Does the same with any number of versions."""
    await require_switch(ctx)
    done = await ctx.store.prune_versions(ctx.space, versions, force)
    if done.missing:
        raise NotFound(NO_SUCH_VERSION)
    if done.active:
        raise InUse(
            f"In use by a running conversation: {', '.join(done.active)}. Nothing was pruned.",
            [(one.id, one.name, one.active) for one in done.held],
        )
    return done.pruned


@operation("chat", "cli", "http")
async def restore_versions(ctx: CommandContext, version_id: int) -> list[RestoredVersion]:
    """Restores what was pruned together with a version: within ten minutes, or within a day if the night pruned it."""
    await require_switch(ctx)
    found = await ctx.store.restore_versions(ctx.space, version_id)
    if not found:
        raise Conflict(NOTHING_DROPPED)
    return found
