"""The library of sessions: their originals, registration, links, and how much is stored."""

from __future__ import annotations

from relay.commands.context import CommandContext
from relay.commands.contexts.composition import check_budget
from relay.commands.contexts.pruning import plan_pruning, prune_all
from relay.commands.history.sessions import NOT_HERE, open_session
from relay.commands.memory.access import require_switch
from relay.commands.registry import operation
from relay.core.errors import NotFound, OutOfRange, require_found
from relay.core.limits import COMPOSED_BUDGET, MAX_OFFSET, REASON_LENGTH
from relay.memory.query_vectors import embed_query
from relay.memory.rows.contexts.library import OriginalPage, StorageStatistics, Suggestion
from relay.memory.rows.sessions import Session

UNASKED_FLOOR = 0.2
"""The share of the words' weight that a session must have to be named unasked, because a weak match is no help."""
NOT_REGISTERED = "That session isn't in the library."


async def open_original(ctx: CommandContext, session_id: int, offset: int = 0, limit: int = 100) -> OriginalPage:
    """Returns a page of a session's messages as they were said, oldest first, and marks the session as used."""
    offset = min(max(0, offset), MAX_OFFSET)
    await ctx.require_sight()
    found = await ctx.store.open_original(ctx.thread, session_id, offset, limit)
    return require_found(found, NotFound(NOT_HERE))


@operation("chat", "cli", "http")
async def register_session(ctx: CommandContext, session_id: int) -> Session:
    """Adds a session to the library. It gets topics if it has none."""
    return await _set_registered(ctx, session_id, True)


@operation("chat", "cli", "http")
async def unregister_session(
    ctx: CommandContext, session_id: int, versions: bool = False, force: bool = False
) -> Session:
    """Removes a session from the library. `versions`: also drop its versions, with `force` even those in use. Raises
    `NotFound` if it isn't there."""
    await require_switch(ctx)
    if (await open_session(ctx, session_id)).registered is None:
        raise NotFound(NOT_REGISTERED)
    plan = await plan_pruning(ctx, session_id) if versions else None
    if plan is not None and plan.versions:
        await prune_all(ctx, [one.id for one in plan.versions], force)
    return await _set_registered(ctx, session_id, False)


@operation("cli", "http")
async def link_session(ctx: CommandContext, session_id: int, reason: str = "") -> Session:
    """Links a session of another conversation of the same space to this one."""
    await require_switch(ctx)
    reason = " ".join(reason.split())[:REASON_LENGTH]
    if not await ctx.store.link_session(ctx.thread, session_id, reason, ctx.user_id):
        raise OutOfRange("Only a session of another conversation in the same memory can be linked. Name it by its id.")
    return await open_session(ctx, session_id)


@operation("cli", "http")
async def unlink_session(ctx: CommandContext, session_id: int) -> None:
    """Removes the link of a session to this conversation."""
    await require_switch(ctx)
    if not await ctx.store.unlink_session(ctx.thread, session_id):
        raise NotFound("That session isn't linked to this conversation.")


@operation("cli", "http")
async def storage_statistics(ctx: CommandContext) -> StorageStatistics:
    """Returns how much this space stores."""
    await ctx.require_sight()
    return await ctx.store.storage_statistics(ctx.space)


async def _set_registered(ctx: CommandContext, session_id: int, on: bool) -> Session:
    await require_switch(ctx)
    require_found(await ctx.store.register_session(ctx.thread, session_id, on), NotFound(NOT_HERE))
    return await open_session(ctx, session_id)


@operation("chat", "cli", "http")
async def suggest(
    ctx: CommandContext, words: str, budget: int = COMPOSED_BUDGET, floor: float | None = None
) -> list[Suggestion]:
    """Returns up to five past sessions that fit the words, best first, each with the version that fits into the rest of
    the budget. `budget`: tokens for all of them together. `floor`: see `UNASKED_FLOOR`."""
    await ctx.require_sight()
    if not words.strip():
        raise OutOfRange("What is it about? Write a few words.")
    check_budget(budget)
    query = await embed_query(ctx.services.embedder, words)
    return await ctx.store.suggest(ctx.thread, {**query.as_json(), "floor": floor}, budget)
