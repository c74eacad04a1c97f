"""Checks that a new kind of artefact, declared once, is searched, explained, exported, imported, moved and erased."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from relay.archive.imports import Import, check
from relay.archive.transfer import Transfer
from relay.clients.postgres.database import Postgres
from relay.core.models import Space
from relay.memory import migrations
from relay.memory.derivations import artefacts
from relay.memory.derivations.artefacts import id_of, read_id
from relay.memory.migrations import Migration
from relay.memory.rows.search import KnownHit, SearchQuery
from relay.memory.rows.search_context import OpenedArtefact
from relay.memory.store import Store
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.history.search import known_page
from tests.integration.conftest import TEMPLATE, Server
from tests.integration.dump import holding
from tests.integration.note_artefact import MIGRATION, NOTE
from tests.integration.sides import Looking, Side
from tests.integration.test_erase_sql import erase
from tests.integration.test_export import written
from tests.integration.turn_driver import ADA, BEN, BOT, GROUP, TurnDriver, group, incoming_of, private, reply

SAID = "My boat is called Zanzibarix"
TEXT = "Zanzibarix is a boat of oak"
SMALL = -4242


@pytest.fixture(autouse=True)
def known_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(artefacts, "KINDS", (*artefacts.KINDS, NOTE))


Make = Callable[[], Awaitable[Side]]


@pytest.fixture
async def make(embedded: Server) -> AsyncIterator[Make]:
    """Makes databases that know the new kind."""
    schema = migrations.load()
    schema = replace(schema, migrations=(*schema.migrations, Migration(schema.version + 1, "note", MIGRATION)))
    made: list[tuple[str, Postgres]] = []

    async def one() -> Side:
        name = embedded.create(TEMPLATE)
        client = Postgres(embedded.url(name))
        made.append((name, client))
        await client.open()
        for script in schema.scripts():
            await client.run(script)
        side = Side(client, embedded.url(name))
        side.sql("update identity set id = gen_random_uuid()")
        return side

    yield one
    for name, client in made:
        await client.close()
        embedded.drop(name)


@pytest.fixture
async def side(make: Make) -> Side:
    return await make()


def store_of(side: Side) -> Store:
    return Store(side.port, str(uuid.uuid4()))


async def noted(side: Side, chat_id: int | None = None, text: str = TEXT, said: str = SAID) -> Store:
    """Stores a message and a note made from it."""
    store = store_of(side)
    await TurnDriver(store).exchange(ADA if chat_id is None else BEN, said, "Nice.", chat_id=chat_id)
    side.sql(
        "insert into note (space_id, thread_id, session_id, text, inputs, derivation) select space_id, thread_id,"
        " session_id, %s, array['message:' || id], '{\"name\": \"noting\"}' from message where text = %s",
        text,
        said,
    )
    return store


def note_id(side: Side) -> int:
    [(number,)] = side.sql("select id from note")
    return int(number)


async def opened(side: Side, space: Space) -> OpenedArtefact:
    found = await store_of(side).open_found(space, BOT.id, "note", note_id(side))
    assert isinstance(found, OpenedArtefact)
    return found


async def test_a_note_is_found_by_the_model_and_by_people(side: Side) -> None:
    store = await noted(side)
    found = await TurnDriver(store).look_up(private(ADA), "boat of oak")
    assert [(row.kind, row.snippet, row.untrusted) for row in found if row.kind == "note"] == [("note", TEXT, False)]
    page = await store.find(private(ADA), BOT.id, SearchQuery("oak"), 0, 5)
    hit = page.found[0]
    assert isinstance(hit, KnownHit)
    assert (hit.kind, hit.number, page.total) == ("note", note_id(side), 1)
    await TurnDriver(store).exchange(BEN, "Hello")
    assert [row.kind for row in await TurnDriver(store).look_up(private(BEN), "oak")] == []
    assert read_id(id_of("note", 12)) == ("note", 12, 0)


async def test_a_changed_note_is_found_by_its_new_words_and_never_off_the_record(side: Side) -> None:
    store = await noted(side)
    side.sql("update note set text = 'It sails to Ithaca'")
    assert [row.kind for row in await TurnDriver(store).look_up(private(ADA), "Ithaca")] == ["note"]
    side.sql("update session set private = true")
    assert await TurnDriver(store).look_up(private(ADA), "Ithaca") == []
    assert await store.open_found(private(ADA), BOT.id, "note", note_id(side)) is None


async def test_a_note_missing_from_the_index_is_indexed_later(side: Side) -> None:
    store = await noted(side)
    side.sql("truncate entry, index_progress cascade")
    while await store.index_missing(50):
        pass
    assert [row.kind for row in await TurnDriver(store).look_up(private(ADA), "oak")] == ["note"]


async def test_a_note_shows_its_sources(side: Side) -> None:
    store = await noted(side)
    found = await opened(side, private(ADA))
    assert (found.content, found.by, [row.text for row in found.sources]) == (TEXT, "noting", [SAID])
    assert await store.open_found(private(BEN), BOT.id, "note", note_id(side)) is None
    driver = TurnDriver(store)
    turn = await driver.turn(ADA, "Of what is it?")
    incoming = incoming_of(turn, "Of what is it?", private(ADA))
    await store.begin(incoming, "model-1")
    answer = reply("Of oak.")
    answer["prompt"] = {**answer.get("prompt", {}), "recalled_artefacts": [f"note:{found.id}", "note:999", "gone:1"]}
    await store.finish(incoming, answer)
    await driver.close(turn)
    why = await store.explain(turn.turn_id, ADA)
    assert why is not None
    assert [(row.kind, row.id, row.text) for row in why.recalled_artefacts] == [("note", found.id, TEXT)]


async def test_a_note_is_shown_in_the_chat_like_other_artefacts(side: Side) -> None:
    await noted(side)
    call = cast("ChatContext", _Reader(private(ADA)))
    page = known_page(call, await opened(side, private(ADA)))
    assert f"🗒 note #{note_id(side)}" in page
    assert TEXT[1:] in page, "the first letter may be escaped"
    assert SAID[1:] in page


async def test_a_note_is_exported_and_imported_once(side: Side, make: Make, tmp_path: Path) -> None:
    store = await noted(side)
    path = await written(store, private(ADA), tmp_path)
    target = await make()
    await noted(target, GROUP, "of the group", "Something else")  # so that ids differ
    for added in (1, 0):
        done = Import(store_of(target), check(path))
        await done.run()
        assert done.added["notes"] == added
    made = target.sql(
        "select n.text, n.created_at, m.text, t.chat_id, s.thread_id = t.id from note n"
        " join message m on n.inputs = array['message:' || m.id] join thread t on t.id = n.thread_id"
        " join session s on s.id = n.session_id where n.text <> 'of the group'"
    )
    [(at,)] = side.sql("select created_at from note")
    assert made == [(TEXT, at, SAID, ADA, True)]
    assert "note" in [row.kind for row in await TurnDriver(store_of(target)).look_up(private(ADA), "oak")]


async def test_an_older_version_reads_an_export_that_contains_notes(
    side: Side, make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = await written(await noted(side), private(ADA), tmp_path)
    monkeypatch.setattr(artefacts, "KINDS", artefacts.KINDS[:-1])
    target = await make()
    await Import(store_of(target), check(path)).run()
    assert target.sql("select text from message where text = %s", SAID) == [(SAID,)]
    assert target.sql("select 1 from note") == []


async def test_a_moved_note_is_found_in_the_target_database(side: Side, make: Make) -> None:
    await noted(side)
    side.sql("update job set lease_owner = null, lease_until = null")
    side.sql("update judging set lease_owner = null, lease_until = null")
    side.sql("update turn set lease_until = null")
    side.sql("delete from duty")
    target = await make()
    await Transfer(side.port, target.port, Looking()).run()
    assert (await opened(target, private(ADA))).content == TEXT
    store = store_of(target)
    while await store.index_missing(50):
        pass
    assert "note" in [row.kind for row in await TurnDriver(store).look_up(private(ADA), "oak")]


async def test_a_note_follows_a_group_that_gets_another_id(side: Side) -> None:
    store = await noted(side, SMALL)
    await TurnDriver(store).exchange(BEN, "Hello there", chat_id=GROUP)
    await store.regroup(BOT.id, SMALL, GROUP)
    assert (await opened(side, group(GROUP))).content == TEXT
    assert "note" in [row.kind for row in await TurnDriver(store).look_up(group(GROUP), "oak")]
    [(same,)] = side.sql("select e.space_id = n.space_id and e.thread_id = n.thread_id from note n"
                         " join entry e on e.kind = 'note' and e.source_id = n.id")  # fmt: skip
    assert same


async def test_a_note_is_erased_with_its_source_message(side: Side) -> None:
    store = await noted(side, text="A vessel of oak")
    side.sql("insert into note (space_id, text, inputs) select space_id, 'of a note', array['note:' || id] from note")
    side.sql("insert into note (space_id, text, inputs) select id, 'of others', '{}' from space")
    shown = await erase(store, private(ADA), {"words": "zanzibarix"})
    assert (shown.counts.messages, shown.counts.artefacts) == (1, 2)
    assert side.sql("select text from note") == [("of others",)]
    assert side.sql("select e.id from entry e where kind = 'note' and source_id not in (select id from note)") == []


async def test_a_note_is_erased_by_its_own_words(side: Side) -> None:
    store = await noted(side, said="I bought a boat")
    assert await erase(store, private(ADA), {"words": "zanzibarix"})

    async def sql(statement: str, *values: object) -> list[tuple[object, ...]]:
        return side.sql(statement, *values)

    assert await holding(sql, "zanzibarix") == {}


class _Reader:
    """The part of a call that showing a note needs."""

    def __init__(self, space: Space) -> None:
        from datetime import UTC

        self.space, self.zone, self.user_id, self.private = space, UTC, ADA, True
