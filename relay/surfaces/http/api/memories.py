"""Memories: what /memory lists and changes."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Query
from pydantic import AwareDatetime, Field

from relay.commands.memory import browse, change
from relay.commands.memory.controls import MemorySwitch, show_controls
from relay.commands.memory.controls import switch as switch_memory
from relay.commands.memory.remember import remember
from relay.core.errors import Conflict
from relay.core.limits import FACT_LENGTH, FORGOTTEN_AT_ONCE, LEARNING_LENGTH
from relay.memory.rows.changes import Changed, MemoryPast
from relay.memory.rows.controls import Controls
from relay.memory.rows.memories import MemoryFilter, MemoryPage
from relay.surfaces.http.api.paging import Page, Space, extended
from relay.surfaces.http.caller import Reading, Writing, WritingRoute
from relay.surfaces.http.wire import ID, Flag, GivenId, GivenTime, WireInput, Yes, up_to, wire

router = APIRouter(prefix="/memories", tags=["memories"], route_class=WritingRoute)
State = Literal["active", "pending", "unconfirmed", "pinned", "past"]
MemoryId = Annotated[GivenId, Path(alias="memoryId")]
KINDS = Literal["fact", "preference", "decision", "event", "person", "goal", "feeling", "learning"]

LENGTHS = f"A learning can have {LEARNING_LENGTH:,} characters, any other memory {FACT_LENGTH}."
Wording = Annotated[str, up_to(LEARNING_LENGTH)]


class NewMemory(WireInput):
    """A fact to remember, in the person's own words."""

    text: Annotated[str, up_to(FACT_LENGTH)]


class MemoryEdit(WireInput):
    """What to change of a memory."""

    text: Annotated[Wording | None, Field(description=LENGTHS)] = None
    pinned: Flag | None = None
    confirmed: Yes | None = None


class MemorySettings(WireInput):
    """Switches to change; missing ones keep their state."""

    on: Flag | None = None
    """true and false both end a pause."""
    paused_until: GivenTime[AwareDatetime] | None = None
    """null: ends a pause."""


class WordingToRestore(WireInput):
    """What to bring back: what the memory said before a change, or (without one) the memory itself."""

    change_id: GivenId | None = None


class Merge(WireInput):
    """Two memories, and the text of the one that replaces them."""

    ids: Annotated[list[GivenId], Field(min_length=2, max_length=2)]
    text: Annotated[Wording, Field(description=LENGTHS)]


class Chosen(WireInput):
    """Memories that were chosen from a list."""

    ids: Annotated[list[GivenId], Field(min_length=1, max_length=FORGOTTEN_AT_ONCE)]


def read_filter(
    q: Annotated[
        str, Query(description="The newest 1,000 that have all of these words, or else that are similar.")
    ] = "",
    kind: KINDS | None = None,
    category: str | None = None,
    state: State = "active",
    subject: Annotated[str | None, Query(alias="subjectId", pattern=f"^{ID}$", description="One of `people`.")] = None,
) -> MemoryFilter:
    """Returns which memories a list has."""
    return MemoryFilter(
        kind=kind,
        category=category,
        subject_id=int(subject) if subject else None,
        words=q or None,
        past=state == "past",
        pending=state == "pending",
        unconfirmed=state == "unconfirmed",
        pinned=state == "pinned",
    )


@router.get("", response_model=extended("Memories", "A page of memories, with the numbers of all of them.", MemoryPage))
async def list_all(
    ctx: Reading, page: Page, chosen: Annotated[MemoryFilter, Depends(read_filter)], space: Space = 0
) -> Any:
    """Lists what is remembered, newest first."""
    found = await browse.list_memories(ctx, chosen, page.offset, page.limit, space)
    return page.extend("memories", found, found.matching)


@router.post("", status_code=201, response_model=wire(change.PatchedMemory))
async def add(ctx: Writing, new: NewMemory) -> change.PatchedMemory:
    """Remembers a fact. 409: nothing is stored off the record, and while memory is off."""
    changed = await remember(ctx, new.text)
    for failure in changed.failed:
        raise Conflict(f"I can't remember that: {failure.failed}.")
    return change.PatchedMemory((await browse.open_memory(ctx, changed.changes[0].memory_id)).memory, changed)


@router.post("/merge", response_model=wire(change.PatchedMemory))
async def merge(ctx: Writing, given: Merge) -> change.PatchedMemory:
    """Replaces two memories with one."""
    return await change.merge_memories(ctx, given.ids, given.text)


@router.post("/forget", response_model=wire(Changed))
async def forget_chosen(ctx: Writing, chosen: Chosen) -> Changed:
    """Forgets several memories of one space, all or none. `POST /api/changes/decide` takes that back."""
    return await change.forget_memories(ctx, chosen.ids)


@router.get("/settings", response_model=wire(Controls))
async def show_settings(ctx: Reading, space: Space = 0) -> Controls:
    """Returns a memory's switches."""
    return await show_controls(ctx, space)


@router.put("/settings", response_model=wire(Controls))
async def switch(ctx: Writing, given: MemorySettings, space: Space = 0) -> Controls:
    """Turns memory on or off, or pauses it: nothing is recalled or learned meanwhile. A group's: for admins."""
    resume = "paused_until" in given.model_fields_set and given.paused_until is None
    return await switch_memory(ctx, MemorySwitch(given.on, given.paused_until, resume), space)


@router.get("/{memoryId}", response_model=wire(browse.ShownMemory))
async def open_one(ctx: Reading, memory_id: MemoryId) -> browse.ShownMemory:
    """Opens a memory."""
    return await browse.open_memory(ctx, memory_id)


@router.patch("/{memoryId}", response_model=wire(change.PatchedMemory))
async def patch(ctx: Writing, memory_id: MemoryId, given: MemoryEdit) -> change.PatchedMemory:
    """Rewords, pins, unpins or confirms a memory."""
    return await change.patch_memory(
        ctx, memory_id, change.MemoryPatch(given.text, given.pinned, bool(given.confirmed))
    )


@router.delete("/{memoryId}", response_model=wire(change.PatchedMemory))
async def forget(ctx: Writing, memory_id: MemoryId) -> change.PatchedMemory:
    """Forgets a memory. `POST /api/changes/{id}/undo` takes that back."""
    return await change.forget_memory(ctx, memory_id)


@router.post("/{memoryId}/restore", response_model=wire(change.PatchedMemory))
async def restore(ctx: Writing, memory_id: MemoryId, given: WordingToRestore) -> change.PatchedMemory:
    """Restores a former wording, or a memory that is no longer used."""
    return await change.restore_memory(ctx, memory_id, given.change_id)


@router.get("/{memoryId}/source", response_model=wire(browse.MemoryOrigin))
async def trace(ctx: Reading, memory_id: MemoryId) -> browse.MemoryOrigin:
    """Shows where a memory came from."""
    return await browse.trace_memory(ctx, memory_id)


@router.get("/{memoryId}/history", response_model=extended("History", "A page of a memory's history.", MemoryPast))
async def history(ctx: Reading, memory_id: MemoryId, page: Page) -> Any:
    """Lists a memory's history, newest first."""
    past = (await browse.list_past(ctx, memory_id, page.offset, page.limit)).past
    return page.extend("changes", past, past.total)
