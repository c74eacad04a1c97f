"""Checks that the counts in lists of sessions and projects equal a recount, whatever happened in between."""

from __future__ import annotations

import asyncio
import json

import psycopg

from relay.memory.rows.contexts.projects import Project
from relay.memory.store import Store
from tests.integration.conftest import Opened, Sql
from tests.integration.edits import again, answered, edit_of, held
from tests.integration.test_erase_sql import erase
from tests.integration.turn_driver import ADA, BEN, GROUP, TurnDriver, dm, group, private

RECOUNT = """select m.thread_id, count(distinct s.id), count(*), sum((octet_length(m.text) + 3) / 4)::bigint,
    count(distinct s.id) filter (where s.registered_at is not null)
    from message m join session s on s.id = m.session_id
    where m.status <> 'replaced' and not s.private group by 1 order by 1"""
RECOUNT_SESSIONS = """select session_id, count(*), sum((octet_length(text) + 3) / 4)::bigint from message
    where status <> 'replaced' and thread_id = (select id from thread where chat_id = %s and topic_id = 0) group by 1"""
MOVED = """update message set session_id = (select min(id) from session)
    where id = (select max(id) from message where status <> 'replaced')"""

CHANGES = (
    "insert into message (space_id, thread_id, session_id, role, text, blocks)"
    " select space_id, thread_id, session_id, role, 'Five words that came late', '[]' from message limit 1",
    "update message set text = 'One, and what was added to it' where text = 'One'",
    "delete from message where text = 'Two'",
)


async def projects(store: Store) -> list[Project]:
    return list((await store.projects([private(ADA), group()], False, 0, 50)).projects)


async def exact(store: Store, sql: Sql, after: str) -> None:
    """Reads the lists, which updates the counts, and checks them. Later steps start from these counts."""
    listed = sorted((p.id, p.sessions, p.messages, p.tokens, p.registered) for p in await projects(store))
    assert listed == await sql(RECOUNT), after
    page = await store.sessions(dm(ADA), 0, 50)
    assert {(one.id, one.messages, one.tokens) for one in page.sessions} == set(await sql(RECOUNT_SESSIONS, ADA)), after
    counted = await sql("select count(*) from session_count")
    assert counted == await sql("select count(*) from session"), f"{after}: everything is counted now"


async def test_counts_equal_a_recount_after_every_kind_of_change(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await driver.exchange(ADA, "Zanzibarix is a parrot", "What a näme!")
    await exact(store, sql, "a first exchange")
    turn, _, update = await answered(driver, "helo")
    await exact(store, sql, "an answer")
    await store.edit(edit_of(update, "hello, and much more than before"))
    assert await sql("select count(*) from message where text like 'hello, and%'") == [(1,)]
    await exact(store, sql, "an edit")
    await driver.close(held(await again(driver, turn, "Another, which is longer.")))
    assert await sql("select count(*) from message where status = 'replaced'") == [(1,)]
    await exact(store, sql, "a replaced answer")
    await sql("update message set status = 'replaced' where id = (select max(id) from message)")
    await exact(store, sql, "an answer of two that was not chosen")
    await store.new_session(dm(ADA), "")
    await driver.exchange(ADA, "And now for something else", "Yes.")
    await exact(store, sql, "a new session")
    await sql(MOVED)
    await exact(store, sql, "a message of another session")
    await erase(store, private(ADA), {"words": "Zanzibarix"})
    assert await sql("select count(*) from message where text like 'Zanz%'") == [(0,)]
    await exact(store, sql, "erasing")
    [(session,)] = await sql("select max(session_id) from message")
    await store.register_session(dm(ADA), session, True)
    await exact(store, sql, "registering")
    await sql("update session set private = true where id = %s", session)
    listed = sorted((p.id, p.sessions, p.messages, p.tokens, p.registered) for p in await projects(store))
    assert listed == await sql(RECOUNT), "off-the-record sessions must not be counted"


async def test_imported_and_group_messages_are_counted(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await driver.exchange(ADA, "One", "Two")
    await driver.exchange(ADA, "Three", "Four", chat_id=GROUP)
    await exact(store, sql, "two spaces")
    [(space, thread, session)] = await sql("select space_id, thread_id, session_id from message where text = 'One'")
    row = {"thread": thread, "session": session, "role": "user", "user_id": ADA, "name": "Ada",
           "text": "Imported, später", "blocks": [], "status": "complete", "untrusted": False, "tainted": False,
           "judged": True, "created_at": "2020-01-01T00:00:00Z", "versions": [], "reactions": []}  # fmt: skip
    rows = json.dumps([row, row | {"status": "replaced", "created_at": "2020-01-02T00:00:00Z"}])
    await sql("select public.relay_import_rows('messages', %s, %s::jsonb, null)", space, rows)
    await exact(store, sql, "an import")
    await sql("delete from message where session_id = %s", session)
    assert {p.chat_id for p in await projects(store)} == {GROUP}, "a chat without messages must not be listed"
    assert (await store.sessions(dm(ADA), 0, 50)).total == 0


async def test_an_uncommitted_message_is_counted_after_its_commit(
    driver: TurnDriver, store: Store, opened: Opened, sql: Sql
) -> None:
    await driver.exchange(ADA, "One", "Two")
    await exact(store, sql, "before")
    for change in CHANGES:
        await sql("delete from session_count")
        url = opened.server.url(opened.name)
        async with await psycopg.AsyncConnection.connect(url, options="-c search_path=relay,extensions") as other:
            await other.execute(change.encode())
            told = await asyncio.wait_for(projects(store), 5)
            [(_, _, messages, tokens, _)] = await sql(RECOUNT)
            assert (told[0].messages, told[0].tokens) == (messages, tokens), (
                "the counts must be those of committed rows, without waiting"
            )
        await exact(store, sql, change)


async def test_sessions_that_no_list_counted_are_counted_at_night(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await driver.exchange(ADA, "One", "Two")
    await driver.exchange(BEN, "Three", "Four")
    await sql("delete from session_count")
    await store.tidy(1, 100)
    assert await sql("select messages, tokens from session_count order by session_id") == [(2, 2), (2, 3)]


async def test_only_groups_in_which_the_person_spoke_are_listed(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await driver.exchange(ADA, "One", "Two", chat_id=GROUP)
    await driver.exchange(ADA, "One", "Two")
    await sql("insert into space (kind, chat_id) select 'group', -5000 - n from generate_series(1, 60) n")
    await sql("insert into thread (space_id, chat_id, last_at) select id, chat_id, now() + interval '1 day' from space"
              " where chat_id < 0 and chat_id > -6000")  # fmt: skip
    assert set(await store.spaces_around(ADA)) == {private(ADA), group()}
    assert await store.spaces_around(BEN) == []
