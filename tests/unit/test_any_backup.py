"""A backup altered by hand or by chance is refused with a sentence before anything is changed."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import io
import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from relay.archive.backup_file import BackupWriter, Header, rows
from relay.archive.move_rows import MovedTable
from relay.archive.restore import CheckedBackup, check
from relay.core.errors import RelayError
from tests.integration.sides import Looking
from tests.strategies import altered, damaged, examples, json_of

TABLES = tuple(MovedTable(name, 2, ("id", "text"), ("id bigint", "text text")) for name in ("space", "message"))
NUMBERS = {"message": {"id": "9"}}
HEADER = Header("6f1f", "1.2.3", 7, "a test", "2026-01-01T00:00:00+00:00", None, TABLES, NUMBERS)
SCHEMA = 14


def a_backup() -> bytes:
    file = io.BytesIO()
    writer = BackupWriter(file, HEADER)
    for table in ("space", "message"):
        writer.begin(table)
        writer.rows([["1", "a"], ["2", None]])
    writer.finish()
    return file.getvalue()


BACKUP = a_backup()
RUNNER = asyncio.Runner()
SUMS = gzip.decompress(BACKUP).splitlines()[-2:-1]
LINES = [json.loads(line) for line in gzip.decompress(BACKUP).splitlines()][:-1]


def packed(lines: list[Any]) -> bytes:
    """Packs lines as a backup with a correct checksum."""
    text = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    end = json.dumps({"end": hashlib.sha256(text).hexdigest()}).encode() + b"\n"
    return gzip.compress(text + end)


@pytest.fixture(scope="module", autouse=True)
def in_no_thread() -> Iterator[None]:
    """Runs checks without a thread: switching to one takes longer than checking so small a file."""

    async def at_once(function: Callable[..., Any], *arguments: Any) -> Any:
        return function(*arguments)

    with mock.patch("relay.archive.restore.in_thread", at_once):
        yield
    RUNNER.close()


def told(content: bytes) -> CheckedBackup | None:
    """The result of the check, or None if it refuses the file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.relay-backup"
        path.write_bytes(content)
        try:
            found = RUNNER.run(check(path, SCHEMA, Looking()))
        except RelayError:
            return None
        list(rows(path))
        return found


def test_an_unaltered_backup_is_accepted() -> None:
    found, again = told(BACKUP), told(packed(LINES))
    assert found is not None
    assert again is not None
    assert (found.header, found.sums) == (again.header, again.sums)


@examples(100)
@given(damaged(BACKUP))
def test_a_damaged_backup_is_refused(content: bytes) -> None:
    found = told(content)
    assert found is None or found.header == HEADER


@examples(100)
@given(altered(LINES) | st.lists(st.sampled_from(LINES) | json_of("table", "sums", "format", "end"), max_size=5))
@example([[1]])
@example([*LINES[:-1], {"sums": {"space": [float("inf"), "1"]}}])
@example([{**LINES[0], "schema": "7"}, *LINES[1:]])
@example([{**LINES[0], "tables": [5]}, *LINES[1:]])
@example([{**LINES[0], "made_at": "yesterday"}, *LINES[1:]])
@example([*LINES[:-1], {"sums": {"space": [2, "1"]}}])
def test_a_made_up_backup_is_refused_or_well_formed(lines: Any) -> None:
    found = told(packed(lines if isinstance(lines, list) else [lines]))
    if found is not None:
        assert found.header.schema <= SCHEMA
        assert found.header.complete
        assert all(found.sums[table.name].rows >= 0 for table in found.header.tables)


@examples(100)
@given(damaged(b"\n".join(gzip.decompress(BACKUP).splitlines()[:-1])))
def test_a_backup_with_damaged_lines_is_refused_or_well_formed(text: bytes) -> None:
    end = json.dumps({"end": hashlib.sha256(text + b"\n").hexdigest()}).encode() + b"\n"
    found = told(gzip.compress(text + b"\n" + end))
    assert found is None or found.header.complete


def test_a_backup_of_a_bare_list_or_with_infinite_counts_is_refused() -> None:
    assert told(packed([[1]])) is None
    assert told(packed([*LINES[:-1], {"sums": {"space": [float("inf"), "1"]}}])) is None


def test_a_backup_whose_row_counts_or_checksums_differ_is_refused() -> None:
    sums = LINES[-1]["sums"]
    for other in ([-1, sums["message"][1]], [1, sums["message"][1]], [2, "0"]):
        assert told(packed([*LINES[:-1], {"sums": sums | {"message": other}}])) is None
    assert told(packed([*LINES[:-1], {"sums": sums | {"memory": [0, "0"]}}])) is None


@pytest.mark.parametrize("row", [b"[", b'["1", "a"', b'["1", 2]', b'["1", {}]', b'["1", "\xff"]', b"[" * 100_000])
def test_a_backup_with_malformed_rows_is_refused(row: bytes) -> None:
    text = b"".join(line + b"\n" for line in [*gzip.decompress(BACKUP).splitlines()[:2], row, *SUMS])
    end = json.dumps({"end": hashlib.sha256(text).hexdigest()}).encode() + b"\n"
    assert told(gzip.compress(text + end)) is None


def test_a_backup_that_is_nested_too_deeply_is_refused() -> None:
    assert told(gzip.compress(b"[" * 100_000 + b"\n")) is None
    text = gzip.decompress(BACKUP).splitlines()
    assert told(gzip.compress(b"\n".join([text[0], b'{"a":' * 100_000, b""]))) is None
