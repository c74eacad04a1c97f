"""Commands that show memories, their changes and their history."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from relay.commands.memory.browse import MemoryOrigin, list_memories, list_past, trace_memory
from relay.commands.memory.controls import show_controls
from relay.commands.memory.decide import list_changes
from relay.core.program import RELAY
from relay.memory.rows.changes import ChangePage, MemoryPast
from relay.memory.rows.controls import Controls
from relay.memory.rows.memories import MemoryFilter, MemoryPage
from relay.surfaces.chat.changes import change_line
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.memory.controls import describe_switches
from relay.surfaces.chat.times import moment
from relay.surfaces.cli.chat_commands import chat_command, run_command_line
from relay.surfaces.cli.memory.group import Words, find_number, memory
from relay.surfaces.cli.output import AsJson
from relay.surfaces.cli.owner import PAGE, owner_command, plain, run
from relay.surfaces.cli.parameters import Number
from relay.surfaces.cli.terminal import keyboard


@memory.command()
def show(words: Words = None, as_json: AsJson = False) -> None:
    """List memories, all or those with some words, or open one by its number."""
    text = " ".join(words or [])
    number = text.removeprefix("#")
    if as_json and number.isdecimal():
        run(lambda ctx: _trace(ctx, int(number)), lambda *_: "", as_json)
    elif as_json or not (number.isdecimal() or keyboard.is_attended()):
        run(lambda ctx: _list(ctx, text), _describe_list, as_json)
    else:
        run_command_line("memory", text, False, False)


async def _trace(ctx: ChatContext, number: int) -> MemoryOrigin:
    return await trace_memory(ctx, await find_number(ctx, number))


async def _list(ctx: ChatContext, words: str) -> MemoryPage:
    """Reads all memories, or those that match."""
    chosen = MemoryFilter(words=words)
    page = await list_memories(ctx, chosen, limit=PAGE)
    while len(page.memories) < page.matching:
        more = await list_memories(ctx, chosen, len(page.memories), PAGE)
        if not more.memories:
            break
        page = replace(page, memories=page.memories + more.memories)
    return page


def _describe_list(_: ChatContext, page: MemoryPage) -> str:
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
    _show_changes("changes", False, as_json)


@memory.command()
def waiting(as_json: AsJson = False) -> None:
    """List changes that wait for your decision."""
    _show_changes("waiting", True, as_json)


def _show_changes(word: str, waiting: bool, as_json: bool) -> None:
    if as_json or not keyboard.is_attended():
        run(lambda ctx: list_changes(ctx, waiting, limit=PAGE), partial(_describe_changes, waiting), as_json)
    else:
        run_command_line("memory", word, False, False)


def _describe_changes(waiting: bool, ctx: ChatContext, page: ChangePage) -> str:
    """Lists changes with their numbers, one per line."""
    found = [f"{one.id} {moment(one.at, ctx.zone)} {change_line(one)}" for one in page.changes]
    if not found:
        return "Nothing waits for your decision." if waiting else "Nothing has changed yet."
    total = page.pending if waiting else page.total
    count = f"The newest {len(found):,} of {total:,}. " if total > len(found) else ""
    found.append(f"{count}`{RELAY} memory undo NUMBER` undoes one; keep or discard decides about a waiting one.")
    return "\n".join(found)


memory.command(
    "why",
    help="Show what the last answer's prompt held (memories, recalled messages, preferences, …) and what was left out.",
)(chat_command("why"))


@memory.command()
@owner_command(lambda ctx, now: plain(describe_switches(ctx, now)))
async def status(ctx: ChatContext) -> Controls:
    """Show whether memory is on, and how much waits for a decision."""
    return await show_controls(ctx)


def _describe_past(ctx: ChatContext, past: MemoryPast) -> str:
    return "\n".join(f"{one.id} {moment(one.at, ctx.zone)} {change_line(one)}" for one in past.changes)


@memory.command()
@owner_command(_describe_past)
async def history(ctx: ChatContext, number: Number) -> MemoryPast:
    """Show the history of a memory by its number, newest first."""
    return (await list_past(ctx, await find_number(ctx, number), limit=PAGE)).past
