"""Lists, searches and opens memories, shows their origin, and exports everything in a space to a file."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from relay.commands.context import CommandContext
from relay.commands.memory.access import find_memory, find_space, may_edit, may_forget
from relay.commands.registry import command, operation
from relay.core.errors import DataRefused, NotFound, require_found
from relay.core.frozen import frozen
from relay.core.models import Export, Space
from relay.memory.rows.changes import MemoryPast
from relay.memory.rows.memories import MemoryFilter, MemoryLine, MemoryPage, MemorySource, OpenedMemory

PAGE = 8
"""How many rows a page has."""


@frozen
class ShownMemory:
    """A memory in full."""

    memory: OpenedMemory
    yours: bool
    """This person may change it."""
    editable: bool
    """They may reword it, in its present state."""


@frozen
class MemoryOrigin:
    """A memory and its origin."""

    memory: OpenedMemory
    source: MemorySource


@frozen
class MemoryHistory:
    """A memory and a page of its changes, newest first."""

    memory: OpenedMemory
    past: MemoryPast
    yours: bool
    """This person may change it."""


@command(
    "memory",
    usage="[words, number, changes, waiting, on, off, pause, here or reset]",
    help="what I know about you",
    surfaces=("chat", "cli", "http"),
)
async def list_memories(
    ctx: CommandContext,
    chosen: MemoryFilter | None = None,
    offset: int = 0,
    limit: int = PAGE,
    space_id: int | None = None,
) -> MemoryPage:
    """Returns a page of memories, newest first. `space_id` None: this space; 0: the person's own."""
    await ctx.require_sight()
    space = await find_space(ctx, space_id)
    page = await ctx.store.memories(space, offset, limit, chosen or MemoryFilter())
    rows = (
        replace(row, yours=may_forget(ctx, row, space), editable=_may_reword(ctx, row, space)) for row in page.memories
    )
    return replace(page, memories=tuple(rows))


async def open_number(ctx: CommandContext, number: int) -> ShownMemory:
    """Opens a memory of this space by its visible number. Raises `NotFound`."""
    await ctx.require_sight()
    absent = NotFound(f"There's no memory #{number} here. /memory lists what I know.")
    try:
        memory_id = await ctx.store.find_by_number(ctx.space, number)
    except DataRefused:  # no memory has a number beyond 64 bits
        raise absent from None
    return _show(ctx, require_found(await ctx.store.open_memory(memory_id, ctx.user_id, ctx.admin), absent))


@operation("chat", "http")
async def open_memory(ctx: CommandContext, memory_id: int) -> ShownMemory:
    """Opens a memory by id, in any space."""
    return _show(ctx, await find_memory(ctx, memory_id))


@operation("chat", "cli", "http")
async def trace_memory(ctx: CommandContext, memory_id: int) -> MemoryOrigin:
    """Returns a memory's origin."""
    row = await find_memory(ctx, memory_id)
    source = require_found(await ctx.store.source(row.id), NotFound(f"Memory #{row.number} was erased just now."))
    return MemoryOrigin(row, source)


@operation("chat", "cli", "http")
async def list_past(ctx: CommandContext, memory_id: int, offset: int = 0, limit: int = PAGE) -> MemoryHistory:
    """Returns a page of a memory's changes, newest first."""
    row = await find_memory(ctx, memory_id)
    past = await ctx.store.memory_past(row.id, offset, limit)
    return MemoryHistory(row, past, may_forget(ctx, row, row.space))


def _show(ctx: CommandContext, row: OpenedMemory) -> ShownMemory:
    return ShownMemory(row, may_forget(ctx, row, row.space), _may_reword(ctx, row, row.space))


def _may_reword(ctx: CommandContext, row: MemoryLine, space: Space) -> bool:
    return row.status in ("active", "pending") and may_edit(ctx, row, space)


@command("export", help="what I know and what was said, as a file", surfaces=("chat", "http"))
async def export(ctx: CommandContext, title: str = "") -> Export:
    """Returns this space's export, to be packed later. `title`: the group's name, whose export has nobody's
    preferences, feedback and intents but this person's."""
    await ctx.require_sight()
    require_found(await ctx.store.export_space(ctx.space), NotFound("There's nothing to export yet."))
    whose = ctx.name if ctx.space.kind == "private" else title or "the group"
    name = f"relay-export-{datetime.now(UTC):%Y%m%d}.zip"
    return Export(name, ctx.space, f"What Relay remembers of {whose}", str(ctx.zone), ctx.user_id)
