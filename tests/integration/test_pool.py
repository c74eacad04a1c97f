"""Tests the connection pool, and calls that take too long."""

from __future__ import annotations

import asyncio

import psycopg
import pytest

from relay.clients.postgres import database as postgres
from relay.clients.postgres.database import Postgres
from relay.core.errors import CallTooSlow, DatabaseError
from relay.memory import retrying_database
from relay.memory.retrying_database import RetryingDatabase
from tests.integration.conftest import Server

BUSY = "select count(*) from pg_stat_activity where datname = %s and usename = 'relay'"
USED = "select backend_start from pg_stat_activity where datname = %s and usename = 'relay' order by state_change desc"


async def test_few_connections_are_reused_and_idle_ones_are_closed(
    embedded: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "IDLE_SECONDS", 0.2)
    name = embedded.create("relay_test_template")
    database = Postgres(embedded.url(name), pooled=False)
    await database.open()
    try:
        with psycopg.connect(embedded.url("postgres", superuser=True), autocommit=True) as looking:
            await database.call("schema")
            await asyncio.gather(*(database.call("schema") for _ in range(40)))
            assert looking.execute(BUSY, (name,)).fetchone() > (1,), "concurrent calls need several connections"
            used = set()
            for _ in range(30):  # for longer than the pool waits before it looks for idle connections
                await asyncio.sleep(0.02)
                await database.call("schema")
                used.add(looking.execute(USED, (name,)).fetchone())
            assert len(used) == 1, "sequential calls must reuse one connection"
            async with asyncio.timeout(20):
                while looking.execute(BUSY, (name,)).fetchone() != (1,):  # noqa: ASYNC110
                    await asyncio.sleep(0.1)
            assert looking.execute(USED, (name,)).fetchone() in used, "the connection in use must stay open"
    finally:
        await database.close()
        embedded.drop(name)


SLEEP = "create or replace function public.relay_ping() returns jsonb language sql as 'select to_jsonb(pg_sleep(60))'"


@pytest.mark.parametrize("limit", ["60s", "100ms"])
async def test_a_call_that_is_too_slow_fails_unless_a_table_is_locked(
    embedded: Server, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    """It is cancelled by Relay, or by the server's own limit, as at Supabase."""
    monkeypatch.setattr(retrying_database, "SLOW_TRIES", 1)
    name = embedded.create("relay_test_template")
    embedded.command(f"alter database {name} set statement_timeout = '{limit}'")
    database = Postgres(embedded.url(name), pooled=False, timeout=0.5)
    await database.open()
    try:
        with psycopg.connect(embedded.url(name, superuser=True), autocommit=True) as aside:
            assert await database.call("is_locked") is False
            aside.execute(SLEEP)
            with pytest.raises(CallTooSlow):
                await database.call("ping")
            with psycopg.connect(embedded.url(name, superuser=True)) as rewriting:
                rewriting.execute("lock table relay.message in access exclusive mode")
                assert await database.call("is_locked") is True
                calling = asyncio.create_task(RetryingDatabase(database).call("ping"))
                await asyncio.wait([calling], timeout=1.5)
                assert not calling.done(), "it waits for the table"
            with pytest.raises(DatabaseError, match="took too long for ping"):
                await asyncio.wait_for(calling, 20)
    finally:
        await database.close()
        embedded.drop(name)
