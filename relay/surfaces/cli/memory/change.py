"""Commands that change memories: forget, edit, pin, undo."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from relay.core.errors import SettingsError
from relay.core.program import RELAY
from relay.surfaces.cli.chat_commands import run_command_line
from relay.surfaces.cli.memory.door import AsJson, memory, numbered, run

if TYPE_CHECKING:
    from relay.commands.memory.change import MemoryAction
    from relay.commands.memory.controls import ForgottenAll
    from relay.commands.memory.decide import Decision, TurnChanges
    from relay.memory.rows.changes import Changed
    from relay.surfaces.chat.context import ChatContext


@memory.command()
def forget(
    words: list[str],
    yes: Annotated[
        bool, typer.Option("--yes", help="Forget all that fits job*; without it, it is only shown.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Forget a memory by its number or words; job* shows what fits first."""
    run_command_line("forget", " ".join(words), yes, as_json)


@memory.command()
def keep(change: int, as_json: AsJson = False) -> None:
    """Keep what waits, by the change's number."""
    _decide(change, "keep", as_json)


@memory.command()
def discard(change: int, as_json: AsJson = False) -> None:
    """Discard what waits, by the change's number."""
    _decide(change, "discard", as_json)


@memory.command()
def undo(change: int, as_json: AsJson = False) -> None:
    """Undo a change, by its number."""
    _decide(change, "undo", as_json)


def _decide(change: int, decision: Decision, as_json: bool) -> None:
    from relay.commands.memory.decide import decide

    run(lambda ctx: decide(ctx, change, decision), _decided, as_json)


def _decided(ctx: ChatContext, done: TurnChanges) -> str:
    from relay.surfaces.chat.changes import change_line

    return "\n".join(change_line(one) for one in done.changes)


@memory.command()
def reset(
    number: Annotated[int, typer.Option("--yes", help="How many memories there are: that all of them may go.")] = -1,
    as_json: AsJson = False,
) -> None:
    """Forget everything; the number of memories has to be given."""

    async def forget_all(ctx: ChatContext) -> ForgottenAll:
        from relay.commands.memory.controls import count_for_reset
        from relay.commands.memory.controls import reset as reset_command

        known = await count_for_reset(ctx)
        if number != known:
            raise SettingsError(f"There are {known} memories. To forget them all: {RELAY} memory reset --yes {known}")
        return await reset_command(ctx, known)

    run(
        forget_all,
        lambda ctx, done: f"Forgot {done.forgotten}; `{RELAY} memory changes` brings each back.",
        as_json,
    )


@memory.command()
def edit(number: int, text: list[str], as_json: AsJson = False) -> None:
    """Put another wording in place of a memory's."""

    async def edited(ctx: ChatContext) -> Changed:
        from relay.commands.memory.change import edit_memory

        return (await edit_memory(ctx, await numbered(ctx, number), " ".join(text))).changed

    run(edited, _changed, as_json, lambda done: not done.failed)


@memory.command()
def pin(number: int, as_json: AsJson = False) -> None:
    """Let a memory stand first in every prompt."""
    _act(number, "pin", as_json)


@memory.command()
def unpin(number: int, as_json: AsJson = False) -> None:
    """Take the pin out again."""
    _act(number, "unpin", as_json)


@memory.command()
def restore(number: int, as_json: AsJson = False) -> None:
    """Bring a memory back that was put away or replaced."""
    _act(number, "restore", as_json)


def _act(number: int, action: MemoryAction, as_json: bool) -> None:
    async def act(ctx: ChatContext) -> Changed:
        from relay.commands.memory.change import change_memory

        return (await change_memory(ctx, await numbered(ctx, number), action)).changed

    run(act, _changed, as_json, lambda done: not done.failed)


def _changed(ctx: ChatContext, done: Changed) -> str:
    from relay.surfaces.chat.changes import change_line, failure_line

    return "\n".join([*map(change_line, done.changes), *map(failure_line, done.failed)])
