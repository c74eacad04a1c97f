"""The folder of the nightly backups: what they are called, and which may go."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import structlog

from relay.archive.backup import Backup, Made
from relay.archive.private import FileRefused, in_thread
from relay.memory.store import Store

log = structlog.get_logger()

NAME = re.compile(r"relay-(\d{8}-\d{6})\.relaybackup")
PARTIAL = re.compile(rf"\.{NAME.pattern}\.partial")
DUTY = "backup"
LEASE_SECONDS = 300
REST_SECONDS = 20 * 3600
"""Another process does not make the same night's backup again."""


class Quiet:
    """A watcher for when nobody looks: what is worth a line is logged."""

    def at(self, step: str, table: str, rows: int, of: int) -> None:
        pass

    def say(self, sentence: str) -> None:
        log.info("the nightly backup waits", why=sentence)


def named(at: datetime) -> str:
    """What a backup of this moment is called."""
    return f"relay-{at.astimezone(UTC):%Y%m%d-%H%M%S}.relaybackup"


def fresh(folder: Path) -> Path:
    """Where a backup that is made now goes in a folder: two within a second get different names."""
    at = datetime.now(UTC)
    while (folder / named(at)).exists():
        at += timedelta(seconds=1)
    return folder / named(at)


async def nightly(backup: Backup, store: Store, folder: Path, days: int) -> Made | None:
    """Makes the night's backup and removes those that are older than so many days; None when another process did.

    Raises what `Backup.make` raises; then nothing is removed.
    """
    if not await store.take_duty(DUTY, LEASE_SECONDS, REST_SECONDS):
        return None
    async with _held(store) as held:
        made = await backup.make(fresh(folder))
        held.done = True
    removed = await in_thread(remove_old, folder, days, datetime.now(UTC))
    log.info("backed up", file=str(made.path), rows=sum(made.rows.values()), bytes=made.bytes, removed=len(removed))
    return made


def remove_old(folder: Path, days: int, now: datetime) -> list[Path]:
    """Removes the backups of a folder that are older than so many days by their names, but never the newest; and what
    was left of some that a kill broke off. Raises `FileRefused`."""
    before = named(now - timedelta(days=days))
    kept = sorted(path for path in folder.iterdir() if NAME.fullmatch(path.name))
    old = [path for path in kept[:-1] if path.name < before]
    yesterday = f".{named(now - timedelta(days=1))}"
    old += [path for path in folder.iterdir() if PARTIAL.fullmatch(path.name) and path.name < yesterday]
    try:
        for path in old:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise FileRefused(f"An old backup in {folder} cannot be removed: {error.strerror or error}.") from None
    return old


class _Held:
    done = False


@contextlib.asynccontextmanager
async def _held(store: Store) -> AsyncIterator[_Held]:
    """Keeps the duty while the block runs, and gives it back, `done` or not."""
    held = _Held()
    renewing = asyncio.create_task(_renew(store))
    try:
        yield held
    finally:
        renewing.cancel()
        await asyncio.gather(renewing, return_exceptions=True)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(5):
                await store.end_duty(DUTY, held.done)


async def _renew(store: Store) -> None:
    while True:
        await asyncio.sleep(LEASE_SECONDS / 3)
        await store.take_duty(DUTY, LEASE_SECONDS)
