"""A backup as a file: gzip'd lines of JSON. The first is the header; then each table, by a line with its name and one
for each row, as Postgres wrote it; then the numbers of rows and their checksums; the last has that of all before it."""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from pydantic import TypeAdapter, ValidationError

from relay.archive.move_rows import MovedTable
from relay.core.errors import RelayError

FORMAT = "relay-backup"
VERSION = 1
LEVEL = 6
LONGEST_LINE = 2**29
"""Bytes: a row comes as JSON of Postgres, which holds 2**28; written as text, each may need an escape."""


class BackupDamaged(RelayError):
    """A file is no backup of Relay, or not as it was written."""


@dataclass(frozen=True, slots=True)
class Header:
    """What a backup says of itself."""

    id: str
    """A UUID: which backup this is."""
    relay: str
    schema: int
    storage: str
    made_at: str
    """ISO 8601."""
    up_to: dict[str, str] | None
    """Read without a snapshot: the last id of each table that is surely in it. None: it shows one moment."""
    tables: tuple[MovedTable, ...]
    """In the order in which they are stored: each after those it refers to."""
    numbers: dict[str, dict[str, str | None]]
    """The last number that each identity column had given, by table and column."""

    @property
    def at(self) -> datetime:
        return datetime.fromisoformat(self.made_at)

    @property
    def complete(self) -> str:
        """How complete it is, in words."""
        if self.up_to is None:
            return f"everything as it was at {self.at:%Y-%m-%d %H:%M:%S} UTC"
        return f"complete up to message {self.up_to.get('message', '0')}"


@dataclass(frozen=True, slots=True)
class Form:
    """What a backup is."""

    format: str
    version: int
    relay: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    """A line that is no row."""

    table: str = ""
    """The rows that follow are this table's."""
    sums: dict[str, tuple[int, int]] | None = None
    """The number of rows and their checksum, by table."""
    end: str | None = None
    """The checksum of all before."""


_FORM, _HEADER, _MARK = TypeAdapter(Form), TypeAdapter(Header), TypeAdapter(Mark)


@dataclass(slots=True)
class Sum:
    """A table's rows, and the sum of their checksums as `relay_move_digest` makes it."""

    rows: int = 0
    sum: int = 0

    def add(self, line: bytes) -> None:
        self.rows += 1
        self.sum += int.from_bytes(hashlib.sha256(line).digest()[:8], "big", signed=True)


class BackupWriter:
    """Writes a backup into an open file."""

    def __init__(self, file: BinaryIO, header: Header) -> None:
        self._zip = gzip.GzipFile(fileobj=file, mode="wb", compresslevel=LEVEL, filename="")
        self._whole = hashlib.sha256()
        self._sums: dict[str, Sum] = {}
        self._sum = Sum()
        self._write(_line({"format": FORMAT, "version": VERSION, **asdict(header)}))

    def begin(self, table: str) -> None:
        """The rows that follow are a table's."""
        self._sum = self._sums[table] = Sum()
        self._write(_line({"table": table}))

    def rows(self, rows: list[list[str | None]]) -> None:
        """Adds rows."""
        for row in rows:
            line = _line(row)
            self._sum.add(line)
            self._write(line)

    def finish(self) -> dict[str, int]:
        """Writes the last lines; how many rows each table has."""
        self._write(_line({"sums": {name: [one.rows, str(one.sum)] for name, one in self._sums.items()}}))
        self._write(_line({"end": self._whole.hexdigest()}))
        self._zip.close()
        return {name: one.rows for name, one in self._sums.items()}

    def _write(self, line: bytes) -> None:
        self._whole.update(line + b"\n")
        self._zip.write(line + b"\n")


def _line(value: Any) -> bytes:
    """A value as Postgres writes its JSON, so that a row has the same checksum here and there."""
    return json.dumps(value, ensure_ascii=False).encode()


def read_header(path: Path) -> Header:
    """The header of a backup. Raises `BackupDamaged` when it is none, or one that this Relay cannot read."""
    line = next(_lines(path), b"")
    try:
        form = _FORM.validate_json(line)
    except ValidationError:
        raise _foreign(path) from None
    if form.format != FORMAT:
        raise _foreign(path)
    if form.version != VERSION:
        raise BackupDamaged(f"{path} was made by a newer Relay ({form.relay}). Upgrade this one first.")
    try:
        header = _HEADER.validate_json(line, strict=True)
        sound = header.at.tzinfo is not None
    except ValueError:
        raise _damaged(path) from None
    if not sound:
        raise _damaged(path)
    return header


def checked(path: Path, told: Callable[[str, int], None]) -> dict[str, Sum]:
    """Reads a whole backup; what its tables hold. `told` hears now and then a table and how many rows it has so far.

    Raises `BackupDamaged` when it is not, byte for byte, as it was written.
    """
    whole, last, table = hashlib.sha256(), Mark(), ""
    sums, held = dict[str, Sum](), dict[str, Sum]()
    for line in _lines(path):
        if last.end is not None:
            raise _damaged(path)
        if line[:1] == b"[":
            if table not in held or not _is_row(line):
                raise _damaged(path)
            held[table].add(line)
            if held[table].rows % 1000 == 0:
                told(table, held[table].rows)
        else:
            if table in held:
                told(table, held[table].rows)
            last = _mark(path, line)
            if last.sums is not None:
                sums = {name: Sum(rows, total) for name, (rows, total) in last.sums.items()}
            table = last.table
            if table:
                held.setdefault(table, Sum())
        if last.end is None:
            whole.update(line + b"\n")
    if last.end != whole.hexdigest() or sums != held:
        raise _damaged(path)
    return sums


def _is_row(line: bytes) -> bool:
    """Whether a line is a row as Postgres wrote it: texts, and nulls."""
    try:
        return all(one is None or isinstance(one, str) for one in json.loads(line))
    except (ValueError, RecursionError):
        return False


def rows(path: Path) -> Iterator[tuple[str, bytes]]:
    """Every row of a backup that was checked, with its table; a table without rows does not come."""
    table = ""
    for line in _lines(path):
        if line[:1] == b"[":
            yield table, line
        else:
            table = _mark(path, line).table


def _lines(path: Path) -> Iterator[bytes]:
    """The lines of a backup without their ends."""
    line = b""
    try:
        with gzip.open(path, "rb") as file:
            while line := file.readline(LONGEST_LINE):
                if line[-1:] != b"\n":
                    raise _damaged(path)
                yield line[:-1]
    except gzip.BadGzipFile:
        raise _damaged(path) if line else _foreign(path) from None
    except (EOFError, zlib.error):
        raise _damaged(path) from None
    except OSError as error:
        raise BackupDamaged(f"{path} cannot be read: {error.strerror or error}.") from None


def _mark(path: Path, line: bytes) -> Mark:
    try:
        return _MARK.validate_json(line)
    except ValidationError:
        raise _damaged(path) from None


def _foreign(path: Path) -> BackupDamaged:
    return BackupDamaged(f"{path} is not a backup of Relay.")


def _damaged(path: Path) -> BackupDamaged:
    return BackupDamaged(f"{path} is cut off or was altered, so it is not restored. Use another backup.")
