"""Writes a whole database to one file while it is in use."""

from __future__ import annotations

import uuid
from contextlib import AsyncExitStack, aclosing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from relay.archive.backup_file import BackupWriter, Header
from relay.archive.move_rows import MovedTable, MovePage, MoveState
from relay.archive.transfer import MOST_BYTES, MOST_ROWS, Watcher, read_ahead
from relay.core.errors import DatabaseUnavailable, RelayError
from relay.core.frozen import frozen
from relay.core.ports import Database, Snapshots
from relay.core.private_files import in_thread, write_atomically
from relay.core.program import RELAY
from relay.memory.calls.base import decode_row
from relay.memory.retrying_database import call_until_reached


class BackupRefused(RelayError):
    """A backup can't be made now."""


@frozen
class MadeBackup:
    """A finished backup."""

    path: Path
    header: Header
    rows: dict[str, int]
    bytes: int


@dataclass(slots=True)
class Backup:
    """Makes backups of one database. `relay`, `schema` and `storage` describe its source."""

    database: Database
    watcher: Watcher
    relay: str
    schema: int
    storage: str
    _side: Database = field(init=False)
    _snapshot: bool = False

    async def make(self, path: Path, remains: bool = False) -> MadeBackup:
        """Makes a backup with mode 600; it gets its name when it is complete. `remains`: include what an unfinished
        move or restore has left.

        With a snapshot (PostgreSQL itself) it shows one moment. Without one (over REST), it notes the last id of every
        table in one call and reads the rows up to these. Then it has everything that existed at the start, as it was
        then or later, and no newer rows. A restore leaves out rows that were changed meanwhile to reference something
        newer, with those that reference them. Raises `BackupRefused`, `FileRefused` and the database's errors.
        """
        return await replace(self)._make(path, remains)  # two backups at once have separate snapshots

    async def _make(self, path: Path, remains: bool) -> MadeBackup:
        async with AsyncExitStack() as stack:
            self._snapshot = isinstance(self.database, Snapshots)
            self._side = self.database
            if isinstance(self.database, Snapshots):
                self._side = await stack.enter_async_context(self.database.snapshot())
            state = decode_row(MoveState, await self._call("move_state"))
            if state.unfinished and not remains:
                raise BackupRefused(
                    f"A `{RELAY} move` or `restore` into this database was not finished, so the data is incomplete. "
                    "Finish it first."
                )
            header = self._header(state)
            with write_atomically(path) as file:
                writer = await in_thread(BackupWriter, file, header)
                for table in header.tables:
                    await self._table(writer, header, table)
                rows = await in_thread(writer.finish)
                size = file.tell()
        return MadeBackup(path, header, rows, size)

    def _header(self, state: MoveState) -> Header:
        last = {table.name: table.last or "0" for table in state.tables if state.numbers.get(table.name)}
        return Header(
            id=str(uuid.uuid4()),
            relay=self.relay,
            schema=self.schema,
            storage=self.storage,
            made_at=datetime.now(UTC).isoformat(timespec="seconds"),
            up_to=None if self._snapshot else last,
            tables=state.tables,
            numbers=state.numbers,
        )

    async def _table(self, writer: BackupWriter, header: Header, table: MovedTable) -> None:
        """Writes a table."""
        name, rows = table.name, 0
        bound = _find_bound(header, table)
        writer.begin(name)
        self.watcher.report("Reading", name, rows, table.size)
        async with aclosing(read_ahead(partial(self._page, name))) as pages:
            async for page in pages:
                within = [row for row in page.rows if bound is None or int(row[bound[0]] or 0) <= bound[1]]
                if not within:
                    break
                await in_thread(writer.rows, within)
                rows += len(within)
                self.watcher.report("Reading", name, rows, max(rows, table.size))
        self.watcher.report("Reading", name, rows, rows)

    async def _page(self, table: str, after: list[str] | None) -> MovePage:
        more = {"most_rows": MOST_ROWS, "most_bytes": MOST_BYTES}
        return decode_row(MovePage, await self._call("move_page", table=table, after=after, **more))

    async def _call(self, function: str, **arguments: Any) -> Any:
        hint = "No backup was made. Run the same command again."
        if not self._snapshot:
            return await call_until_reached(self._side, function, arguments, self.watcher.say, hint)
        try:
            return await self._side.call(function, **arguments)
        except DatabaseUnavailable as error:
            raise DatabaseUnavailable(f"{error} {hint}") from error


def _find_bound(header: Header, table: MovedTable) -> tuple[int, int] | None:
    """Returns how to limit a table without a snapshot: the column with a row's own number, or with that of the numbered
    row it belongs to, and the last number to read. None: it can't be limited."""
    if header.up_to is None:
        return None
    own = header.numbers.get(table.name) or {}
    belongs = dict.fromkeys(own, table.name) or table.belongs
    for column, numbered in belongs.items():
        return table.names.index(column), int(header.up_to.get(numbered, "0"))
    return None
