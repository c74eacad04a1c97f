"""What the database does for a turn of a busy bot: which calls and functions take the time, and what they write."""

from __future__ import annotations

import argparse
import asyncio
from typing import Any

import psycopg
from psycopg import sql

from relay.clients.embedded.server import EmbeddedPostgres
from tests.benchmarks.lab import Lab, Row, cpu, polling, postmaster

WATCH = {
    "shared_preload_libraries": "pg_stat_statements",
    "pg_stat_statements.track": "all",
    "pg_stat_statements.track_planning": "on",
    "track_functions": "all",
}
TOTALS = """select sum(calls) filter (where toplevel), sum(calls), sum(plans), sum(total_plan_time),
    sum(total_exec_time) filter (where toplevel) from pg_stat_statements"""
CALLS = """select substring(query from 'relay_\\w+'), sum(calls), sum(total_exec_time), sum(total_plan_time)
    from pg_stat_statements where toplevel and query like '%%relay_%%' group by 1 order by 3 desc limit %s"""
FUNCTIONS = """select funcname, calls, self_time, total_time from pg_stat_user_functions order by 3 desc limit %s"""
NESTED = """select regexp_replace(left(query, 110), '\\s+', ' ', 'g'), calls, total_exec_time, total_plan_time
    from pg_stat_statements where not toplevel order by total_plan_time + total_exec_time desc limit %s"""
WRITTEN = """select wal_bytes, (select sum(fsyncs) from pg_stat_io where object = 'wal'), (select sum(xact_commit)
    from pg_stat_database) from pg_stat_wal"""


async def statements(lab: Lab, options: argparse.Namespace) -> list[Row]:
    """Runs 50 people in a closed loop. Reports each of the most expensive calls, functions and statements by its share
    of a turn.

    The statistics themselves cost time. For the CPU time of a turn, use `throughput`.
    """
    server = EmbeddedPostgres(lab.folder / "data")
    await server.start()
    with psycopg.connect(server.superuser_url, autocommit=True) as connection:
        for name, value in WATCH.items():
            connection.execute(sql.SQL("alter system set {} = {}").format(sql.SQL(name), sql.Literal(value)))
    await server.stop()
    await server.start()
    try:
        with psycopg.connect(server.superuser_url, autocommit=True) as connection:
            connection.execute("create extension if not exists pg_stat_statements")
            return await watched(lab, options, connection)
    finally:
        for child in reversed(lab.children):
            await child.end()
        await server.stop()


async def watched(lab: Lab, options: argparse.Namespace, connection: psycopg.Connection[Any]) -> list[Row]:
    """Returns the rows of one run from the server's statistics."""
    tg, model = await lab.crowd(), await lab.model()
    bot = await lab.relay(tg, model)
    await polling(tg, bot)
    await tg.post("/_bench/start", people=50)
    await asyncio.sleep(min(5.0, options.seconds))
    connection.execute("select pg_stat_statements_reset(), pg_stat_reset()")
    pid = postmaster(lab.folder / "data")
    before = [(await tg.post("/_bench/count"))["answers"], cpu(pid, True), *read(connection, WRITTEN)[0]]
    await asyncio.sleep(options.seconds)
    after = [(await tg.post("/_bench/count"))["answers"], cpu(pid, True), *read(connection, WRITTEN)[0]]
    turns, used, log, syncs, commits = (float(late - early) for early, late in zip(before, after, strict=True))
    called, run, planned, planning, executing = map(float, read(connection, TOTALS)[0])
    await tg.post("/_bench/hush")
    rows = [
        Row(f"statements: {turns:.0f} turns", "", f"{1000 * used / turns:.1f} ms of CPU a turn"),
        Row(
            "log, syncs, commits a turn", "", f"{log / turns / 1000:.1f} kB, {syncs / turns:.2f}, {commits / turns:.2f}"
        ),
        Row("calls, statements, plans a turn", "", f"{called / turns:.1f}, {run / turns:.0f}, {planned / turns:.1f}"),
        Row("executing, of it planning", "", f"{executing / turns:.2f} ms, {planning / turns:.2f} ms"),
    ]
    for kind, query, limit in (("call", CALLS, 20), ("function", FUNCTIONS, 30), ("statement", NESTED, 30)):
        for name, times, *took in read(connection, query, limit):
            each = " / ".join(f"{float(one) / turns:.3f}" for one in took)
            rows.append(Row(f"{kind} {name}".replace("|", "¦"), "", f"×{float(times) / turns:.2f}: {each} ms"))
    return rows


def read(connection: psycopg.Connection[Any], query: str, *values: Any) -> list[tuple[Any, ...]]:
    """Returns the rows of a query."""
    return connection.execute(query.encode(), values or None).fetchall()
