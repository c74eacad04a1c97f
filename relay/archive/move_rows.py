"""A database's description of itself, for moves, backups and restores."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import datetime

from relay.core.frozen import frozen


@frozen
class MovedTable:
    """A table that moves."""

    name: str
    size: int
    """The table's approximate number of rows."""
    names: tuple[str, ...]
    """The names of its columns."""
    columns: tuple[str, ...] = ()
    """The columns with their types."""
    last: str | None = None
    """Its highest number, if its rows are numbered."""
    belongs: dict[str, str] = field(default_factory=dict)
    """The numbered tables that its key begins with, by column."""


@frozen
class PastMove:
    """A move into a database, finished or not."""

    source_id: str
    state: str
    """copying or done."""
    began_at: datetime
    done_at: datetime | None = None


@frozen
class MoveState:
    """What a move, backup or restore needs to know about a database."""

    id: str
    unused: bool
    """It holds nothing but the soul that Relay starts with."""
    leased: int
    """How many leases Relay holds in it."""
    leased_seconds: int | None
    """In how many seconds the last lease ends."""
    numbers: dict[str, dict[str, str | None]]
    """The last value of each identity column, by table and column."""
    tables: tuple[MovedTable, ...]
    """The tables, each after those it references."""
    moves: tuple[PastMove, ...] = ()

    @property
    def sizes(self) -> dict[str, int]:
        return {table.name: table.size for table in self.tables}

    @property
    def unfinished(self) -> bool:
        """Tells whether a move into it is unfinished."""
        return any(move.state != "done" for move in self.moves)


@frozen
class MovePage:
    """Some rows of a table as texts."""

    rows: list[list[str | None]]
    last: list[str] | None
    """The key of the last row."""
    end: bool


@frozen
class StoredRows:
    """How much of a table has been stored."""

    rows: int
    after: list[str] | None = None
    """The key of the last row."""
    left_out: int = 0
    """How many rows could not be stored, because they reference missing ones."""


@frozen
class BegunMove:
    """A new or resumed move into a database."""

    state: str
    began_at: datetime
    done_at: datetime | None
    progress: dict[str, StoredRows]
    """The stored rows by table."""


@frozen
class Digest:
    """Summed checksums of some rows."""

    rows: int
    sum: int
    last: list[str] | None
    end: bool


@frozen
class OwedRewrite:
    """Whether the database's files may still contain erased text."""

    owed: bool
    at: str
    """The database's present time."""


@dataclass(slots=True)
class TableSum:
    """A table's row count and summed checksums, as `relay_move_digest` computes them."""

    rows: int = 0
    sum: int = 0

    def add(self, line: bytes) -> None:
        self.rows += 1
        self.sum += int.from_bytes(hashlib.sha256(line).digest()[:8], "big", signed=True)
