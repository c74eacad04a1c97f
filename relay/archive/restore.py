"""Restores a backup. It is checked first and compared at the end, and never restored partially."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from relay.archive.backup_file import BackupDamaged, Header, check_rows, read_header, rows
from relay.archive.move_rows import MovedTable, MoveState, StoredRows, TableSum
from relay.archive.transfer import MOST_ROWS, PageSize, Watcher, sum_table
from relay.core.errors import DatabaseError, RelayError
from relay.core.frozen import frozen
from relay.core.ports import Database
from relay.core.private_files import in_thread
from relay.core.tasks import run_beside
from relay.memory.calls.base import decode_row
from relay.memory.retrying_database import call_until_reached

HOLD_SECONDS = 60
"""How long a restore that was killed before it began keeps Relay from starting."""
RUNNING = "Relay is running on this database. Stop it and run this again."
HINT = "The database is incomplete. Run the same command again; it starts over."


class RestoreRefused(RelayError):
    """A backup can't be restored now."""


class RestoreDiffers(RelayError):
    """What was restored is not what the backup holds."""


@frozen
class Restored:
    """A restored table. `left_out`: how many rows reference something that the backup lacks."""

    table: str
    rows: int
    left_out: int


@frozen
class CheckedBackup:
    """A fully read backup: its header and its tables' contents in numbers."""

    path: Path
    header: Header
    sums: dict[str, TableSum]


async def check(path: Path, schema: int, watcher: Watcher) -> CheckedBackup:
    """Reads a whole file. Raises `BackupDamaged`, or `RestoreRefused` if its schema is newer than `schema`."""
    header = await in_thread(read_header, path)
    if header.schema > schema:
        raise RestoreRefused(
            f"{path} is from a newer Relay (schema {header.schema}; this one knows {schema}). Upgrade Relay first."
        )
    sizes = {table.name: table.size for table in header.tables}

    def told(table: str, seen: int) -> None:
        watcher.report("Checking", table, seen, max(seen, sizes.get(table, 0)))

    sums = await in_thread(check_rows, path, told)
    if not sums.keys() >= sizes.keys():
        raise BackupDamaged(f"{path} is incomplete. Use another backup.")
    return CheckedBackup(path, header, sums)


async def require_rest(database: Database) -> MoveState:
    """Returns a database's description. Raises `RestoreRefused` if a Relay is running on it."""
    state = decode_row(MoveState, await database.call("move_state"))
    if state.leased:
        raise RestoreRefused(f"{RUNNING} (If it was killed, wait {state.leased_seconds} s until its leases expire.)")
    return state


@contextlib.asynccontextmanager
async def hold(database: Database) -> AsyncIterator[Callable[[Awaitable[None]], Awaitable[None]]]:
    """Keeps Relay from starting on a database until a restore begins; from then on, the restore does that itself.
    Yields a function that awaits work done before that, which may take long. Raises `RestoreRefused` during another
    restore."""
    worker = str(uuid.uuid4())

    async def take() -> bool:
        return bool(await database.call("hold_duty", name="restore", worker=worker, lease_seconds=HOLD_SECONDS))

    async def keep() -> None:
        while True:
            await asyncio.sleep(HOLD_SECONDS / 4)
            with contextlib.suppress(DatabaseError):
                await take()

    async def keep_during(work: Awaitable[None]) -> None:
        async with run_beside(keep()):
            await work

    if not await take():
        raise RestoreRefused(
            f"Another restore is under way, or was killed less than {HOLD_SECONDS} s ago. Wait for it, or run this "
            "again in a minute. Nothing was changed."
        )
    try:
        yield keep_during
    finally:
        with contextlib.suppress(DatabaseError):
            await database.call("free_duty", name="restore", worker=worker)


def current_name(table: str) -> str:
    """Returns the current name of a backup's table."""
    return "outbox" if table == "delivery" else table


