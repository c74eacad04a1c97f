"""Changes of memory: listed, undone, kept, discarded."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path
from pydantic import Field

from relay.commands.context import CommandContext
from relay.commands.memory import decide as commands
from relay.commands.memory.access import find_change
from relay.core.errors import Conflict
from relay.core.limits import FORGOTTEN_AT_ONCE
from relay.memory.rows.changes import ChangePage
from relay.surfaces.http.api.paging import Page, Space, extended
from relay.surfaces.http.caller import Reading, Writing, WritingRoute
from relay.surfaces.http.wire import GivenId, WireInput, WireModel, wire

listing = APIRouter(prefix="/memories", tags=["changes"])
router = APIRouter(prefix="/changes", tags=["changes"], route_class=WritingRoute)
ChangeId = Annotated[GivenId, Path(alias="changeId")]


class Several(WireInput):
    """Changes, and what to do with them."""

    ids: Annotated[list[GivenId], Field(min_length=1, max_length=FORGOTTEN_AT_ONCE)]
    decision: commands.Decision


class Decisions(WireModel):
    """How many changes were decided; others were decided before or have changed since."""

    decided: int


@listing.get("/changes", response_model=extended("Changes", "A page of changes.", ChangePage))
async def list_all(ctx: Reading, page: Page, state: Literal["all", "pending"] = "all", space: Space = 0) -> Any:
    """Lists what changed in memory, newest first. `pending`: only what waits to be kept or discarded."""
    waiting = state == "pending"
    found = await commands.list_changes(ctx, waiting, page.offset, page.limit, space)
    return page.extend("changes", found, found.pending if waiting else found.total)


@router.post("/decide", response_model=Decisions)
async def decide_all(ctx: Writing, several: Several) -> Any:
    """Decides about several changes."""
    return {"decided": await commands.decide_several(ctx, several.ids, several.decision)}


@router.post("/{changeId}/undo", response_model=wire(commands.Decided))
async def undo(ctx: Writing, change_id: ChangeId) -> commands.Decided:
    """Undoes a change."""
    return await require_done(ctx, change_id, "undo")


@router.post("/{changeId}/keep", response_model=wire(commands.Decided))
async def keep(ctx: Writing, change_id: ChangeId) -> commands.Decided:
    """Keeps a change that waits."""
    return await require_done(ctx, change_id, "keep")


@router.post("/{changeId}/discard", response_model=wire(commands.Decided))
async def discard(ctx: Writing, change_id: ChangeId) -> commands.Decided:
    """Discards a change that waits."""
    return await require_done(ctx, change_id, "discard")


async def require_done(ctx: CommandContext, change_id: int, decision: commands.Decision) -> commands.Decided:
    """Decides about a change. Raises `NotFound` if the person may not see it, and `Conflict` if it was decided
    differently, if the memory has changed since, or if the change is pending and can't be undone."""
    await find_change(ctx, change_id)
    decided = await commands.decide(ctx, change_id, decision)
    if decided.outcome != "done":
        raise Conflict(commands.REFUSALS[decided.outcome])
    return decided
