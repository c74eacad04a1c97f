"""`relay export` and `relay import`: one person's or group's data as files, and back."""

from __future__ import annotations

import sys
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

from rich.console import Console

from relay.archive.export import line, pages
from relay.archive.export_file import ImportRefused
from relay.archive.imports import PARTS, Import, check
from relay.archive.readable.text import Readable
from relay.archive.restore import require_rest
from relay.clients.embedded.instance import in_use
from relay.core.errors import RelayError, SettingsError
from relay.core.frozen import frozen
from relay.core.models import Space
from relay.core.private_files import in_thread, write_atomically
from relay.core.program import RELAY, read_version
from relay.core.settings import Settings
from relay.core.text import pluralize
from relay.memory.derivations.artefacts import list_exported_kinds
from relay.runtime.runtime import Runtime, find_time_zone, open_runtime
from relay.runtime.storage import place
from relay.surfaces.cli.progress import count_progress, plain, tell_if_interrupted
from relay.surfaces.cli.terminal.keyboard import read_line

_PARTS = PARTS | {one.kind: one.plural for one in list_exported_kinds()}
_NAMES = {
    "keepits": ("marker", "markers"),
    "session_links": ("linked session", "linked sessions"),
    "context_settings": ("set of session settings", "sets of session settings"),
    "feedback": ("piece of feedback", "pieces of feedback"),
    "preference_decisions": ("decision about preferences", "decisions about preferences"),
    "standing intents": ("mention reminder", "mention reminders"),
}
"""What people call parts with other names."""


class NothingToExport(RelayError):
    """There is nothing to export: nobody has said anything there."""


@frozen
class Imported:
    """What an import added to a space, by kind, and how many rows were there already."""

    space: Space
    added: dict[str, int]
    there: int


async def export(settings: Settings, user_id: int | None, chat_id: int | None, to: Path) -> list[Path]:
    """Writes the data of a person (by default the admin) or a group into two files of a folder, both of mode 600.

    Files of the same name are replaced. Raises `NothingToExport`, `FileRefused` and what the database raises.
    """
    _check_options(user_id, chat_id)
    console = plain()
    async with open_runtime(settings) as relay:
        owner = user_id if user_id is not None else await relay.find_owner()
        space = Space("private", owner_id=owner) if chat_id is None else Space("group", chat_id=chat_id)
        whose = _name_owner(space)
        name = f"relay-export-{owner}" if chat_id is None else f"relay-export-group-{abs(chat_id)}"
        folder = await in_thread(lambda: to.expanduser().resolve())
        paths = [folder / f"{name}.jsonl", folder / f"{name}.md"]
        zone = (await relay.store.choices(owner)).zone_or(find_time_zone(settings))
        readable = Readable(f"What Relay remembers of {whose}", zone)
        numbers = Counter[str]()
        with ExitStack() as stack:
            lines, text = (stack.enter_context(write_atomically(path, replace=True)) for path in paths)
            async for page in pages(relay.store, space, read_version()):
                await in_thread(lines.writelines, map(line, page))
                await in_thread(text.write, readable.add(page).encode())
                numbers.update(_PARTS.get(row.get("type", ""), "more") for row in page)
            if not numbers:
                raise NothingToExport()
            text.write(readable.end().encode())
    what = _describe_numbers(numbers) or "choices"
    console.print(f"Exported {what} of {whose}:\n  {paths[0]} (to import again)\n  {paths[1]} (to read)")
    return paths


async def take_in(settings: Settings, path: Path, user_id: int | None, chat_id: int | None = None) -> Imported:
    """Adds an export to the configured database, and returns what was added. Existing rows stay. Asks no model.

    `user_id` or `chat_id`: the person or group that gets the memory; by default the first admin. If that is someone
    else than in the file, a person at the terminal has to agree. Raises `ImportRefused`, also while a Relay is running
    on the database, and what the database raises.
    """
    _check_options(user_id, chat_id)
    console = plain()
    export = await in_thread(check, path)
    if in_use(settings.data_dir):
        raise ImportRefused(f"Relay is running on {settings.data_dir}. Stop it first. Nothing was changed.")
    async with open_runtime(settings) as relay:
        await require_rest(relay.database)
        work = Import(relay.store, export, user_id, count_progress())
        owner = user_id if user_id is not None else await relay.find_owner()
        meant = Space("private", owner_id=owner) if chat_id is None else Space("group", chat_id=chat_id)
        await _agree(relay, work.becomes(), meant, console)
        with tell_if_interrupted("Run the same command again; it adds the rest."):
            space = await work.run()
    added = _describe_numbers(work.added) or "nothing"
    there = sum(work.seen.values()) - sum(work.added.values())
    console.print(
        f"{chr(13) if sys.stdout.isatty() else ''}Into {place(settings)}, for {_name_owner(space)}: {added} added; "
        f"{pluralize(there, 'row')} {'was' if there == 1 else 'were'} there already."
        + (f" Imported reminders are paused: {RELAY} reminders" if work.added["reminders"] else "")
    )
    return Imported(space, dict(work.added), there)


def _describe_numbers(numbers: Counter[str]) -> str:
    return ", ".join(
        pluralize(numbers[part], *_NAMES.get(part, (one, part))) for one, part in _PARTS.items() if numbers[part]
    )


def _check_options(user_id: int | None, chat_id: int | None) -> None:
    if user_id is not None and chat_id is not None:
        raise SettingsError("Use either --user or --chat.")
    if user_id is not None and not 0 < user_id < 2**63:
        raise SettingsError("--user must be a Telegram user id, which is positive.")
    if chat_id is not None and not -(2**63) <= chat_id < 0:
        raise SettingsError("--chat must be a group's chat id, which is negative.")


async def _agree(relay: Runtime, space: Space, meant: Space, console: Console) -> None:
    """Says whose memory a file becomes, and asks about it unless they are meant. Raises `ImportRefused`."""
    names: dict[int | None, str] = {row.user_id: f", {row.name}" for row in await relay.store.people()}
    console.print(f"This becomes the memory of {_name_owner(space)}{names.get(space.owner_id, '')}.")
    if space == meant:
        return
    if not sys.stdin.isatty():
        option = f"--user {space.owner_id}" if space.kind == "private" else f"--chat {space.chat_id}"
        raise ImportRefused(f"If that is right, add {option}. Nothing was changed.")
    if await read_line("Type yes to go on: ") != "yes":
        raise ImportRefused("Nothing was changed.")


def _name_owner(space: Space) -> str:
    return f"user {space.owner_id}" if space.kind == "private" else f"group {space.chat_id}"
