"""Changes memories: reword, pin, confirm, forget, restore, merge. SQL decides whether their state allows it."""

from __future__ import annotations

from collections.abc import Sequence

from relay.commands.context import CommandContext
from relay.commands.memory.access import GONE, find_memory, may_edit, may_forget
from relay.commands.registry import operation
from relay.core.errors import Conflict, NotAllowed, NotFound, OutOfRange
from relay.core.frozen import frozen
from relay.core.limits import FACT_LENGTH, FORGOTTEN_AT_ONCE, LEARNING_LENGTH
from relay.core.models import Space
from relay.core.prompt_markup import remove_invisible
from relay.memory.calls.memory.facts import Action
from relay.memory.review.distinction import name_other_days
from relay.memory.rows.changes import Changed
from relay.memory.rows.memories import OpenedMemory

NOT_YOURS = "That's not yours to change."
FORGOTTEN = "Memory #{} is already forgotten."
ONE_SPACE = "These belong to different people or groups, so I can't change them together."


@frozen
class MemoryPatch:
    """The changes of a memory; None: unchanged."""

    text: str | None = None
    pinned: bool | None = None
    confirmed: bool = False
    """The person confirms it."""


@frozen
class PatchedMemory:
    """A memory after one or more changes."""

    memory: OpenedMemory
    changed: Changed


@operation("chat", "cli", "http")
async def patch_memory(ctx: CommandContext, memory_id: int, patch: MemoryPatch) -> PatchedMemory:
    """Rewords, pins, unpins and confirms a memory, all or nothing. Raises `NotFound`, `NotAllowed`, `OutOfRange`, and
    `Conflict` if its state does not allow that."""
    row = await (_find_own if patch.text is None else find_editable)(ctx, memory_id)
    actions: list[Action] = []
    if patch.text is not None:
        text = check_wording(ctx, row, patch.text)
        undated = {"undated": True} if name_other_days(row.content, text) else {}
        actions.append(_act(ctx, row, "edit", content=text, **undated))
    if patch.pinned is not None:
        actions.append(_act(ctx, row, "pin" if patch.pinned else "unpin"))
    if patch.confirmed:
        actions.append(_act(ctx, row, "validate"))
    return await _apply(ctx, row, actions)


@operation("chat", "http")
async def forget_memory(ctx: CommandContext, memory_id: int) -> PatchedMemory:
    """Forgets a memory. Raises `NotFound`, also if it is forgotten, `NotAllowed`, and `Conflict` if it is no longer
    active."""
    row = await _find_own(ctx, memory_id)
    try:
        return await _apply(ctx, row, [_act(ctx, row, "forget", content="")])
    except Conflict:  # not before: a turn that runs again returns what its first try forgot
        if row.status == "forgotten":
            raise NotFound(FORGOTTEN.format(row.number)) from None
        raise


@operation("http")
async def forget_memories(ctx: CommandContext, memory_ids: Sequence[int]) -> Changed:
    """Forgets several memories of one space, all or none. Raises what `forget_memory` does."""
    if not 1 <= len(memory_ids) <= FORGOTTEN_AT_ONCE:
        raise OutOfRange(f"Please name 1 to {FORGOTTEN_AT_ONCE} memories.")
    rows = [await _find_own(ctx, memory_id) for memory_id in dict.fromkeys(memory_ids)]
    for row in rows:
        if row.status == "forgotten":
            raise NotFound(FORGOTTEN.format(row.number))
    _check_one_space(rows)
    return await _change(ctx, rows[0].space, [_act(ctx, one, "forget", content="") for one in rows])


@operation("chat", "cli", "http")
async def restore_memory(ctx: CommandContext, memory_id: int, change_id: int | None = None) -> PatchedMemory:
    """Restores what a memory said before a change, or (None) a memory that was archived, forgotten or replaced. Raises
    `NotFound`, `NotAllowed` and `Conflict`."""
    row = await _find_own(ctx, memory_id)
    wording = {} if change_id is None else {"change_id": change_id}
    return await _apply(ctx, row, [_act(ctx, row, "restore", **wording)])


