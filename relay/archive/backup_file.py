"""The format of a backup: gzip'd lines of JSON. A header, then each table as a line with its name and one line per row
as PostgreSQL wrote it, then row counts and checksums; the last line has the checksum of all before."""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Callable, Iterator
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from pydantic import TypeAdapter, ValidationError

from relay.archive.move_rows import MovedTable, TableSum
from relay.core.errors import RelayError
from relay.core.frozen import frozen

FORMAT = "relay-backup"
VERSION = 1
LEVEL = 6
LONGEST_LINE = 2**29
"""The most bytes of a line. PostgreSQL holds JSON up to 2**28; as text, every character may need an escape."""


class BackupDamaged(RelayError):
    """A file is not an intact backup of Relay."""


@frozen
class Header:
    """A backup's description."""

    id: str
    """A UUID that identifies this backup."""
    relay: str
    schema: int
    storage: str
    made_at: str
    """The time of the backup, in ISO 8601."""
    up_to: dict[str, str] | None
    """Without a snapshot, the last id of each table that is certainly included. None: the backup shows one moment."""
    tables: tuple[MovedTable, ...]
    """The tables in storage order: each after those it references."""
    numbers: dict[str, dict[str, str | None]]
    """The last value of each identity column, by table and column."""

    @property
    def at(self) -> datetime:
        return datetime.fromisoformat(self.made_at)

    @property
    def complete(self) -> str:
        """Describes in words how complete the backup is."""
        if self.up_to is None:
            return f"everything as it was at {self.at:%Y-%m-%d %H:%M:%S} UTC"
        return f"complete up to message {self.up_to.get('message', '0')}"


@frozen
class BackupContents:
    """The contents of a backup."""

    format: str
    version: int
    relay: str = ""


@frozen
class Marker:
    """A line that is not a row."""

    table: str = ""
    """The following rows belong to this table."""
    sums: dict[str, tuple[int, int]] | None = None
    """Row count and checksum by table."""
    end: str | None = None
    """The checksum of everything before."""


_FORM, _HEADER, _MARK = TypeAdapter(BackupContents), TypeAdapter(Header), TypeAdapter(Marker)


class BackupWriter:
    """Writes a backup to an open file."""

    def __init__(self, file: BinaryIO, header: Header) -> None:
        self._zip = gzip.GzipFile(fileobj=file, mode="wb", compresslevel=LEVEL, filename="")
        self._whole = hashlib.sha256()
        self._sums: dict[str, TableSum] = {}
        self._sum = TableSum()
        self._write(_line({"format": FORMAT, "version": VERSION, **asdict(header)}))

    def begin(self, table: str) -> None:
        """Begins a table."""
        self._sum = self._sums[table] = TableSum()
        self._write(_line({"table": table}))

    def rows(self, rows: list[list[str | None]]) -> None:
        """Adds rows."""
        for row in rows:
            line = _line(row)
            self._sum.add(line)
            self._write(line)

    def finish(self) -> dict[str, int]:
        """Writes the last lines; returns each table's row count."""
        self._write(_line({"sums": {name: [one.rows, str(one.sum)] for name, one in self._sums.items()}}))
        self._write(_line({"end": self._whole.hexdigest()}))
        self._zip.close()
        return {name: one.rows for name, one in self._sums.items()}

    def _write(self, line: bytes) -> None:
        self._whole.update(line + b"\n")
        self._zip.write(line + b"\n")


def _line(value: Any) -> bytes:
    """Formats a value as PostgreSQL writes JSON, so that rows have the same checksum on both sides."""
    return json.dumps(value, ensure_ascii=False).encode()


def printable(text: str) -> str:
    """Returns a file's text without control characters, which could change what a terminal shows."""
    return "".join(sign for sign in text if sign.isprintable())


def read_header(path: Path) -> Header:
    """Reads a backup's header. Raises `BackupDamaged` if it is not a backup, or not readable by this version."""
    line = next(_lines(path), b"")
    try:
        form = _FORM.validate_json(line)
    except ValidationError:
        raise _foreign(path) from None
    if form.format != FORMAT:
        raise _foreign(path)
    if form.version != VERSION:
        raise BackupDamaged(f"{path} was made by a newer Relay ({printable(form.relay)}). Upgrade this one first.")
    try:
        header = _HEADER.validate_json(line, strict=True)
        sound = header.at.tzinfo is not None
    except ValueError:
        raise _damage_error(path) from None
    if not sound:
        raise _damage_error(path)
    return header


def check_rows(path: Path, told: Callable[[str, int], None]) -> dict[str, TableSum]:
    """Reads a whole backup and returns its tables' contents in numbers. Calls `told` with a table and its row count so
    far. Raises `BackupDamaged` if any byte has changed."""
    whole, last, table = hashlib.sha256(), Marker(), ""
    sums, held = dict[str, TableSum](), dict[str, TableSum]()
    for line in _lines(path):
        if last.end is not None:
            raise _damage_error(path)
        if line[:1] == b"[":
            if table not in held or not _is_row(line):
                raise _damage_error(path)
            held[table].add(line)
            if held[table].rows % 1000 == 0:
                told(table, held[table].rows)
        else:
            if table in held:
                told(table, held[table].rows)
            last = _mark(path, line)
            if last.sums is not None:
                sums = {name: TableSum(rows, total) for name, (rows, total) in last.sums.items()}
            table = last.table
            if table:
                held.setdefault(table, TableSum())
        if last.end is None:
            whole.update(line + b"\n")
    if last.end != whole.hexdigest() or sums != held:
        raise _damage_error(path)
    return sums


def _is_row(line: bytes) -> bool:
    """Tests whether a line is a row as PostgreSQL wrote it: texts and nulls."""
    try:
        return all(one is None or isinstance(one, str) for one in json.loads(line))
    except (ValueError, RecursionError):
        return False


def rows(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yields every row of a checked backup with its table; leaves out empty tables."""
    table = ""
    for line in _lines(path):
        if line[:1] == b"[":
            yield table, line
        else:
            table = _mark(path, line).table


def _lines(path: Path) -> Iterator[bytes]:
    """Yields a backup's lines without line ends."""
    line = b""
    try:
        with gzip.open(path, "rb") as file:
            while line := file.readline(LONGEST_LINE):
                if line[-1:] != b"\n":
                    raise _damage_error(path)
                yield line[:-1]
    except gzip.BadGzipFile:
        raise _damage_error(path) if line else _foreign(path) from None
    except (EOFError, zlib.error):
        raise _damage_error(path) from None
    except OSError as error:
        raise BackupDamaged(f"{path} cannot be read: {error.strerror or error}.") from None


def _mark(path: Path, line: bytes) -> Marker:
    try:
        return _MARK.validate_json(line)
    except ValidationError:
        raise _damage_error(path) from None


def _foreign(path: Path) -> BackupDamaged:
    return BackupDamaged(f"{path} is not a backup of Relay.")


def _damage_error(path: Path) -> BackupDamaged:
    return BackupDamaged(f"{path} is cut off or was altered, so it is not restored. Use another backup.")
