"""Checks that an altered backup with correct checksums is either restored or refused with a sentence, and that no Relay
starts on a partly restored database."""

from __future__ import annotations

import io
import json
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.archive.backup import Backup
from relay.archive.backup_file import BackupWriter, Header, read_header, rows
from relay.archive.restore import Restore, check
from relay.clients.postgres.database import Postgres
from relay.core.errors import DatabaseUnavailable, RelayError
from relay.memory.store import Store
from tests.integration.conftest import TEMPLATE, Server
from tests.integration.sides import Looking, Side
from tests.integration.test_backup import AT_REST, SCHEMA
from tests.integration.test_export import lived
from tests.integration.turn_driver import TurnDriver
from tests.integration.undone import Undone, undone
from tests.strategies import ODD_TEXT, altered, examples

Row = list[str | None]
CELLS = st.none() | ODD_TEXT | st.sampled_from(["0", "-1", "1", "t", "{}", "[]", "null", "2026-01-01", "9" * 30, "{1}"])


@dataclass
class Place:
    """A database with data, the contents of a backup of it, and the path of an altered backup."""

    database: Undone
    path: Path
    header: Header
    tables: list[tuple[str, list[Row]]]

    async def came_of(self, header: Header, tables: list[tuple[str, list[Row]]]) -> str:
        """Restores these tables. Returns the empty string, or the sentence of the error."""
        file = io.BytesIO()
        writer = BackupWriter(file, header)
        given = dict(tables)
        for name in (table.name for table in header.tables):
            writer.begin(name)
            writer.rows(given.get(name, []))
        writer.finish()
        self.path.write_bytes(file.getvalue())
        try:
            found = await check(self.path, SCHEMA, Looking())
            await Restore(self.database, Looking(), found).run(replace=True)
        except DatabaseUnavailable:
            raise
        except RelayError as error:
            return str(error)
        return ""


def line(value: Any) -> bytes:
    """Returns a line of a backup. A lone surrogate, which Relay never writes, becomes an escape."""
    try:
        return json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(value).encode()


@pytest.fixture
async def place(embedded: Server, tmp_path: Path) -> AsyncIterator[Place]:
    name, path = embedded.create(TEMPLATE), tmp_path / "x.relaybackup"
    client, side = Postgres(embedded.url(name)), Side(Postgres(""), embedded.url(name))
    await client.open()

    async def at_once(function: Any, *arguments: Any) -> Any:
        return function(*arguments)

    try:
        await lived(TurnDriver(Store(client, str(uuid.uuid4()))), side.run)
        side.sql(AT_REST)
        await Backup(client, Looking(), "1.2.3", SCHEMA, "a test").make(path)
        await client.close()
        tables = [
            (table, [json.loads(line) for _, line in held]) for table, held in groupby(rows(path), lambda x: x[0])
        ]
        with (
            mock.patch("relay.archive.restore.in_thread", at_once),
            mock.patch("relay.archive.backup_file._line", line),
        ):
            async with undone(embedded.url(name)) as database:
                yield Place(database, path, read_header(path), tables)
    finally:
        await client.close()
        embedded.drop(name)


@st.composite
def changed(draw: st.DrawFn, tables: list[tuple[str, list[Row]]]) -> list[tuple[str, list[Row]]]:
    """Returns tables with changed, missing, repeated, moved, too long or too short rows."""
    made = [(name, [list(row) for row in held]) for name, held in tables]
    for _ in range(draw(st.integers(1, 3))):
        held = draw(st.sampled_from(made))[1]
        if not held:
            continue
        at = draw(st.integers(0, len(held) - 1))
        match draw(st.sampled_from(["cell", "cell", "cell", "leave out", "double", "longer", "shorter", "move"])):
            case "cell" if held[at]:
                held[at][draw(st.integers(0, len(held[at]) - 1))] = draw(CELLS)
            case "leave out":
                del held[at]
            case "double":
                held.insert(at, held[at])
            case "longer":
                held[at].append(draw(CELLS))
            case "shorter":
                held[at] = held[at][:-1]
            case "move":
                made[draw(st.integers(0, len(made) - 1))][1].append(held[at])
    return made


@examples(12)
@given(data=st.data())
async def test_an_altered_backup_is_restored_or_refused(place: Place, data: st.DataObject) -> None:
    header = place.header
    if not data.draw(st.integers(0, 3)):
        header = replace(header, numbers=data.draw(altered(header.numbers)))
    async with place.database.tried():
        said = await place.came_of(header, data.draw(changed(place.tables)))
        states = await place.database.sql("select state from move")
        assert states in ([[("done",)]] if not said else [[("copying",)], []]), said
        assert said == "" or said.endswith((".", ")"))


async def test_an_unaltered_backup_is_restored(place: Place) -> None:
    async with place.database.tried():
        assert await place.came_of(place.header, place.tables) == ""
        assert await place.database.sql("select state from move") == [("done",)]
    assert await place.database.sql("select state from move") == [], "a trial leaves no rows behind"
