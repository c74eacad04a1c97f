"""Commands that show memories, their changes and their history."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import typer

from relay.core.program import RELAY
from relay.surfaces.cli.chat_commands import run_command_line
from relay.surfaces.cli.memory.group import PAGE, AsJson, Words, find_number, memory, plain, run

if TYPE_CHECKING:
    from relay.commands.memory.browse import MemoryOrigin
    from relay.memory.rows.changes import ChangePage, MemoryPast
    from relay.memory.rows.controls import Controls
    from relay.memory.rows.memories import MemoryPage
    from relay.surfaces.chat.context import ChatContext


@memory.callback()
def everything(context: typer.Context, as_json: AsJson = False) -> None:
    """What I know about you. Add a word or a number to look for it."""
    if context.invoked_subcommand is None:
        _show("", as_json)


@memory.command()
def show(words: Words = None, as_json: AsJson = False) -> None:
    """List memories, all or those with some words, or open one by its number."""
    _show(" ".join(words or []), as_json)


def _show(text: str, as_json: bool) -> None:
    from relay.surfaces.cli.terminal.once import is_attended

    number = text.removeprefix("#")
    if as_json and number.isdecimal():
        run(lambda ctx: _origin(ctx, int(number)), lambda ctx, found: "", as_json)
    elif as_json or not (number.isdecimal() or is_attended()):
        run(lambda ctx: _list(ctx, text), lambda ctx, page: _memories(page), as_json)
    else:
        run_command_line("memory", text, False, False)


async def _origin(ctx: ChatContext, number: int) -> MemoryOrigin:
    from relay.commands.memory.browse import trace_memory

    return await trace_memory(ctx, await find_number(ctx, number))


async def _list(ctx: ChatContext, words: str) -> MemoryPage:
    """Reads all memories, or those that match."""
    from relay.commands.memory.browse import list_memories
    from relay.memory.rows.memories import MemoryFilter

    chosen = MemoryFilter(words=words)
    page = await list_memories(ctx, chosen, limit=PAGE)
    while len(page.memories) < page.matching:
        more = await list_memories(ctx, chosen, len(page.memories), PAGE)
        if not more.memories:
            break
        page = replace(page, memories=page.memories + more.memories)
    return page


def _memories(page: MemoryPage) -> str:
    """Lists memories with their numbers, one per line."""
    if not page.total:
        return "I don't know anything yet."
    if not page.memories:
        return "Nothing here matches that."
    found = [f"#{row.number} {' '.join(row.content.split())}" for row in page.memories]
    return "\n".join([*found, f"{len(found):,} of {page.total:,}. `{RELAY} memory show NUMBER` shows more."])


@memory.command()
def changes(as_json: AsJson = False) -> None:
    """List changes, newest first. `relay memory undo` undoes one."""
    _changes("changes", False, as_json)


@memory.command()
def waiting(as_json: AsJson = False) -> None:
    """List changes that wait for your decision."""
    _changes("waiting", True, as_json)


def _changes(word: str, waiting: bool, as_json: bool) -> None:
    from relay.commands.memory.decide import list_changes
    from relay.surfaces.cli.terminal.once import is_attended

    if as_json or not is_attended():
        run(lambda ctx: list_changes(ctx, waiting, limit=PAGE), partial(_list_changes, waiting), as_json)
    else:
        run_command_line("memory", word, False, False)


def _list_changes(waiting: bool, ctx: ChatContext, page: ChangePage) -> str:
    """Lists changes with their numbers, one per line."""
    from relay.surfaces.chat.changes import change_line
    from relay.surfaces.chat.times import moment

    found = [f"{one.id} {moment(one.at, ctx.zone)} {change_line(one)}" for one in page.changes]
    if not found:
        return "Nothing to show."
    total = page.pending if waiting else page.total
    count = f"The newest {len(found):,} of {total:,}. " if total > len(found) else ""
    found.append(f"{count}`{RELAY} memory undo NUMBER` undoes one; keep or discard decides about a waiting one.")
    return "\n".join(found)


@memory.command()
def why(as_json: AsJson = False) -> None:
    """Show what the last answer's prompt contained of memory, and what was left out."""
    run_command_line("why", "", False, as_json)


@memory.command()
def status(as_json: AsJson = False) -> None:
    """Show whether memory is on, and how much waits for a decision."""
    from relay.commands.memory.controls import show_controls

    run(show_controls, controls_told, as_json)


def controls_told(ctx: ChatContext, now: Controls) -> str:
    """Describes the switches of memory."""
    from relay.surfaces.chat.memory.controls import describe_switches

    return plain(describe_switches(ctx, now))


@memory.command()
def history(number: int, as_json: AsJson = False) -> None:
    """Show the history of a memory by its number, newest first."""

    async def past(ctx: ChatContext) -> MemoryPast:
        from relay.commands.memory.browse import list_past

        return (await list_past(ctx, await find_number(ctx, number), limit=PAGE)).past

    run(past, _past, as_json)


def _past(ctx: ChatContext, past: MemoryPast) -> str:
    from relay.surfaces.chat.times import moment

    lines = []
    for one in past.changes:
        was = f" (before: {one.before})" if one.before and one.before != one.content else ""
        lines.append(f"{moment(one.at, ctx.zone)} {one.id} {one.action} {one.status}: {one.content}{was}")
    return "\n".join(lines)
