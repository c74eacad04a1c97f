"""The folder of backups: nightly ones, which to delete, and how erased text leaves them."""

from __future__ import annotations

import contextlib
import re
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import structlog

from relay.archive.backup import Backup, BackupRefused, MadeBackup
from relay.archive.move_rows import OwedRewrite
from relay.core.frozen import frozen
from relay.core.ports import MediaStore, Rewrites
from relay.core.private_files import FileRefused, in_thread
from relay.memory.calls.base import decode_row

log = structlog.get_logger()

NAME = re.compile(r"relay-(2\d{7}-\d{6})\.relaybackup")
PARTIAL = re.compile(rf"\.{NAME.pattern}\.partial")
OVER_REST = (
    "The rows are deleted. Their words remain in the project's files until autovacuum has freed the space (usually "
    "within a day) and it is overwritten, in the write-ahead log until that is reused, and in Supabase's own backups "
    "for as long as your plan keeps them (7 days on Pro, 14 on Team, up to 30 on Enterprise)."
)
LOG_STAYS = (
    "The tables' files were rewritten. The server's write-ahead log may contain the words until it is reused (usually "
    "within hours). Its archive, replicas and the host's backups contain them for as long as they are kept."
)
BEING_MADE_SECONDS = 600.0
"""A partial backup untouched for this long was left by a killed process."""


class LogWatcher:
    """A watcher that writes notable events to the log."""

    def report(self, step: str, table: str, rows: int, of: int) -> None:
        pass

    def say(self, sentence: str) -> None:
        log.info("the nightly backup is waiting", why=sentence)


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
    with contextlib.suppress(OSError):  # writing the file says what is wrong
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
    _remove(old, f"An old backup in {folder}")
    return old


@frozen
class ErasureCleanup:
    """An installation's backups, its database's files, and stored copies of media. `days`: how long nightly backups
    are kept."""

    backup: Backup
    folder: Path
    days: int
    media_store: MediaStore

    def files(self) -> list[Path] | None:
        """Lists the backups, oldest first. None: the folder can't be read."""
        try:
            return list_backups(self.folder)
        except FileNotFoundError:
            return []
        except OSError:
            return None

    def describe_backups(self) -> str:
        """Says until when backups contain what is erased now."""
        files = self.files()
        if files is None:
            return "My backup folder can't be read, so earlier backups may still contain it."
        made = [at for at in map(parse_backup_time, files) if at]
        if not made:
            return "No backup in my backup folder contains it."
        many = f"{len(made)} earlier backup{'s' if len(made) > 1 else ''} may still contain it"
        if not self.days:
            return f"{many}. Nightly backups are off, so they stay until someone deletes them."
        gone = max(made[-1] + timedelta(days=self.days), datetime.now(UTC)) + timedelta(days=1)
        return f"{many}. {'It' if len(made) == 1 else 'The last of them'} is deleted by {gone:%Y-%m-%d}."

    async def purge(self) -> tuple[MadeBackup, int]:
        """Makes a fresh backup and deletes all earlier ones. Returns it and how many were deleted. Raises
        `FileRefused`, the errors of `Backup.make`, and `BackupRefused` while another backup, which may contain what
        was just erased, is running; then nothing is deleted."""
        files = self.files()
        if files is None:
            raise FileRefused(f"The backup folder {self.folder} cannot be read.")
        parts = list_partials(self.folder) if self.folder.is_dir() else []
        if any(map(_is_being_made, parts)):
            raise BackupRefused("A backup is being made. Try again when it is finished, in ten minutes at most.")
        before = files + parts
        made = await self.backup.make(new_backup_path(self.folder))
        await in_thread(_remove, before, "A backup")
        log.info("backups purged", removed=len(before) - len(parts), file=str(made.path))
        return made, len(before) - len(parts)

    @property
    def clears(self) -> bool:
        """Tells whether the database's files can be rewritten. They can't over REST."""
        return isinstance(self.backup.database, Rewrites)

    async def is_owed(self) -> bool:
        """Tells whether anything was erased since the database's files were last rewritten."""
        return (await self._rewrite()).owed

    async def _rewrite(self) -> OwedRewrite:
        return decode_row(OwedRewrite, await self.backup.database.call("files_owed"))

    async def clear(self) -> str:
        """Rewrites the database's files without what was erased. Returns a sentence about where it may remain; empty:
        nowhere. Raises the `DatabaseError` tree."""
        database = self.backup.database
        if not isinstance(database, Rewrites):
            return OVER_REST
        begun = (await self._rewrite()).at
        log_too = await database.rewrite()
        await database.call("files_cleared", at=begun)
        log.info("the database's files are being rewritten", log=log_too)
        return "" if log_too else LOG_STAYS


def _is_being_made(part: Path) -> bool:
    try:
        return part.stat().st_mtime > time.time() - BEING_MADE_SECONDS
    except FileNotFoundError:
        return True  # it has got its name just now


def _remove(files: list[Path], what: str) -> None:
    try:
        for path in files:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise FileRefused(f"{what} cannot be removed: {error.strerror or error}.") from None
