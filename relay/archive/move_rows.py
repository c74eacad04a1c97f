"""What a database tells of itself when its contents are moved, backed up or restored."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True)
class MovedTable:
    """A table that moves."""

    name: str
    size: int
    """About how many rows it has."""
    names: tuple[str, ...]
    """Its columns."""
    columns: tuple[str, ...] = ()
    """The same with their types."""
    last: str | None = None
    """The last number in it, if its rows are numbered."""
    belongs: dict[str, str] = field(default_factory=dict)
    """The numbered table with whose numbers the key of its rows begins, by the column that holds them."""


@dataclass(frozen=True, slots=True)
class PastMove:
    """A move into a database, finished or not."""

    source_id: str
    state: str
    """copying or done."""
    began_at: datetime
    done_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class MoveState:
    """What a move, a backup or a restore must know of a database."""

    id: str
    leased: int
    """How many leases a Relay holds in it."""
    leased_seconds: int | None
    """When the last of them ends."""
    numbers: dict[str, dict[str, str | None]]
    """The last number that each identity column has given, by table and column."""
    tables: tuple[MovedTable, ...]
    """Each after those it refers to."""
    moves: tuple[PastMove, ...] = ()

    @property
    def sizes(self) -> dict[str, int]:
        return {table.name: table.size for table in self.tables}

    @property
    def unfinished(self) -> bool:
        """Whether a move into it was begun and not finished."""
        return any(move.state != "done" for move in self.moves)


@dataclass(frozen=True, slots=True)
class MovePage:
    """Some rows of a table, as texts."""

    rows: list[list[str | None]]
    last: list[str] | None
    """The key of the last one."""
    end: bool


@dataclass(frozen=True, slots=True)
class StoredRows:
    """How much of a table has arrived."""

    rows: int
    after: list[str] | None = None
    """The key of the last row."""
    left_out: int = 0
    """How many rows could not be stored, since they refer to what is missing."""


@dataclass(frozen=True, slots=True)
class BegunMove:
    """A move into a database that was begun or taken up."""

    state: str
    began_at: datetime
    done_at: datetime | None
    progress: dict[str, StoredRows]
    """By table."""


@dataclass(frozen=True, slots=True)
class Digest:
    """Checksums of some rows of a table, added up."""

    rows: int
    sum: int
    last: list[str] | None
    end: bool


@dataclass(frozen=True, slots=True)
class OwedRewrite:
    """Whether the database's files may still hold what was erased."""

    owed: bool
    at: str
    """The database's present time."""
