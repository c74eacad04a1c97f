"""`relay export` and `relay import`: what one person or group has in Relay as files, and back."""

from __future__ import annotations

import sys
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

from relay.app import opened, version, zone_of
from relay.archive.export import line, pages
from relay.archive.imports import PARTS, Import, ImportRefused, check
from relay.archive.private import in_thread, written
from relay.archive.readable import Readable
from relay.archive.restore import resting
from relay.clients.instance import in_use
from relay.errors import RelayError, SettingsError
from relay.memory.people import People
from relay.models import Space
from relay.progress import plain
from relay.settings import Settings
from relay.storage import place
from relay.verbs.registry import counted


class NothingToExport(RelayError):
    """There is nothing to export: nobody has said anything there."""


async def export(settings: Settings, user_id: int | None, chat_id: int | None, to: Path) -> list[Path]:
    """Writes what a person (without one: the admin) or a group has into two files of a folder, both of mode 600.

    Files of the same name are replaced. Raises `NothingToExport`, `FileRefused` and what the database raises.
    """
    if user_id is not None and chat_id is not None:
        raise SettingsError("Say either --user or --chat.")
    console = plain()
    async with opened(settings) as relay:
        people = People(settings.admins)
        await people.refresh(relay.memory)
        owner = user_id if user_id is not None else min(people.admins, default=1)
        space = Space("private", owner_id=owner) if chat_id is None else Space("group", chat_id=chat_id)
        whose = _whose(space)
        name = f"relay-export-{owner}" if chat_id is None else f"relay-export-group-{abs(chat_id)}"
        folder = await in_thread(lambda: to.expanduser().resolve())
        paths = [folder / f"{name}.jsonl", folder / f"{name}.md"]
        readable = Readable(f"What Relay remembers of {whose}", zone_of(settings))
        numbers = Counter[str]()
        with ExitStack() as stack:
            lines, text = (stack.enter_context(written(path, replace=True)) for path in paths)
            async for page in pages(relay.memory, space, version()):
                await in_thread(lines.writelines, map(line, page))
                await in_thread(text.write, readable.add(page).encode())
                numbers.update(PARTS.get(row.get("type", ""), "more") for row in page)
            if not numbers:
                raise NothingToExport()
            text.write(readable.end().encode())
    what = _in_words(numbers) or "choices"
    console.print(f"Exported {what} of {whose}:\n  {paths[0]} (to import again)\n  {paths[1]} (to read)")
    return paths


async def take_in(settings: Settings, path: Path, user_id: int | None) -> None:
    """Adds an export to the database of the settings; what is there already stays as it is. No model is asked.

    Raises `ImportRefused`, also while a Relay is at work there, and what the database raises.
    """
    console = plain()
    export = await in_thread(check, path)
    if in_use(settings.data_dir):
        raise ImportRefused(f"A Relay is running on {settings.data_dir}. Stop it first. Nothing was changed.")
    async with opened(settings) as relay:
        await resting(relay.database)

        def told(part: str, seen: int) -> None:
            if sys.stdout.isatty():
                print(f"\r{part}: {seen:,} ", end="", flush=True)

        work = Import(relay.memory, export, user_id, told)
        space = await work.run()
    added = _in_words(work.added) or "nothing"
    there = sum(work.seen.values()) - sum(work.added.values())
    console.print(
        f"{chr(13) if sys.stdout.isatty() else ''}Into {place(settings)}, for {_whose(space)}: {added} added; "
        f"{counted(there, 'row')} {'was' if there == 1 else 'were'} there already."
    )


def _in_words(numbers: Counter[str]) -> str:
    return ", ".join(counted(numbers[many], one, many) for one, many in PARTS.items() if numbers[many])


def _whose(space: Space) -> str:
    return f"the user {space.owner_id}" if space.kind == "private" else f"the group {space.chat_id}"
