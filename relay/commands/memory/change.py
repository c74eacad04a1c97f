"""Changes one memory: pin, forget, restore, reword."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from relay.commands.context import CommandContext
from relay.commands.memory.access import find_memory, may_edit
from relay.core.errors import CommandRefused, NotAllowed
from relay.core.limits import FACT_LENGTH, LEARNING_LENGTH
from relay.core.models import Space
from relay.memory.rows.changes import Changed
from relay.memory.rows.memories import OpenedMemory

MemoryAction = Literal["pin", "unpin", "forget", "restore"]
NO_EDIT = "This is not yours to change, or it is gone."


@dataclass(frozen=True, slots=True)
class ChangedMemory:
    """A memory after a change."""

    memory: OpenedMemory
    changed: Changed


@dataclass(frozen=True, slots=True)
class EditedMemory:
    """The outcome of rewording."""

    space: Space
    changed: Changed


async def change_memory(
    ctx: CommandContext, memory_id: int, action: MemoryAction, change_id: int | None = None
) -> ChangedMemory:
    """Pins, unpins, forgets or restores a memory. `change_id`: restore what it said before this change."""
    row = await find_memory(ctx, memory_id)
    what: dict[str, object] = {"action": action, "memory_id": row.id}
    if ctx.admin:
        what["admin"] = True
    if action == "forget":
        what["content"] = ""
    if change_id is not None:
        what["change_id"] = change_id
    changed = await ctx.store.change_memory(ctx.turn, row.space, [what])
    return ChangedMemory(await ctx.store.opened(row.id, ctx.user_id, ctx.admin) or row, changed)


async def find_editable(ctx: CommandContext, memory_id: int) -> OpenedMemory:
    """Returns a memory that this person may reword, active or pending, in any space. Raises `NotAllowed`."""
    row = await ctx.store.opened(memory_id, ctx.user_id, ctx.admin)
    if row is None or row.status not in ("active", "pending"):
        raise NotAllowed(NO_EDIT)
    if not may_edit(ctx, row, row.space) or not await ctx.may_see(row.space):
        raise NotAllowed(NO_EDIT)
    return row


async def edit_memory(ctx: CommandContext, memory_id: int, wording: str) -> EditedMemory:
    """Replaces a memory's text with a person's wording."""
    row = await find_editable(ctx, memory_id)
    text = clean_wording(wording, row.kind)
    what, longest = ("learning", LEARNING_LENGTH) if row.kind == "learning" else ("fact", FACT_LENGTH)
    if not text or len(text) > longest:
        raise CommandRefused(
            f"That is {len(text)} characters; a {what} has 1 to {longest}. Reply to my question again."
        )
    action = {"action": "edit", "memory_id": memory_id, "content": text}
    return EditedMemory(row.space, await ctx.store.change_memory(ctx.turn, row.space, [action]))


def clean_wording(text: str, kind: str) -> str:
    """Cleans a wording: a fact on one line, a learning with its line breaks."""
    if kind != "learning":
        return " ".join(text.split())
    return "\n".join(line.rstrip() for line in text.strip().splitlines())
