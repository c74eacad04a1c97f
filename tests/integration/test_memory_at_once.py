"""Memory that several change at the same moment: what one is told, holds."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import psycopg
import pytest

from relay.memory.rows.changes import Changed
from relay.memory.store import Store
from tests.integration.conftest import Opened, Sql
from tests.integration.house import ADA, House, fact, forget, private

Json = dict[str, Any]
BERLIN, MITTE, LISBON = "Ada lives in Berlin.", "Ada lives in Berlin, in Mitte.", "Ada has moved to Lisbon."


@pytest.fixture
async def other(opened: Opened) -> AsyncIterator[psycopg.AsyncConnection[Any]]:
    """Another process, whose changes are seen when it commits."""
    async with await psycopg.AsyncConnection.connect(opened.server.url(opened.name, superuser=True)) as connection:
        await connection.execute("set search_path = relay, public, extensions")
        await connection.commit()
        yield connection


@asynccontextmanager
async def meanwhile(
    other: psycopg.AsyncConnection[Any], store: Store, first: Json, second: Json
) -> AsyncIterator[Changed]:
    """What the second action came to that was begun while the first had not committed yet."""
    await other.execute(
        "select relay_change_directly(%s, %s, %s)",
        (json.dumps(private(ADA).as_json()), ADA, json.dumps([first])),
    )
    mine = asyncio.create_task(store.change_directly(private(ADA), ADA, [second]))
    await asyncio.sleep(0.3)
    await other.commit()
    async with asyncio.timeout(10):
        yield await mine


async def known_as(house: House, text: str) -> Json:
    """The beginning of an action about a fact that is known from now on."""
    (change,) = await house.teach(ADA, text)
    return {"memory_id": change.memory_id, "evidence": []}


async def test_what_two_learn_at_once_is_known_once(
    house: House, store: Store, other: psycopg.AsyncConnection[Any]
) -> None:
    await house.teach(ADA, "likes tea")
    async with meanwhile(other, store, fact(ADA, BERLIN), fact(ADA, BERLIN)) as done:
        assert done.failed == ()
    assert await house.known(private(ADA)) == ["likes tea", BERLIN]


async def test_what_is_said_again_while_something_takes_its_place_is_known(
    house: House, store: Store, other: psycopg.AsyncConnection[Any]
) -> None:
    moved = await known_as(house, BERLIN) | {"action": "supersede", "content": LISBON}
    async with meanwhile(other, store, moved, fact(ADA, BERLIN)) as done:
        assert done.failed == ()
    assert await house.known(private(ADA)) == [LISBON, BERLIN]


async def test_what_is_forgotten_while_it_is_said_better_is_forgotten(
    house: House, store: Store, other: psycopg.AsyncConnection[Any]
) -> None:
    better = await known_as(house, BERLIN) | {"action": "refine", "content": MITTE}
    async with meanwhile(other, store, better, forget("Berlin")) as done:
        assert done.failed == ()
    assert await house.known(private(ADA)) == []


async def test_what_is_erased_meanwhile_is_not_refreshed(
    house: House, store: Store, sql: Sql, other: psycopg.AsyncConnection[Any]
) -> None:
    """It was an error of the database, and the turn was answered anew."""
    (change,) = await house.teach(ADA, BERLIN)
    ((space_id,),) = await sql("select id from space")
    await other.execute("select relay.erase_memory_rows(%s, array[%s]::bigint[])", (space_id, change.memory_id))
    mine = asyncio.create_task(store.change_directly(private(ADA), ADA, [fact(ADA, BERLIN)]))
    await asyncio.sleep(0.3)
    await other.commit()
    async with asyncio.timeout(10):
        assert (await mine).failed == ()
    assert await house.known(private(ADA)) == [BERLIN]


async def test_a_message_goes_with_the_reaction_that_comes_as_it_is_erased(
    house: House, sql: Sql, other: psycopg.AsyncConnection[Any]
) -> None:
    done = await house.exchange(ADA, "hello", "Hi!")
    ((space_id,),) = await sql("select id from space")
    said = done.context.message_id
    await other.execute("select from message where id = %s for no key update", (said,))
    await other.execute(
        "insert into signal (space_id, message_id, user_id, emoji) values (%s, %s, %s, '👍')", (space_id, said, ADA)
    )
    erasing = asyncio.create_task(sql("select relay.erase_messages(%s, array[%s]::bigint[])", space_id, said))
    await asyncio.sleep(0.3)
    await other.commit()
    async with asyncio.timeout(10):
        assert await erasing == [(1,)]
    assert await sql("select count(*) from signal") == [(0,)]


async def test_of_two_that_wait_for_each_other_none_fails(
    house: House, store: Store, sql: Sql, other: psycopg.AsyncConnection[Any]
) -> None:
    await sql(
        "create function relay.slowly() returns trigger language plpgsql as "
        "$$ begin perform pg_advisory_xact_lock(1); perform pg_advisory_xact_lock(2); return new; end $$"
    )
    await sql("create trigger slowly before insert on memory for each row execute function relay.slowly()")
    await other.execute("set deadlock_timeout = '1min'")
    await other.execute("select pg_advisory_xact_lock(2)")
    mine = asyncio.create_task(store.change_directly(private(ADA), ADA, [fact(ADA, BERLIN)]))
    while not await sql("select 1 from pg_locks where locktype = 'advisory' and not granted"):  # noqa: ASYNC110
        await asyncio.sleep(0.02)
    await other.execute("select pg_advisory_xact_lock(1)")
    await other.commit()
    async with asyncio.timeout(10):
        assert (await mine).failed == ()
    assert await house.known(private(ADA)) == [BERLIN]
