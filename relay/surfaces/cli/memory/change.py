"""Commands that change memories: forget, edit, pin, undo."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from relay.core.errors import CommandRefused, Conflict, SettingsError
from relay.core.program import RELAY
from relay.core.text import pluralize
from relay.surfaces.cli.chat_commands import run_command_line
from relay.surfaces.cli.memory.group import AsJson, find_number, memory, run

if TYPE_CHECKING:
    from relay.commands.memory.controls import ForgottenAll
    from relay.commands.memory.decide import Decided, Decision
    from relay.memory.rows.changes import Changed
    from relay.surfaces.chat.context import ChatContext

DECIDED: dict[Decision, str] = {"undo": "undone", "keep": "applied", "discard": "discarded"}
"""The state of a change after each decision."""
BACK = f"`{RELAY} memory changes` lists the changes, and `{RELAY} memory undo` takes one back."
WAITS = f"It waits for your decision: `{RELAY} memory keep` or discard."


@memory.command()
def forget(
    words: list[str],
    yes: Annotated[
        bool, typer.Option("--yes", help="Forget everything that matches job*. Otherwise, only show it.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Forget a memory by its number or words; job* first shows what matches."""
    run_command_line("forget", " ".join(words), yes, as_json)


@memory.command()
def keep(change: int, as_json: AsJson = False) -> None:
    """Keep a waiting change, by its number."""
    _decide(change, "keep", as_json)


@memory.command()
def discard(change: int, as_json: AsJson = False) -> None:
    """Discard a waiting change, by its number."""
    _decide(change, "discard", as_json)


@memory.command()
def undo(change: int, as_json: AsJson = False) -> None:
    """Undo a change, by its number."""
    _decide(change, "undo", as_json)


def _decide(change: int, decision: Decision, as_json: bool) -> None:
    async def decided(ctx: ChatContext) -> Decided:
        from relay.commands.memory.decide import CHANGED_SINCE, SETTLED, decide

        done = await decide(ctx, change, decision)
        status = next(one.status for one in done.changes if one.id == change)
        if status != DECIDED[decision]:
            raise Conflict({"pending": WAITS, "applied": CHANGED_SINCE}.get(status, SETTLED))
        return done

    def line(_: ChatContext, done: Decided) -> str:
        from relay.surfaces.chat.changes import change_line

        return next(change_line(one) for one in done.changes if one.id == change)

    run(decided, line, as_json)


@memory.command()
def reset(
    number: Annotated[
        int, typer.Option("--yes", help="The number of memories, to confirm that all are forgotten.")
    ] = -1,
    as_json: AsJson = False,
) -> None:
    """Forget everything. Needs --yes with the number of memories."""

    async def forget_all(ctx: ChatContext) -> ForgottenAll:
        from relay.commands.memory.controls import count_for_reset
        from relay.commands.memory.controls import reset as reset_command

        known = await count_for_reset(ctx)
        if not known:
            raise CommandRefused("There is nothing to forget.")
        if number != known:
            how = f"{RELAY} memory reset --yes {known}"
            raise SettingsError(f"Relay knows {pluralize(known, 'memory', 'memories')}. To forget everything: {how}")
        return await reset_command(ctx, known)

    run(
        forget_all,
        lambda ctx, done: f"Forgot {pluralize(done.forgotten, 'memory', 'memories')}. {BACK}",
        as_json,
    )


@memory.command()
def edit(number: int, text: list[str], as_json: AsJson = False) -> None:
    """Replace a memory's wording."""
    _patch(number, as_json, text=" ".join(text))


@memory.command()
def pin(number: int, as_json: AsJson = False) -> None:
    """Put a memory first in every prompt."""
    _patch(number, as_json, pinned=True)


@memory.command()
def unpin(number: int, as_json: AsJson = False) -> None:
    """Unpin a memory."""
    _patch(number, as_json, pinned=False)


@memory.command()
def restore(
    number: int,
    wording: Annotated[int, typer.Option(help="A change's number: restore what it said before.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Bring back a memory that was retired or replaced, or (--wording) what it said before a change."""

    async def restored(ctx: ChatContext) -> Changed:
        from relay.commands.memory.change import restore_memory

        return (await restore_memory(ctx, await find_number(ctx, number), wording or None)).changed

    run(restored, _describe_change, as_json)


@memory.command()
def merge(first: int, second: int, text: list[str], as_json: AsJson = False) -> None:
    """Replace two memories, by their numbers, with one that has this text."""

    async def merged(ctx: ChatContext) -> Changed:
        from relay.commands.memory.change import merge_memories

        ids = [await find_number(ctx, number) for number in (first, second)]
        return (await merge_memories(ctx, ids, " ".join(text))).changed

    run(merged, _describe_change, as_json)


def _patch(number: int, as_json: bool, text: str | None = None, pinned: bool | None = None) -> None:
    async def patched(ctx: ChatContext) -> Changed:
        from relay.commands.memory.change import MemoryPatch, patch_memory

        return (await patch_memory(ctx, await find_number(ctx, number), MemoryPatch(text, pinned))).changed

    run(patched, _describe_change, as_json)


def _describe_change(ctx: ChatContext, done: Changed) -> str:
    from relay.surfaces.chat.changes import change_line

    return "\n".join(map(change_line, done.changes)) or "Nothing to change."
