"""`relay backup` and `relay restore`: opens the configured database, asks before replacing data, shows progress."""

from __future__ import annotations

import os.path
import shlex
import sys
from pathlib import Path

from rich.console import Console

from relay.archive.backup import BackupRefused, MadeBackup
from relay.archive.backup_file import printable
from relay.archive.move_rows import MoveState
from relay.archive.nightly import new_backup_path
from relay.archive.restore import HINT, Restore, Restored, RestoreRefused, check, hold, require_rest
from relay.clients.embedded.instance import in_use
from relay.core.errors import SchemaError
from relay.core.program import RELAY
from relay.core.settings import Settings
from relay.core.text import pluralize
from relay.memory import migrations
from relay.runtime.runtime import make_backup
from relay.runtime.storage import Storage, direct, is_embedded, open_storage, place, prepare_schema
from relay.surfaces.cli.parameters import BACKUP_ENDING
from relay.surfaces.cli.progress import plain, show_progress, tell_if_interrupted
from relay.surfaces.cli.terminal.keyboard import read_line


async def backup(settings: Settings, to: Path | None = None) -> MadeBackup:
    """Writes everything into one file: `to`, or a file named by the time in the folder `to` or that of the settings.

    Reads a Supabase project by its connection string if that is set, so that the backup is a snapshot. Raises
    `BackupRefused` and what `Backup.make` raises.
    """
    console = plain()
    if is_embedded(settings) and not (settings.data_dir / "postgres").exists():
        raise BackupRefused(f"There is nothing to back up: no database under {settings.data_dir}.")
    if settings.supabase_url and settings.database_url:
        settings = direct(settings)
    async with open_storage(settings) as opened:
        if not migrations.check(await migrations.present(opened.database), migrations.load()):
            raise SchemaError(f"The database's schema is not up to date. Run `{RELAY} db migrate` first.")
        path = _path(settings, to)
        console.print(f"Backing up {place(settings)}\n        to {path}")
        with show_progress(console) as watcher:
            made = await make_backup(opened, watcher).make(path)
    _report(console, made, settings)
    return made


def _path(settings: Settings, to: Path | None) -> Path:
    folder = settings.backups if to is None else to
    if to is not None and to.suffix == BACKUP_ENDING and not os.path.isdir(to):
        return to.expanduser().resolve()
    return new_backup_path(folder.expanduser().resolve())


def _report(console: Console, made: MadeBackup, settings: Settings) -> None:
    console.print(
        f"Backed up {sum(made.rows.values()):,} rows of {len(made.rows)} tables, {max(1, made.bytes // 1000):,} KB: "
        f"{made.header.complete}."
    )
    if made.header.up_to is not None:
        console.print("(Over REST, a backup is not a snapshot, and rows added in the meantime are missing.)")
    console.print(f"To restore it: {RELAY} restore {shlex.quote(str(made.path))}")
    if settings.keep_media:
        where = "the bucket relay-media" if settings.supabase_url else settings.data_dir / "media"
        console.print(f"Files that people sent (RELAY_KEEP_MEDIA) are not in it; they stay in {where}.")


async def restore(settings: Settings, path: Path, replace: bool = False) -> list[Restored]:
    """Restores a backup into the configured database. `replace`: existing data may be replaced; it is backed up first.
    No Relay starts on the database meanwhile.

    Raises `BackupDamaged`, `RestoreRefused` and what `Restore.run` raises; the first two before anything is changed.
    """
    console = plain()
    _require_unused(settings)
    with show_progress(console) as watcher:
        checked = await check(path, migrations.load().version, watcher)
    header = checked.header
    made = printable(f"{header.complete}, from Relay {header.relay}, {header.storage}")
    console.print(f"{path}: {made}\nInto {place(settings)}")
    async with open_storage(settings) as opened:
        await prepare_schema(opened, settings, wait=False)
        async with hold(opened.database) as keep_during:
            _require_unused(settings)  # one may have been starting
            state = await require_rest(opened.database)
            if replace or state.unfinished:
                await keep_during(_make_room(settings, opened, state, console))
            with tell_if_interrupted(HINT), show_progress(console) as watcher:
                work = Restore(opened.database, watcher, checked)
                done = await work.run(replace)
    _tell(console, work, done)
    return done


def _require_unused(settings: Settings) -> None:
    if in_use(settings.data_dir):
        raise RestoreRefused(f"Relay is running on {settings.data_dir}. Stop it first. Nothing was changed.")


async def _make_room(settings: Settings, opened: Storage, state: MoveState, console: Console) -> None:
    """Shows what a restore replaces, asks, and backs it up. Raises `RestoreRefused`."""
    rows = state.sizes
    if state.unused:
        return
    if state.unfinished:
        console.print("This replaces what an unfinished move or restore has left in the database.")
    else:
        console.print(
            f"This replaces the data in the database: about {pluralize(rows['message'], 'message')}, "
            f"{pluralize(rows['memory'], 'memory', 'memories')}, and everything else in it."
        )
    if sys.stdin.isatty() and await read_line("Type yes to replace it: ") != "yes":
        raise RestoreRefused("Nothing was changed.")
    with show_progress(console) as watcher:
        made = await make_backup(opened, watcher).make(_path(settings, None), remains=state.unfinished)
    console.print(f"It is backed up in {made.path}")


def _tell(console: Console, work: Restore, done: list[Restored]) -> None:
    left_out = {table.table: table.left_out for table in done if table.left_out}
    console.print(
        f"Restored {sum(table.rows for table in done):,} rows of {len(done)} tables and compared them with the file."
    )
    if left_out:
        told = ", ".join(f"{number} of {table}" for table, number in left_out.items())
        console.print(f"Left out, because they refer to rows added after the backup began: {told}.")
    if work.set_aside:
        console.print(
            f"Set aside: {pluralize(work.set_aside, 'message')} that waited for an answer when the backup was made. "
            "They may have been answered since, so Relay doesn't answer them."
        )
    console.print(
        f"Access to the bot is as it was at {work.backup.header.at:%Y-%m-%d %H:%M} UTC. People who lost access since "
        f"then have it again: check `{RELAY} users`. Unused invitations are void."
    )
    console.print(f"Start the bot with `{RELAY} run`; it continues from there.")
