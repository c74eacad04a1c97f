"""Decisions about memory changes (undo, keep, discard): one, a group of candidates, or all pending."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from relay.commands.context import CommandContext
from relay.commands.memory.access import NOT_YOURS, find_place, find_space
from relay.commands.memory.browse import PAGE
from relay.core.errors import NotAllowed
from relay.memory.rows.changes import ChangePage, ChangePlace, MemoryChange
from relay.memory.rows.controls import DecidedWaiting

Decision = Literal["undo", "keep", "discard"]
Outcome = Literal["done", "settled", "changed since"]
"""settled: it was already decided. changed since: the memory has changed again, so this is not undone."""


@dataclass(frozen=True, slots=True)
class TurnChanges:
    """A turn's changes to memory."""

    place: ChangePlace
    changes: tuple[MemoryChange, ...]


@dataclass(frozen=True, slots=True)
class Decided(TurnChanges):
    """The same after a decision about one change."""

    outcome: Outcome


async def turn_changes(ctx: CommandContext, turn_id: int) -> TurnChanges:
    """Returns a turn's changes."""
    place = await find_place(ctx, turn_id=turn_id)
    changes = await ctx.store.changes(turn_id, ctx.user_id, ctx.admin)
    if changes is None:
        raise NotAllowed(NOT_YOURS)
    return TurnChanges(place, tuple(changes))


async def decide(ctx: CommandContext, change_id: int, decision: Decision) -> Decided:
    """Undoes, keeps or discards one change."""
    place = await find_place(ctx, change_id=change_id)
    changes = await ctx.store.decide_change(change_id, ctx.user_id, ctx.admin, decision)
    if changes is None:
        raise NotAllowed(NOT_YOURS)
    status = next((one.status for one in changes if one.id == change_id), "")
    outcome: Outcome = "done"
    if status != {"keep": "applied", "discard": "discarded"}.get(decision, status):
        outcome = "settled"
    elif decision == "undo" and status == "applied":
        outcome = "changed since"
    return Decided(place, tuple(changes), outcome)


async def choose(ctx: CommandContext, change_id: int) -> Decided:
    """Keeps one of several candidates to forget; the others stay in memory."""
    decided = await decide(ctx, change_id, "keep")
    return decided if decided.outcome == "settled" else await _discard_others(ctx, change_id, decided)


async def choose_none(ctx: CommandContext, change_id: int) -> Decided:
    """Forgets none of the candidates."""
    place = await find_place(ctx, change_id=change_id)
    before = await ctx.store.changes(place.turn_id or 0, ctx.user_id, ctx.admin) or []
    decided = await decide(ctx, change_id, "discard")
    if decided.outcome != "settled":
        decided = await _discard_others(ctx, change_id, decided)
    waited = any(one.action == "forget" and one.waits for one in before)
    return Decided(place, decided.changes, "done" if waited else "settled")


async def choose_all(ctx: CommandContext, turn_id: int) -> TurnChanges:
    """Forgets all candidates of a turn."""
    found = await turn_changes(ctx, turn_id)
    changes = found.changes
    for one in changes:
        if one.action == "forget" and one.waits:
            changes = tuple(await ctx.store.decide_change(one.id, ctx.user_id, ctx.admin, "keep") or changes)
    return TurnChanges(found.place, changes)


async def _discard_others(ctx: CommandContext, change_id: int, decided: Decided) -> Decided:
    changes = decided.changes
    forgets = {one.id: one for one in changes if one.action == "forget"}
    if change_id not in forgets:
        return decided
    for other in forgets.values():
        if other.waits:
            changes = tuple(await ctx.store.decide_change(other.id, ctx.user_id, ctx.admin, "discard") or changes)
    return Decided(decided.place, changes, decided.outcome)


async def list_changes(
    ctx: CommandContext, waiting: bool = False, offset: int = 0, limit: int = PAGE, space_id: int | None = None
) -> ChangePage:
    """Returns a page of a space's changes, newest first. `waiting`: only pending ones. `space_id`: None is this space,
    0 one's own."""
    space = ctx.space if space_id is None else await find_space(ctx, space_id)
    return await ctx.store.history(space, waiting, offset, limit, ctx.user_id, ctx.admin)


async def decide_waiting(
    ctx: CommandContext, decision: Literal["keep", "discard"], space_id: int | None = None
) -> DecidedWaiting:
    """Keeps or discards all pending changes that this person may decide, up to 200."""
    space = ctx.space if space_id is None else await find_space(ctx, space_id)
    return await ctx.store.decide_waiting(space, ctx.user_id, ctx.admin, decision)
