"""Tests the connection pool: the connection used last is used next, and unused connections are closed."""

from __future__ import annotations

import asyncio

import psycopg
import pytest

from relay.clients.postgres import database as postgres
from relay.clients.postgres.database import Postgres
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
