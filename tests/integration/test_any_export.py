"""Checks that altered exports are either refused with a sentence or imported completely."""

from __future__ import annotations

import io
import json
import uuid
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.archive.export import line
from relay.archive.export_file import LINES
from relay.archive.imports import Import, check
from relay.clients.postgres.database import Postgres
from relay.core.errors import RelayError
from relay.memory.rows.upkeep.export import ImportedRows
from relay.memory.store import Store
from tests.integration.conftest import TEMPLATE, Server
from tests.integration.sides import Side
from tests.integration.test_export import lived, written
from tests.integration.turn_driver import ADA, TurnDriver, private
from tests.integration.undone import Undone, undone
from tests.strategies import altered, examples

Json = dict[str, Any]
NOT = ("Nothing was changed.", "were added.", "not an export", "newer")
SOMEBODY = 5_000_000
"""The user who imports."""


class Place:
    """A database with data and an export of it. Imports into it are rolled back."""

    def __init__(self, database: Undone, folder: Path, export: list[Json]) -> None:
        self.database, self.folder, self.export = database, folder, export
        self.store = Store(database, str(uuid.uuid4()))

    async def rows(self) -> list[tuple[Any, ...]]:
        """Returns the row counts of each space except the importing user's."""
        return await self.database.sql(
            "select s.id, (select count(*) from message m where m.space_id = s.id),"
            " (select count(*) from memory f where f.space_id = s.id) from space s"
            " where s.owner_id is distinct from %s order by 1",
            SOMEBODY,
        )

    async def has(self) -> list[tuple[Any, ...]]:
        """Returns the texts of the importing user's messages and memories."""
        return await self.database.sql(
            "select m.text from message m join space s on s.id = m.space_id where s.owner_id = %s union all"
            " select f.content from memory f join space s on s.id = f.space_id where s.owner_id = %s order by 1",
            SOMEBODY,
            SOMEBODY,
        )


@pytest.fixture
async def place(embedded: Server, tmp_path: Path) -> AsyncIterator[Place]:
    name = embedded.create(TEMPLATE)
    client = Postgres(embedded.url(name))
    await client.open()
    store, side = Store(client, str(uuid.uuid4())), Side(client, embedded.url(name))

    try:
        await lived(TurnDriver(store), side.run)
        path = await written(store, private(ADA), tmp_path)
        await client.close()
        async with undone(embedded.url(name)) as database:
            yield Place(database, tmp_path, [json.loads(one) for one in path.read_bytes().splitlines()])
    finally:
        await client.close()
        embedded.drop(name)


@st.composite
def exports(draw: st.DrawFn, whole: list[Json]) -> bytes:
    """Returns an export with changed, missing, repeated or moved rows. Its last line usually counts them correctly."""
    made = [*whole[:-1]]
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(made) - 1))
        match draw(st.sampled_from(["alter", "alter", "alter", "leave out", "double", "move"])):
            case "alter":
                made[at] = draw(altered(made[at]))
            case "leave out" if len(made) > 1:
                del made[at]
            case "double":
                made.insert(at, made[at])
            case "move":
                made.insert(draw(st.integers(0, len(made) - 1)), made.pop(at))
    end = whole[-1] | {"rows": len(made) - 1 + draw(st.sampled_from([1, 1, 1, 1, 1, 0]))}
    return b"".join(json.dumps(row).encode() + b"\n" for row in [*made, end])


async def taken_in(place: Place, content: bytes, name: str = "x.jsonl") -> str:
    """Imports an export. Returns the empty string, or the sentence of its error."""
    path = place.folder / name
    path.write_bytes(content)
    try:
        await Import(place.store, check(path), SOMEBODY).run()
    except RelayError as error:
        return str(error)
    return ""


@examples(60)
@given(data=st.data())
async def test_an_altered_export_is_imported_or_refused(place: Place, data: st.DataObject) -> None:
    async with place.database.tried():
        before = await place.rows()
        said = await taken_in(place, data.draw(exports(place.export)))
        assert await place.rows() == before
        assert not said or any(words in said for words in NOT)
        if "The rows before it were added" not in said:
            assert bool(said) != bool(await place.database.sql("select 1 from space where owner_id = %s", SOMEBODY))


async def test_an_export_refused_halfway_can_be_imported_completely_afterwards(place: Place) -> None:
    """An export may be altered at any row, here the first and the last of each kind: importing the original afterwards
    adds the rest."""
    content = b"".join(map(line, place.export))
    async with place.database.tried():
        assert await taken_in(place, content) == ""
        whole = await place.has()
    halves = 0
    for kind in ("message", "memory", "document", "summary"):
        of_kind = [at for at, row in enumerate(place.export) if row.get("type") == kind]
        for at in sorted({*of_kind[:1], *of_kind[-1:]}):
            async with place.database.tried():
                odd = [*place.export[:at], place.export[at] | {"created_at": "never"}, *place.export[at + 1 :]]
                halves += "The rows before it were added" in await taken_in(place, b"".join(map(line, odd)))
                assert await taken_in(place, content) == ""
                assert await place.has() == whole
    assert halves


async def test_an_invalid_row_is_refused_and_the_rows_before_it_were_added(place: Place) -> None:
    def with_(kind: str, **other: Any) -> bytes:
        at = next(at for at, row in enumerate(place.export) if row.get("type") == kind)
        return b"".join(map(line, [*place.export[:at], place.export[at] | other, *place.export[at + 1 :]]))

    async with place.database.tried():
        assert await taken_in(place, b"".join(map(line, place.export))) == ""
    for kind, other in (("message", {"role": "king"}), ("message", {"user_id": 10**30}), ("memory", {"changes": 5})):
        async with place.database.tried():
            assert "The rows before it were added" in await taken_in(place, with_(kind, **other))
    without = [{name: one for name, one in row.items() if name != "choices"} for row in place.export]
    assert await taken_in(place, b"".join(map(line, without))) == ""


async def test_an_archive_with_another_compression_method_is_refused(place: Place) -> None:
    for packing in (zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", packing) as archive:
            archive.writestr(LINES, b"".join(map(line, place.export)))
        assert "is not an export" in await taken_in(place, packed.getvalue(), "x.zip")


async def test_an_internal_error_is_not_blamed_on_the_file(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    async def faulty(*_: Any, **__: Any) -> ImportedRows:
        return ImportedRows((), 0)

    monkeypatch.setattr(type(place.store), "import_rows", faulty)
    with pytest.raises(ValueError, match="shorter"):
        await taken_in(place, b"".join(map(line, place.export)))
