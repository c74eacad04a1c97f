"""Tests concurrent changes of memory: what each caller is told is true."""

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
from tests.integration.turn_driver import ADA, TurnDriver, fact, forget, private

Json = dict[str, Any]
BERLIN, MITTE, LISBON = "Ada lives in Berlin.", "Ada lives in Berlin, in Mitte.", "Ada has moved to Lisbon."


@pytest.fixture
async def other(opened: Opened) -> AsyncIterator[psycopg.AsyncConnection[Any]]:
    """The connection of another process, whose changes become visible when it commits."""
    async with await psycopg.AsyncConnection.connect(opened.server.url(opened.name, superuser=True)) as connection:
        await connection.execute("set search_path = relay, public, extensions")
        await connection.commit()
        yield connection


@asynccontextmanager
async def meanwhile(
    other: psycopg.AsyncConnection[Any], store: Store, first: Json, second: Json
) -> AsyncIterator[Changed]:
    """Yields the result of the second action, which began before the first was committed."""
    await other.execute(
        "select relay_change_directly(%s, %s, %s)", (json.dumps(private(ADA).as_json()), ADA, json.dumps([first]))
    )
    mine = asyncio.create_task(store.change_directly(private(ADA), ADA, [second]))
    await asyncio.sleep(0.3)
    await other.commit()
    async with asyncio.timeout(10):
        yield await mine


async def known_as(driver: TurnDriver, text: str) -> Json:
    """Teaches a fact, and returns the start of an action on it."""
    (change,) = await driver.teach(ADA, text)
    return {"memory_id": change.memory_id, "evidence": []}


async def test_a_fact_learned_twice_at_once_is_stored_once(
    driver: TurnDriver, store: Store, other: psycopg.AsyncConnection[Any]
) -> None:
    await driver.teach(ADA, "likes tea")
    async with meanwhile(other, store, fact(ADA, BERLIN), fact(ADA, BERLIN)) as done:
        assert done.failed == ()
    assert await driver.known(private(ADA)) == ["likes tea", BERLIN]


async def test_a_fact_repeated_while_it_is_replaced_stays_known(
    driver: TurnDriver, store: Store, other: psycopg.AsyncConnection[Any]
) -> None:
    moved = await known_as(driver, BERLIN) | {"action": "supersede", "content": LISBON}
    async with meanwhile(other, store, moved, fact(ADA, BERLIN)) as done:
        assert done.failed == ()
    assert await driver.known(private(ADA)) == [LISBON, BERLIN]


async def test_a_memory_forgotten_while_it_is_reworded_is_forgotten(
    driver: TurnDriver, store: Store, other: psycopg.AsyncConnection[Any]
) -> None:
    better = await known_as(driver, BERLIN) | {"action": "refine", "content": MITTE}
    async with meanwhile(other, store, better, forget("Berlin")) as done:
        assert done.failed == ()
    assert await driver.known(private(ADA)) == []


async def test_a_memory_erased_meanwhile_is_learned_anew(
    driver: TurnDriver, store: Store, sql: Sql, other: psycopg.AsyncConnection[Any]
) -> None:
    """This used to be a database error, after which the turn was answered again."""
    (change,) = await driver.teach(ADA, BERLIN)
    ((space_id,),) = await sql("select id from space")
    await other.execute("select relay.erase_memory_rows(%s, array[%s]::bigint[])", (space_id, change.memory_id))
    mine = asyncio.create_task(store.change_directly(private(ADA), ADA, [fact(ADA, BERLIN)]))
    await asyncio.sleep(0.3)
    await other.commit()
    async with asyncio.timeout(10):
        assert (await mine).failed == ()
    assert await driver.known(private(ADA)) == [BERLIN]


async def test_a_reaction_arriving_during_an_erasure_is_erased_too(
    driver: TurnDriver, sql: Sql, other: psycopg.AsyncConnection[Any]
) -> None:
    done = await driver.exchange(ADA, "hello", "Hi!")
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


async def test_two_changes_in_a_deadlock_both_succeed(
    driver: TurnDriver, store: Store, sql: Sql, other: psycopg.AsyncConnection[Any]
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
    assert await driver.known(private(ADA)) == [BERLIN]
