"""Decisions about memory changes (undo, keep, discard): one, a group of candidates, or all pending."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from relay.commands.context import CommandContext
from relay.commands.memory.access import NOT_YOURS, find_change, find_place, find_space
from relay.commands.memory.browse import PAGE
from relay.commands.registry import operation
from relay.core.errors import NotAllowed, OutOfRange, require_found
from relay.core.frozen import frozen
from relay.core.limits import FORGOTTEN_AT_ONCE
from relay.memory.rows.changes import ChangePage, ChangePlace, MemoryChange
from relay.memory.rows.controls import DecidedWaiting
from relay.memory.rows.upkeep.night import TidiedCounts

Decision = Literal["undo", "keep", "discard"]
Outcome = Literal["done", "waits", "changed since", "settled"]
"""waits: it is pending, and a pending change can't be undone. changed since: it can't be undone, because the memory has
changed again. settled: it was decided differently."""
DECIDED: dict[Decision, str] = {"undo": "undone", "keep": "applied", "discard": "discarded"}
"""The state of a change after each decision."""
SETTLED = "That's already decided."
REFUSALS: dict[Outcome, str] = {
    "waits": "It waits for your decision: keep or discard it.",
    "changed since": "It has changed again since. Undo the newer change first.",
    "settled": SETTLED,
}
LATEST = 1000
"""How many changes of a memory to look through for one that no turn made."""


@frozen
class TurnChanges:
    """A turn's changes to memory."""

    place: ChangePlace
    changes: tuple[MemoryChange, ...]


@frozen
class Decided(TurnChanges):
    """A turn's changes after a decision about one of them."""

    outcome: Outcome


@frozen
class DecidedInList:
    """A decision about a change in a list, with the updated page of the list."""

    decided: Decided
    page: ChangePage


async def turn_changes(ctx: CommandContext, turn_id: int) -> TurnChanges:
    """Returns a turn's changes."""
    place = await find_place(ctx, turn_id=turn_id)
    changes = require_found(await ctx.store.changes(turn_id, ctx.user_id, ctx.admin), NotAllowed(NOT_YOURS))
    return TurnChanges(place, tuple(changes))


@operation("chat", "cli", "http")
async def decide(ctx: CommandContext, change_id: int, decision: Decision) -> Decided:
    """Undoes, keeps or discards one change."""
    place = await find_place(ctx, change_id=change_id)
    done = await ctx.store.decide_change(change_id, ctx.user_id, ctx.admin, decision)
    changes = require_found(done, NotAllowed(NOT_YOURS))
    if place.turn_id is None and place.memory_id is not None:  # a night, an import, or everything forgotten at once
        past = await ctx.store.memory_past(place.memory_id, 0, LATEST)
        changes = [one for one in past.changes if one.id == change_id]
    status = next((one.status for one in changes if one.id == change_id), "")
    outcome: Outcome = "settled"
    if status == DECIDED[decision]:
        outcome = "done"
    elif status == "pending":
        outcome = "waits"
    elif decision == "undo" and status == "applied":
        outcome = "changed since"
    return Decided(place, tuple(changes), outcome)


@operation("http")
async def decide_several(ctx: CommandContext, change_ids: Sequence[int], decision: Decision) -> int:
    """Decides several changes, newest first, except those that were decided or have changed since. Returns how many it
    decided. Raises `NotFound` and `NotAllowed` before deciding any."""
    if not 1 <= len(change_ids) <= FORGOTTEN_AT_ONCE:
        raise OutOfRange(f"Please name 1 to {FORGOTTEN_AT_ONCE} changes.")
    ordered = sorted(set(change_ids), reverse=True)
    for change_id in ordered:
        await find_change(ctx, change_id)
    outcomes = [(await decide(ctx, change_id, decision)).outcome for change_id in ordered]
    return outcomes.count("done")


async def choose(ctx: CommandContext, change_id: int) -> Decided:
    """Forgets one of several candidates; the others stay in memory."""
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


@operation("chat", "cli", "http")
async def list_changes(
    ctx: CommandContext, waiting: bool = False, offset: int = 0, limit: int = PAGE, space_id: int | None = None
) -> ChangePage:
    """Returns a page of a space's changes, newest first. `waiting`: only pending ones. `space_id` None: this space; 0:
    the person's own."""
    await ctx.require_sight()
    space = await find_space(ctx, space_id)
    return await ctx.store.history(space, waiting, offset, limit, ctx.user_id, ctx.admin)


async def decide_in_list(
    ctx: CommandContext, change_id: int, decision: Decision, waiting: bool, offset: int
) -> DecidedInList:
    """Decides a change in a list of its space's changes. `waiting`: the list has pending ones; `offset`: where its page
    begins."""
    await find_change(ctx, change_id)
    decided = await decide(ctx, change_id, decision)
    page = await ctx.store.history(decided.place.space, waiting, offset, PAGE, ctx.user_id, ctx.admin)
    return DecidedInList(decided, page)


async def decide_waiting(
    ctx: CommandContext, decision: Literal["keep", "discard"], space_id: int | None = None
) -> DecidedWaiting:
    """Keeps or discards all pending changes that this person may decide, up to 200."""
    space = await find_space(ctx, space_id)
    return await ctx.store.decide_waiting(space, ctx.user_id, ctx.admin, decision)


async def settle_consolidation(ctx: CommandContext, consolidation_id: int, go: bool) -> TidiedCounts | None:
    """Applies or rejects a night's plan. In a private space, only its owner may decide; in a group, its admins. None:
    it was already decided."""
    space = await ctx.store.consolidation(consolidation_id)
    if space is None:
        return None
    if ctx.user_id != space.owner_id if space.kind == "private" else not ctx.admin:
        raise NotAllowed(NOT_YOURS)
    return await ctx.store.settle_consolidation(consolidation_id, go)
