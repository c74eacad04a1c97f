"""What is known, why, since when, and what became of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import typer

from relay.core.program import RELAY
from relay.surfaces.cli.memory.door import (
    PAGE,
    AsJson,
    Words,
    controls,
    memory,
    owned,
    printed,
    read_owned,
    shown,
)
from relay.surfaces.cli.shell import ready, run_work

if TYPE_CHECKING:
    from relay.core.models import Space
    from relay.memory.rows.changes import ChangePage, MemoryPast
    from relay.memory.rows.memories import MemoryPage, MemorySource, OpenedMemory
    from relay.memory.store import Store


@dataclass(frozen=True, slots=True)
class MemoryFound:
    """One memory, and where it came from."""

    memory: OpenedMemory | None
    source: MemorySource | None


def changed(waiting: bool) -> Callable[[Store, Space], Awaitable[ChangePage]]:
    """Reads the owner's changes, or those that wait for a tap."""

    async def read(store: Store, space: Space) -> ChangePage:
        return await store.history(space, waiting, 0, PAGE, space.owner_id or 0, True)

    return read


def _opened(number: int) -> Callable[[Store, Space], Awaitable[MemoryFound]]:
    async def read(store: Store, space: Space) -> MemoryFound:
        memory_id = await store.numbered(space, number)
        row = await store.opened(memory_id, space.owner_id or 0, True)
        return MemoryFound(row, await store.source(memory_id) if row else None)

    return read


def _listed(words: str) -> Callable[[Store, Space], Awaitable[MemoryPage]]:
    async def read(store: Store, space: Space) -> MemoryPage:
        from relay.memory.rows.memories import MemoryFilter

        chosen = MemoryFilter(words=words)
        page = await store.memories(space, 0, PAGE, chosen)
        while len(page.memories) < page.matching:
            more = await store.memories(space, len(page.memories), PAGE, chosen)
            if not more.memories:
                break
            page = replace(page, memories=page.memories + more.memories)
        return page

    return read


async def _why(store: Store, space: Space) -> object:
    turn = await store.answered_turn(0, 0, 0, 0, space)
    return {"why": await store.why(turn, space.owner_id or 0) if turn else None}


def _memories(page: MemoryPage) -> list[str]:
    """What is known, one memory a line, by its number."""
    found = [f"#{row.number} {' '.join(row.content.split())}" for row in page.memories]
    return [*found, f"{len(found):,} of {page.total:,}. `{RELAY} memory show NUMBER` tells more."]


def _changes(page: ChangePage) -> list[str]:
    """What changed, one change a line, by its number."""
    from relay.surfaces.chat.changes import change_line

    found = [f"{one.id} {one.at:%Y-%m-%d %H:%M} {change_line(one)}" for one in page.changes]
    if not found:
        return ["There is nothing."]
    return [*found, f"`{RELAY} memory undo NUMBER` takes one back; keep or discard decides about one that waits."]


@memory.callback()
def everything(context: typer.Context, as_json: AsJson = False) -> None:
    """What I know about you; a word or a number after it looks for that."""
    if context.invoked_subcommand is None:
        shown("/memory", as_json, _listed(""), _memories)


@memory.command()
def show(words: Words = None, as_json: AsJson = False) -> None:
    """List what is known, or what has some words, or open one memory by its number."""
    text = " ".join(words or [])
    number = text.removeprefix("#")
    if number.isdecimal():
        shown(f"/memory {text}", as_json, _opened(int(number)))
    else:
        shown(f"/memory {text}".strip(), as_json, _listed(text), _memories)


@memory.command()
def changes(as_json: AsJson = False) -> None:
    """List what changed, newest first; each can be undone there."""
    shown("/memory changes", as_json, changed(False), _changes)


@memory.command()
def waiting(as_json: AsJson = False) -> None:
    """List what waits to be kept or discarded."""
    shown("/memory waiting", as_json, changed(True), _changes)


@memory.command()
def why(as_json: AsJson = False) -> None:
    """Show what the last answer's prompt took of memory, and what it left out."""
    shown("/why", as_json, _why)


@memory.command()
def status(as_json: AsJson = False) -> None:
    """Show whether memory is on, and what waits."""
    shown("/memory controls", as_json, controls)


@memory.command()
def history(number: int, as_json: AsJson = False) -> None:
    """Show what became of a memory, newest first, by its number."""

    async def past(store: Store, space: Space) -> MemoryPast:
        row = await owned(store, space, number)
        return await store.memory_past(row.id, 0, PAGE)

    async def work() -> None:
        done = await read_owned(settings, past)
        if as_json:
            printed(done)
            return
        for one in done.changes:
            was = f" (before: {one.before})" if one.before and one.before != one.content else ""
            print(f"{one.at:%Y-%m-%d %H:%M} {one.id} {one.action} {one.status}: {one.content}{was}")

    settings = ready(quiet=True)
    run_work(work())