@dataclass(slots=True)
class Restore:
    """Restores one backup into a database with this Relay's schema."""

    database: Database
    watcher: Watcher
    backup: CheckedBackup
    set_aside: int = 0
    """How many messages were in progress when the backup was made. They may have been answered since then."""
    _columns: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The database's columns by table."""
    _size: PageSize = field(default_factory=PageSize)

    async def run(self, replace: bool) -> list[Restored]:
        """Restores the backup; an interrupted restore starts over. `replace`: existing data may be deleted. Tables and
        columns that the backup lacks stay empty or get defaults. Raises `RestoreRefused`, `RestoreDiffers` and the
        database's errors; after the latter two, Relay doesn't start on the database until it is restored."""
        state = await require_rest(self.database)
        self._columns = {table.name: table.names for table in state.tables}
        begun = await self._call("restore_begin", file=self.backup.header.id, replace=replace)
        if begun is None:
            raise RestoreRefused(RUNNING)
        if not begun:
            raise RestoreRefused(
                "The database already contains data. Nothing was changed. To delete that data, add --replace."
            )
        left_out = await self._store()
        done = [await self._compare(table, left_out.get(table.name, 0)) for table in self._list_shared_tables()]
        self.set_aside = int(
            await self._call("restore_finish", file=self.backup.header.id, numbers=self.backup.header.numbers) or 0
        )
        return done

    def _list_shared_tables(self) -> list[MovedTable]:
        """Yields the backup's tables that the database also has."""
        return [table for table in self.backup.header.tables if current_name(table.name) in self._columns]

    async def _store(self) -> dict[str, int]:
        """Stores all rows; returns how many of each table were left out."""
        stored, left_out = dict[str, int](), dict[str, int]()
        tables = {table.name: table for table in self._list_shared_tables()}
        pages = self._pages()
        while group := await in_thread(next, pages, None):
            name, lines = group
            if name not in tables:
                continue
            table, at = tables[name], stored.get(name, 0)
            self.watcher.report("Storing", name, at, max(at, table.size))
            began = time.monotonic()
            page = {"columns": list(table.names), "rows": [json.loads(line) for line in lines]}
            done = await self._call("restore_rows", file=self.backup.header.id, table=current_name(name), at=at, **page)
            there = decode_row(StoredRows, done)
            self._size.adjust(time.monotonic() - began)
            stored[name], left_out[name] = there.rows, there.left_out
        for name, seen in stored.items():
            self.watcher.report("Storing", name, seen, seen)
        return left_out

    def _pages(self) -> Iterator[tuple[str, list[bytes]]]:
        """Yields the file's rows in pages of a table, of a size that the database handles well."""
        for table, group in groupby(rows(self.backup.path), lambda one: one[0]):
            page, size = list[bytes](), 0
            for _, line in group:
                if page and (size + len(line) > self._size.bytes or len(page) == MOST_ROWS):
                    yield table, page
                    page, size = [], 0
                page.append(line)
                size += len(line)
            yield table, page

    async def _compare(self, table: MovedTable, left_out: int) -> Restored:
        """Compares a table with the file: row count, and checksums if all rows and columns are there."""
        name, expected = current_name(table.name), self.backup.sums[table.name]

        def told(rows: int, end: bool) -> None:
            self.watcher.report("Comparing", name, rows, max(expected.rows, rows))

        found = await sum_table(self._call, name, told)
        whole = not left_out and table.names == self._columns[name]
        if found.rows != expected.rows - left_out or (whole and found.sum != expected.sum):
            raise RestoreDiffers(
                f"The table {name} differs from the backup. Did something else write to the database? Run the same "
                "command again. Until then, Relay won't start on this database."
            )
        if left_out and self.backup.header.up_to is None:
            raise RestoreDiffers(
                f"{left_out} rows of the table {name} could not be restored: what they refer to is missing."
            )
        return Restored(name, found.rows, left_out)

    async def _call(self, function: str, **arguments: Any) -> Any:
        return await call_until_reached(self.database, function, arguments, self.watcher.say, HINT)
