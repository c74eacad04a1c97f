"""The folder of nightly backups: their names, and which to delete."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import structlog

from relay.archive.backup import Backup, MadeBackup
from relay.core.private_files import FileRefused, in_thread

log = structlog.get_logger()

NAME = re.compile(r"relay-(2\d{7}-\d{6})\.relaybackup")
PARTIAL = re.compile(rf"\.{NAME.pattern}\.partial")


class LogWatcher:
    """A watcher that writes notable events to the log."""

    def report(self, step: str, table: str, rows: int, of: int) -> None:
        pass

    def say(self, sentence: str) -> None:
        log.info("the nightly backup waits", why=sentence)


def backup_name(at: datetime) -> str:
    """Returns the name of a backup made at this time."""
    return f"relay-{at.astimezone(UTC):%Y%m%d-%H%M%S}.relaybackup"


def parse_backup_time(path: Path) -> datetime | None:
    """Returns a backup's time from its name; None for other files."""
    found = NAME.fullmatch(path.name)
    try:
        return datetime.strptime(found[1], "%Y%m%d-%H%M%S").replace(tzinfo=UTC) if found else None
    except ValueError:
        return None


def list_backups(folder: Path) -> list[Path]:
    """Lists a folder's backups, oldest first."""
    return sorted(path for path in folder.iterdir() if parse_backup_time(path))


def list_partials(folder: Path) -> list[Path]:
    """Lists partial backups, in progress or left by a killed process."""
    return [path for path in folder.iterdir() if PARTIAL.fullmatch(path.name)]


def new_backup_path(folder: Path) -> Path:
    """Returns a path for a new backup; two within a second get different names."""
    at = datetime.now(UTC)
    while (folder / backup_name(at)).exists():
        at += timedelta(seconds=1)
    return folder / backup_name(at)


async def make_nightly_backup(backup: Backup, folder: Path, days: int) -> MadeBackup:
    """Makes the night's backup and deletes those older than `days`. Raises the errors of `Backup.make`; then
    nothing is deleted."""
    made = await backup.make(new_backup_path(folder))
    removed = await in_thread(remove_old, folder, days, datetime.now(UTC))
    log.info("backed up", file=str(made.path), rows=sum(made.rows.values()), bytes=made.bytes, removed=len(removed))
    return made


def remove_old(folder: Path, days: int, now: datetime) -> list[Path]:
    """Deletes backups older than `days` by name, but never the newest; and partial ones left by killed
    processes. Raises `FileRefused`."""
    before = backup_name(now - timedelta(days=days))
    old = [path for path in list_backups(folder)[:-1] if path.name < before]
    yesterday = f".{backup_name(now - timedelta(days=1))}"
    old += [path for path in list_partials(folder) if path.name < yesterday]
    try:
        for path in old:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise FileRefused(f"An old backup in {folder} cannot be removed: {error.strerror or error}.") from None
    return old
