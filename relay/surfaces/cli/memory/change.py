"""Commands that change memories (forget, edit, pin, undo), and memory itself: on, off, paused, off the record."""

from __future__ import annotations

from typing import Annotated

import typer

from relay.commands.memory.access import find_change
from relay.commands.memory.change import MemoryPatch, merge_memories, patch_memory, restore_memory
from relay.commands.memory.controls import ForgottenAll, count_for_reset
from relay.commands.memory.controls import reset as reset_command
from relay.commands.memory.decide import REFUSALS, Decided, Decision, decide
from relay.core.errors import Conflict, DataRefused, NotFound
from relay.core.program import RELAY
from relay.core.text import pluralize
from relay.memory.rows.changes import Changed
from relay.surfaces.chat.changes import change_line
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.cli.chat_commands import chat_command
from relay.surfaces.cli.memory.group import Words, confirm_reset, find_number, memory
from relay.surfaces.cli.owner import Shown, owner_command, parameter
from relay.surfaces.cli.parameters import Number

BACK = f"`{RELAY} memory changes` lists the changes, and `{RELAY} memory undo` takes one back."
UNTIL = parameter("until", Annotated[list[str], typer.Argument(help="2h, 3d, or until 2026-12-24.")])
HOW = parameter("how", Words, None)

ALL = Annotated[bool, typer.Option("--yes", help="Forget everything that matches job*. Otherwise, only show it.")]

memory.command("forget", help="Forget a memory by its number or words; job* first shows what matches.")(
    chat_command("forget", parameter("words", list[str]), parameter("yes", ALL, False))
)


def _add_decision(decision: Decision, about: str) -> None:
    @memory.command(decision, help=f"{about}, by its number.")
    @owner_command()
    async def start(ctx: ChatContext, change: Number) -> Shown:
        done = await _decide(ctx, change, decision)
        return Shown(done, next(change_line(one) for one in done.changes if one.id == change))


_add_decision("keep", "Keep a waiting change")
_add_decision("discard", "Discard a waiting change")
_add_decision("undo", "Undo a change")


async def _decide(ctx: ChatContext, change: int, decision: Decision) -> Decided:
    """Decides about a change. Raises `NotFound`, or `Conflict` if it was decided before or has changed since."""
    try:
        await find_change(ctx, change)
    except (DataRefused, NotFound):  # no change has a number beyond 64 bits
        raise NotFound(f"There is no change {change}. `{RELAY} memory changes` lists them.") from None
    done = await decide(ctx, change, decision)
    if done.outcome != "done":
        raise Conflict(REFUSALS[done.outcome])
    return done


@memory.command()
@owner_command(lambda _, done: f"Forgot {pluralize(done.forgotten, 'memory', 'memories')}. {BACK}")
async def reset(
    ctx: ChatContext,
    number: Annotated[
        int,
        typer.Option("--yes", show_default=False, help="The number of memories, to confirm that all are forgotten."),
    ] = -1,
) -> ForgottenAll:
    """Forget everything. Needs --yes with the number of memories."""
    known = await count_for_reset(ctx)
    how = f"{RELAY} memory reset --yes {known}"
    confirm_reset(known, number, f"That would forget {pluralize(known, 'memory', 'memories')}. To confirm: {how}")
    return await reset_command(ctx, known)


def _describe(_: ChatContext, done: Changed) -> str:
    return "\n".join(map(change_line, done.changes)) or "Nothing to change."


@memory.command()
@owner_command(_describe)
async def edit(ctx: ChatContext, number: Number, text: list[str]) -> Changed:
    """Replace a memory's wording."""
    return await _patch(ctx, number, MemoryPatch(text=" ".join(text)))


@memory.command()
@owner_command(_describe)
async def pin(ctx: ChatContext, number: Number) -> Changed:
    """Put a memory first in every prompt."""
    return await _patch(ctx, number, MemoryPatch(pinned=True))


@memory.command()
@owner_command(_describe)
async def unpin(ctx: ChatContext, number: Number) -> Changed:
    """Unpin a memory."""
    return await _patch(ctx, number, MemoryPatch(pinned=False))


async def _patch(ctx: ChatContext, number: int, patch: MemoryPatch) -> Changed:
    return (await patch_memory(ctx, await find_number(ctx, number), patch)).changed


@memory.command()
@owner_command(_describe)
async def restore(
    ctx: ChatContext,
    number: Number,
    wording: Annotated[
        int, typer.Option(show_default=False, help="A change's number: restore what it said before.")
    ] = 0,
) -> Changed:
    """Bring back a memory that was retired or replaced, or (--wording) what it said before a change."""
    return (await restore_memory(ctx, await find_number(ctx, number), wording or None)).changed


@memory.command()
@owner_command(_describe)
async def merge(ctx: ChatContext, first: Number, second: Number, text: list[str]) -> Changed:
    """Replace two memories, by their numbers, with one that has this text."""
    ids = [await find_number(ctx, number) for number in (first, second)]
    return (await merge_memories(ctx, ids, " ".join(text))).changed


for name, own, about in (
    ("on", [], "Turn memory on: recall and learn again."),
    ("off", [], "Turn memory off: recall nothing and learn nothing."),
    ("pause", [UNTIL], "Pause memory for a while: recall nothing and learn nothing."),
    ("resume", [], "End a pause."),
    ("here", [HOW], "Set whether conversations in the terminal use memory and add to it: ignore, use, quiet or teach."),
):
    memory.command(name, help=about)(chat_command("memory", *own, before=name))
memory.command("private", help="Talk off the record in the terminal from now on; off: end and erase it.")(
    chat_command("private", HOW)
)
