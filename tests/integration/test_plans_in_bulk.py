"""Lists, erasures and undoing in bulk read few rows that they do not need, whatever the planner knows of the tables:
seen in the plans of the statements inside the functions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from tests.benchmarks.generated import Size, fill
from tests.integration.conftest import TEMPLATE, Server
from tests.plans import Plans, plans

SIZE = Size(messages=2_000, memories=1_000, threads=1, spaces=1, largest=2_000)
MARKERS = """insert into relay.keepit (space_id, thread_id, session_id, message_id, seq, weight, content, block,
        start_at, end_at, context, origin, user_id)
    select space_id, thread_id, session_id, id, 0, id % 101 / 100.0, text, 0, 0, 9, '', 'text', user_id
    from relay.message where id <= 1000"""
LIST = """select (public.relay_keepits(jsonb_build_object('kind', 'private', 'owner_id', 2000), null, %s, 6, 2000, 0)
    ) ->> 'total'"""
PENDING = (
    "insert into lexeme_change (space_id, word, change) select 1, 'word' || n, 1 from generate_series(1, 120000) n"
)
EXISTING = "select cardinality(existing_artefacts(array_agg('version:' || n))) from generate_series(1, 200) n"
SPACE = """select relay_import_space('{"kind": "private", "owner_id": 2000}', '{"threads": [{"chat_id": 2000,
    "topic_id": 0, "created_at": "2026-01-01"}], "personas": [], "places": []}')"""
SESSION = """select relay_import_rows('sessions', 1, jsonb_build_array(jsonb_build_object(
    'thread', 1, 'started_at', clock_timestamp())), '[]')"""
SAID = """select relay_import_rows('messages', 1, jsonb_build_array(jsonb_build_object('thread', 1, 'session', 2,
    'role', 'user', 'user_id', 2000, 'text', 'bees', 'blocks', '[]'::jsonb, 'status', 'complete', 'created_at', now())),
    '[]') ->> 'added'"""
OTHERS = """set session_replication_role = replica;
    insert into relay.message (space_id, thread_id, session_id, role, user_id, text, blocks)
    select 1, 1, 1, 'user', 2000, 'honey', '[]' from generate_series(1, 2000)"""
LEARNED = """insert into memory (space_id, kind, subject_id, subject, content, number)
    select 1, 'fact', 2000, 'Ada', 'likes bees ' || n, n from generate_series(%s, %s) n"""
VERSIONS = """insert into relay.compression (space_id, thread_id, session_id, number, name, settings, rows, status,
        created_by)
    select 1, 1, 1, n, 'v' || n, '{}', '[{"text": "bees and honey"}]', 'ready', 2000 from generate_series(1, 20) n"""


@pytest.fixture(scope="module")
def filled(embedded: Server) -> Iterator[str]:
    """The superuser's URL of a database in which one person said much."""
    name = embedded.create(TEMPLATE)
    url = embedded.url(name, superuser=True)
    fill(url, SIZE)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(MARKERS)
        connection.execute("update relay.message set status = 'replaced' where id in (100, 201)")
        connection.execute("vacuum analyze relay.message, relay.keepit")
    yield url
    embedded.drop(name)


async def rows(told: Plans, statement: str) -> list[tuple[Any, ...]]:
    """What a statement returns."""
    cursor = await told.connection.execute(statement.encode())
    return await cursor.fetchall() if cursor.description else []


async def test_a_list_of_markers_looks_at_the_messages_of_its_page_alone(filled: str) -> None:
    async with plans(filled) as told:
        for offset in (0, 990):
            assert await rows(told, LIST % offset) == [("998",)], "without two of replaced answers"
        assert 2 <= told.read()["message"] < 20, "of 1,000 that are marked"


async def test_a_step_of_an_erasure_reads_only_the_changes_of_words_that_it_adds_up(filled: str) -> None:
    async with plans(filled, search_path="relay, extensions, public") as told:
        await rows(told, "truncate lexeme_change")
        await rows(told, "analyze lexeme_change")
        await rows(told, PENDING)
        told.told.clear()
        await rows(told, "select sweep_words(0)")
        assert told.read()["lexeme_change"] == 20_000, "of 120,000 that are pending"
        assert await rows(told, "select count(*) from lexeme_change") == [(100_000,)]


