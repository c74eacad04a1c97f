"""Checks that markers, versions and compositions belong to one space: they are never read or erased from another space,
never made off the record, and follow a group that becomes a supergroup."""

from __future__ import annotations

import json
import uuid
from typing import Any

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.core.models import Space
from relay.memory.rows.search import SearchQuery, Weights
from relay.memory.store import Store
from tests.integration.conftest import Sql
from tests.integration.turn_driver import ADA, BEN, BOT, FINISHED, GROUP, TurnDriver, dm, group, private
from tests.strategies import examples

SMALL = -4242
SPACES = (private(ADA), private(BEN), group())
SQL = """
with kept as (
    insert into keepit (space_id, thread_id, session_id, message_id, seq, weight, content, block, start_at, end_at,
        context, origin, user_id)
    select space_id, thread_id, session_id, id, 0, 0.80, text, 0, 0, 1, '', 'text', user_id from message
    where id = %(message)s returning *),
made as (
    insert into compression (space_id, thread_id, session_id, number, name, settings, inputs, status, rows, created_by)
    select space_id, thread_id, session_id, coalesce((select max(number) from compression), 0) + 1, 'v', '{}',
        array['message:' || message_id], 'ready',
        jsonb_build_array(jsonb_build_object('role', 'user', 'text', content)), user_id from kept returning *),
put as (
    insert into composition (space_id, thread_id, session_id, name, budget, inputs, rows, status, created_by)
    select space_id, thread_id, session_id, 'c' || id, 4000, inputs, rows, 'ready', created_by from made returning *)
insert into composition_part (composition_id, place, session_id, compression_id, version)
select put.id, 0, made.session_id, made.id, made.name from put, made"""
FOREIGN = """select
    (select count(*) from keepit k join message m on m.id = k.message_id join session s on s.id = k.session_id
        where (k.space_id, k.thread_id, k.session_id) <> (m.space_id, m.thread_id, m.session_id) or s.private)
    + (select count(*) from compression c join session s on s.id = c.session_id join thread t on t.id = s.thread_id
        where c.space_id <> t.space_id or c.thread_id <> t.id or s.private)
    + (select count(*) from composition c join thread t on t.id = c.thread_id where c.space_id <> t.space_id)
    + (select count(*) from composition_part p join composition c on c.id = p.composition_id
        join session s on s.id = p.session_id where s.space_id <> c.space_id or s.private)
    + (select count(*) from entry e join compression c on c.id = e.source_id
        where e.kind = 'version' and e.space_id <> c.space_id)"""


async def everything_of(store: Store, sql: Sql, space: Space) -> str:
    """Returns everything that a space may read of versions and compositions, as text."""
    rows: list[Any] = []
    for kind in ("version", "composition"):
        after, end = None, False
        while not end:
            page = await store.export_rows(kind, space, after)
            rows, after, end = [*rows, *page.rows], page.last, page.end
    kinds = {"version": "compression", "composition": "composition"}
    numbers = [(kind, n) for kind, table in kinds.items() for (n,) in await sql(f"select id from {table}")]  # noqa: S608
    opened = [await store.open_found(space, BOT.id, kind, n) for kind, n in numbers]
    found = await store.find(space, BOT.id, SearchQuery("word", kinds=("version",)), 0, 50)
    marked = await store.find(space, BOT.id, SearchQuery("", keepit=Weights("0.50", "1.00")), 0, 50)
    return json.dumps(rows) + str((opened, found, marked))


@pytest.mark.hypothesis
@examples(10)
@given(said=st.lists(st.tuples(st.integers(0, 2), st.booleans()), min_size=1, max_size=5), gone=st.integers(0, 2))
async def test_library_data_is_never_read_or_erased_from_another_space(
    driver: TurnDriver, sql: Sql, said: list[tuple[int, bool]], gone: int
) -> None:
    words: dict[int, set[str]] = {0: set(), 1: set(), 2: set()}
    for place, marked in said:
        word = f"word{uuid.uuid4().hex[:10]}"
        chat = {"chat_id": GROUP} if place == 2 else {}
        await driver.exchange((ADA, BEN, ADA)[place], f"word {word}", "ok", **chat)
        if marked:
            [(number,)] = await sql("select id from message where text = %s", f"word {word}")
            await sql(SQL % {"message": number})
            words[place].add(word)
    assert await sql(FOREIGN) == [(0,)]
    texts = [await everything_of(driver.store, sql, space) for space in SPACES]
    for place, own in words.items():
        for reader, text in enumerate(texts):
            assert {word for word in own if word in text} == (own if reader == place else set())
    user_id = (ADA, BEN, ADA)[gone]
    if shown := await driver.store.erase_preview(SPACES[gone], {"words": "word"}, user_id, True):
        assert shown.counts.artefacts >= 2 * len(words[gone])
        await driver.store.erase_begin(shown.erasure_id, user_id, True)
        while not (await driver.store.erase_step(shown.erasure_id) or FINISHED).done:
            pass
    left = [await everything_of(driver.store, sql, space) for space in SPACES]
    for place, own in words.items():
        assert {word for word in own if word in left[place]} == (set() if place == gone else own)


async def test_nothing_off_the_record_is_in_the_library(driver: TurnDriver, sql: Sql) -> None:
    await driver.exchange(ADA, "Hello")
    await driver.store.private(dm(ADA), True, ADA)
    await driver.exchange(ADA, "A secret")
    [(session,)] = await sql("select id from session where private")
    with pytest.raises(psycopg.errors.NoDataFound):
        await sql("select relay.make_version(%s, 1, '{}')", session)
    await sql(
        "select relay.register_sessions(array[%s::bigint]), relay.touch_sessions(array[%s::bigint])", session, session
    )
    assert await sql("select registered_at, last_accessed_at from session where private") == [(None, None)]
    assert await sql("select count(*) from relay.session_messages(%s)", session) == [(0,)]
    assert await sql("select count(*) from compression") == [(0,)]


async def test_a_group_keeps_its_library_under_its_new_id(driver: TurnDriver, sql: Sql) -> None:
    for chat_id in (SMALL, GROUP):
        await driver.exchange(ADA, f"word of {chat_id}", "ok", chat_id=chat_id)
        [(number,)] = await sql("select id from message where text = %s", f"word of {chat_id}")
        await sql(SQL % {"message": number})
        await sql("insert into context_setting (space_id, settings) select space_id, jsonb_build_object('n',"
                  " %s::bigint)"
                  " from message where id = %s", chat_id, number)  # fmt: skip
        await sql("insert into session_link (source_session_id, target_thread_id, space_id, linked_by)"
                  " select session_id, thread_id, space_id, 1 from message where id = %s", number)  # fmt: skip
    await sql("update composition set name = 'Same'")
    await driver.store.regroup(BOT.id, SMALL, GROUP)
    [(space,)] = await sql("select id from space where chat_id = %s", GROUP)
    [(thread,)] = await sql("select id from thread where space_id = %s", space)
    for table in ("keepit", "compression", "composition"):
        rows = await sql(f"select distinct space_id, thread_id from {table}")  # noqa: S608
        assert rows == [(space, thread)], table
    assert await sql("select count(distinct lower(name)), count(*) from composition") == [(2, 2)]
    assert await sql("select count(*) from context_setting where space_id = %s", space) == [(1,)]
    assert await sql("select distinct space_id, target_thread_id from session_link") == [(space, thread)]
    assert await sql(FOREIGN) == [(0,)]
    assert await sql("select count(distinct (space_id, thread_id)) from entry where kind = 'version'") == [(1,)]