@operation("cli", "http")
async def merge_memories(ctx: CommandContext, memory_ids: Sequence[int], wording: str) -> PatchedMemory:
    """Replaces two memories about the same with one in a person's words. Raises `NotFound`, `NotAllowed`, `OutOfRange`,
    and `Conflict` if they can't be merged."""
    if len(set(memory_ids)) != 2:
        raise OutOfRange("Name two memories to merge.")
    rows = [await _find_own(ctx, memory_id) for memory_id in memory_ids]
    first, second = rows
    _check_one_space(rows)
    if first.subject_id != second.subject_id or (first.kind == "learning") != (second.kind == "learning"):
        raise Conflict("These are about different things: merge two facts about one person, or two learnings.")
    text = check_wording(ctx, first, wording)
    action = {"action": "merge", "memory_ids": [row.id for row in rows], "content": text}
    changed = await _change(ctx, first.space, [action])
    merged = await ctx.store.open_memory(changed.changes[-1].memory_id, ctx.user_id, ctx.admin)
    return PatchedMemory(merged or first, changed)


async def find_editable(ctx: CommandContext, memory_id: int) -> OpenedMemory:
    """Returns a memory that this person may reword, in any space and from any chat, because the question for the
    wording may be under an answer elsewhere. Raises `NotFound` and `NotAllowed`."""
    row = await ctx.store.open_memory(memory_id, ctx.user_id, ctx.admin)
    if row is None or not await ctx.may_see(row.space):
        raise NotFound(GONE)
    if not may_edit(ctx, row, row.space):
        raise NotAllowed(NOT_YOURS)
    return row


async def _find_own(ctx: CommandContext, memory_id: int) -> OpenedMemory:
    """Returns a memory that this person may forget. Raises `NotFound` and `NotAllowed`."""
    row = await find_memory(ctx, memory_id)
    if not may_forget(ctx, row, row.space):
        raise NotAllowed(NOT_YOURS)
    return row


def _check_one_space(rows: Sequence[OpenedMemory]) -> None:
    if len({row.space_id for row in rows}) > 1:
        raise Conflict(ONE_SPACE)


def _act(ctx: CommandContext, row: OpenedMemory, action: str, **more: object) -> Action:
    return {"action": action, "memory_id": row.id, "admin": ctx.admin, **more}


async def _apply(ctx: CommandContext, row: OpenedMemory, actions: Sequence[Action]) -> PatchedMemory:
    changed = await _change(ctx, row.space, actions)
    stands = changed.changes[0].memory_id if changed.changes else row.id  # another memory says the same already
    return PatchedMemory(await ctx.store.open_memory(stands, ctx.user_id, ctx.admin) or row, changed)


async def _change(ctx: CommandContext, space: Space, actions: Sequence[Action]) -> Changed:
    """Applies actions together, all or none. Raises `Conflict` if the state of a memory does not allow one."""
    changed = await ctx.store.change_memory(ctx.turn, space, actions)
    for failure in changed.failed:
        raise Conflict(f"That can't be done: {failure.failed}.")
    return changed


def check_wording(ctx: CommandContext, row: OpenedMemory, wording: str) -> str:
    """Returns a person's wording of a memory, cleaned. Raises `NotAllowed` if they may not reword it, `OutOfRange` for
    its length."""
    if not may_edit(ctx, row, row.space):
        raise NotAllowed(NOT_YOURS)
    text = clean_wording(wording, row.kind)
    what, longest = ("learning", LEARNING_LENGTH) if row.kind == "learning" else ("fact", FACT_LENGTH)
    length = len(text) if remove_invisible(text).strip() else 0
    if not 0 < length <= longest:
        raise OutOfRange(f"That's {length} characters; a {what} can have 1 to {longest}.")
    return text


def clean_wording(text: str, kind: str) -> str:
    """Returns a cleaned wording: a fact on one line, a learning with its line breaks."""
    if kind != "learning":
        return " ".join(text.split())
    return "\n".join(line.rstrip() for line in text.strip().splitlines())