async def test_changes_of_words_are_added_up_with_a_plan_made_while_there_were_none(filled: str) -> None:
    async with plans(filled, search_path="relay, extensions, public", statement_timeout="20000") as told:
        await rows(told, "truncate lexeme_change")
        await rows(told, "vacuum lexeme_change")  # the planner takes a table that it doesn't know for a larger one
        for _ in range(8):  # a plan is kept after five executions
            await rows(told, "select add_up_words(5000)")
        await rows(told, PENDING)
        told.told.clear()
        await rows(told, "select add_up_words(5000)")
        assert told.read()["lexeme_change"] == 5_000, "of 120,000 that are pending"
        assert await rows(told, "select count(*) from lexeme_change") == [(115_000,)]


async def test_an_import_finds_its_rows_by_indexes_with_a_plan_made_while_there_were_none(embedded: Server) -> None:
    name = embedded.create(TEMPLATE)
    url = embedded.url(name, superuser=True)
    async with plans(url, search_path="relay, extensions, public", statement_timeout="20000") as told:
        await rows(told, "vacuum")
        await rows(told, SPACE)
        for _ in range(8):  # one statement finds the rows of all parts
            await rows(told, SESSION)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(OTHERS)
        told.told.clear()
        assert await rows(told, SAID) == [("1",)]
        assert told.read()["message"] < 10, "of 2,000 of another session"
    embedded.drop(name)


async def test_what_is_learned_is_indexed_with_a_plan_made_while_there_was_little(embedded: Server) -> None:
    name = embedded.create(TEMPLATE)
    url = embedded.url(name, superuser=True)
    async with plans(url, search_path="relay, extensions, public") as told:
        await rows(told, SPACE)
        await rows(told, LEARNED % (1, 1))
        await rows(told, "vacuum")
        for one in range(2, 10):
            await rows(told, LEARNED % (one, one))
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("set session_replication_role = replica")
            connection.execute("set search_path = relay")
            connection.execute((LEARNED % (10, 2009)).encode())
        told.told.clear()
        await rows(told, LEARNED % (2010, 2010))
        assert told.read()["memory"] < 5, "of 2,000"
    embedded.drop(name)


@pytest.mark.parametrize(
    "forget",
    ["select forget_together(array[%s], null, 2000)", "update memory set status = 'discarded' where id = %s"],
)
async def test_what_is_forgotten_leaves_the_queue_for_vectors_by_its_index(filled: str, forget: str) -> None:
    async with plans(filled, search_path="relay, extensions, public") as told:
        active = [row[0] for row in await rows(told, "select id from memory where status = 'active' limit 9")]
        await rows(told, "truncate embed_due")
        await rows(told, "vacuum embed_due")
        for one in active[:8]:
            await rows(told, forget % one)
        await rows(told, "insert into embed_due (entry_id) select id from entry where kind = 'message' limit 1000")
        told.told.clear()
        await rows(told, forget % active[8])
        assert told.read()["embed_due"] < 5, "of 1,000: the entry's reference is looked up with the first plan"


async def test_versions_that_are_erased_leave_the_index_together(filled: str) -> None:
    async with plans(filled, search_path="relay, extensions, public") as told:
        await rows(told, VERSIONS)
        await rows(told, "truncate lexeme_change")
        told.told.clear()
        assert await rows(told, EXISTING) == [(20,)]
        assert len(told.told) < 20, "some statements for each kind, none for each of 200 versions"
        await rows(told, "select erase_artefact_rows(1, array_agg('version:' || id)) from compression")
        changes = await rows(told, "select word, change from lexeme_change where word = 'bee'")
        assert changes == [("bee", -20)], "a word of all is counted once"
        assert await rows(told, "select 1 from entry where kind = 'version'") == []


async def test_whether_a_memory_changed_since_is_asked_of_its_own_changes(filled: str) -> None:
    async with plans(filled, enable_nestloop="off", search_path="relay, extensions, public") as told:
        await rows(told, "select changed_since(c) from memory_change c where id = (select max(id) from memory_change)")
        assert told.read()["memory_change"] < 5, "of 1,000; it is asked of thousands when all are taken back"


async def test_a_preview_of_an_erasure_looks_at_pages_of_texts_first(filled: str) -> None:
    count = "select calls from pg_stat_xact_user_functions where funcname = 'says'"
    needle = """select cardinality(relay.erase_elsewhere(1, '[{"words": ["nobodysaidit"], "least": 1}]', true))"""
    async with plans(filled) as told, told.connection.transaction():
        await rows(told, "set local track_functions = 'all'")
        assert await rows(told, needle) == [(0,)]
        ((calls,),) = await rows(told, count)
        assert 1 <= calls <= 2 * SIZE.messages / 20, "of 2,000 texts"
