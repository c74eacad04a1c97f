"""`relay backup` and `relay restore`: opens what the settings name, asks where something would be lost, and shows how
it comes along."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from rich.console import Console

from relay.archive.backup import BackupRefused, Made
from relay.archive.move_rows import MoveState
from relay.archive.nightly import new_backup_path
from relay.archive.restore import Restore, Restored, RestoreRefused, check, resting
from relay.clients.embedded.instance import in_use
from relay.core.errors import SchemaError
from relay.core.program import RELAY
from relay.core.settings import Settings
from relay.memory import migrations
from relay.runtime.runtime import make_backup
from relay.runtime.storage import Storage, direct, is_embedded, open_storage, place, prepare_schema
from relay.surfaces.cli.progress import called, plain, watching
from relay.surfaces.cli.terminal.keyboard import typed

ENDING = ".relaybackup"


async def backup(settings: Settings, to: Path | None = None) -> Made:
    """Writes everything into one file: `to`, or one named by the time in `to` or in the folder of the settings.

    Of a Supabase project whose connection string is known too, that is read: so the backup shows one moment.
    Raises `BackupRefused` and what `Backup.make` raises.
    """
    console = plain()
    if is_embedded(settings) and not (settings.data_dir / "postgres").exists():
        raise BackupRefused(f"There is nothing to back up: no database under {settings.data_dir}.")
    if settings.supabase_url and settings.database_url:
        settings = direct(settings)
    async with open_storage(settings) as opened:
        if not migrations.check(await migrations.present(opened.database), migrations.load()):
            raise SchemaError(f"The database's schema is not this Relay's. Run `{RELAY} db migrate` first.")
        path = _path(settings, to)
        console.print(f"Backing up {place(settings)}\n        to {path}")
        with watching(console) as watcher:
            made = await make_backup(opened, watcher).make(path)
    _report(console, made, settings)
    return made


def _path(settings: Settings, to: Path | None) -> Path:
    folder = settings.backups if to is None else to
    if to is not None and not to.is_dir() and to.suffix == ENDING:
        return to.expanduser().resolve()
    return new_backup_path(folder.expanduser().resolve())


def _report(console: Console, made: Made, settings: Settings) -> None:
    console.print(
        f"Backed up {sum(made.rows.values()):,} rows of {len(made.rows)} tables, {max(1, made.bytes // 1000):,} KB: "
        f"{made.header.complete}."
    )
    if made.header.up_to is not None:
        console.print("(Over REST, a backup is not a snapshot of one moment, and rows added meanwhile are not in it.)")
    console.print(f"To restore it: {called()} restore {shlex.quote(str(made.path))}")
    if settings.keep_media:
        where = "the bucket relay-media" if settings.supabase_url else settings.data_dir / "media"
        console.print(f"Files that people sent (RELAY_KEEP_MEDIA) are not in it; they stay in {where}.")


async def restore(settings: Settings, path: Path, replace: bool = False) -> list[Restored]:
    """Puts a backup into the database of the settings. `replace`: what that holds may go; it is backed up before.

    Raises `BackupDamaged`, `RestoreRefused` and what `Restore.run` raises; the first two before anything is changed.
    """
    console = plain()
    if in_use(settings.data_dir):
        raise RestoreRefused(f"A Relay is running on {settings.data_dir}. Stop it first. Nothing was changed.")
    with watching(console) as watcher:
        checked = await check(path, migrations.load().version, watcher)
    header = checked.header
    console.print(f"{path}: {header.complete}, from Relay {header.relay}, {header.storage}\nInto {place(settings)}")
    async with open_storage(settings) as opened:
        await prepare_schema(opened, settings, wait=False)
        if replace:
            await _make_room(settings, opened, await resting(opened.database), console)
        with watching(console) as watcher:
            work = Restore(opened.database, watcher, checked)
            done = await work.run(replace)
    _tell(console, work, done)
    return done


async def _make_room(settings: Settings, opened: Storage, state: MoveState, console: Console) -> None:
    """Shows what a restore replaces, asks, and backs it up. Raises `RestoreRefused`."""
    rows = state.sizes
    if state.unfinished:
        console.print("The database holds the remains of an unfinished move or restore. They will be removed.")
    elif rows["message"] or rows["memory"] or rows["event"]:
        console.print(
            f"This replaces the data in the database: about {rows['message']:,} messages, {rows['memory']:,} memories."
        )
    else:
        return
    if sys.stdin.isatty() and await typed("Type yes to replace it: ") != "yes":
        raise RestoreRefused("Nothing was changed.")
    if not state.unfinished:
        with watching(console) as watcher:
            made = await make_backup(opened, watcher).make(_path(settings, None))
        console.print(f"It is backed up in {made.path}")


def _tell(console: Console, work: Restore, done: list[Restored]) -> None:
    left_out = {table.table: table.left_out for table in done if table.left_out}
    console.print(
        f"Restored {sum(table.rows for table in done):,} rows of {len(done)} tables; they were compared with the file."
    )
    if left_out:
        told = ", ".join(f"{number} of {table}" for table, number in left_out.items())
        console.print(f"Left out, because they refer to rows added after the backup began: {told}.")
    if work.set_aside:
        console.print(
            f"Set aside: {work.set_aside} messages that waited for an answer when the backup was made. They may have "
            "been answered since, so they are not answered now."
        )
    console.print(
        f"Who may use the bot is as it was at {work.backup.header.at:%Y-%m-%d %H:%M} UTC, so who was sent away since "
        "is back: look at /users. Invitations that nobody had used are void."
    )
    console.print(f"Start the bot with `{RELAY} run`; it continues from there.")
