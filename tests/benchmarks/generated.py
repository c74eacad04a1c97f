"""A big database that is always the same: `python -m tests.benchmarks.generated FOLDER` makes one and keeps it."""

from __future__ import annotations

import argparse
import asyncio
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psycopg

from relay.clients.embedded.server import EmbeddedPostgres
from relay.clients.postgres.database import Postgres
from relay.memory import migrations

HERE = Path(__file__).parent
HASTE = {
    "fsync": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
    "wal_compression": "off",
    "max_wal_size": "16GB",
    "checkpoint_timeout": "1h",
}
"""Server settings while it is filled. Lost data can be generated again."""
LEAVE = """update relay.turn set status = 'done' where status in ('working', 'answered');
update relay.inbox set status = 'done' where status = 'pending';
update relay.lane set due_at = null, open_turn_id = null where due_at is not null or open_turn_id is not null"""
"""Ends what an aborted run had begun."""
ROWS = """select space_id, kind, source_id, part, thread_id, session_id, role, user_id, name, label, tags, at, language,
    words::text, length, asks, dated, digest from relay.entry where (kind, source_id) in (select * from sample)
    order by kind, source_id, part"""
SAMPLE = """create temp table sample on commit drop as
    select 'message' as kind, id from (select id from relay.message order by md5(id::text) limit 300) m
    union all select 'memory', id from (select id from relay.memory order by md5(id::text) limit 100) k
    union all select 'summary', id from (select id from relay.summary order by md5(id::text) limit 50) y"""
WRONG_NUMBERS = """select count(*) from (
    select word, count(*) as entries from relay.entry e, relay.counted_words(e) where e.space_id = %(space)s group by 1
    ) made full join (select word, entries from relay.lexeme where space_id = %(space)s) kept using (word)
    where made.entries is distinct from kept.entries"""


@dataclass(frozen=True)
class Size:
    """The size of the database. The largest space has `largest` messages, and the same share of the memories."""

    messages: int = 1_000_000
    memories: int = 100_000
    threads: int = 10_000
    spaces: int = 1_000
    largest: int = 100_000
    exchanges: int = 20
    """Exchanges per session."""

    @property
    def texts(self) -> int:
        """The number of different sentences."""
        return min(20_000, self.messages // 40)

    def __str__(self) -> str:
        return (
            f"{self.messages:,} messages, {self.memories:,} memories, {self.threads:,} threads, {self.spaces:,} spaces"
            f" (the largest with {self.largest:,} messages)"
        )


def chosen(options: argparse.Namespace) -> Size:
    """Returns the size from the command line."""
    return Size(**{name: getattr(options, name) for name in Size.__dataclass_fields__})


def fill(url: str, size: Size) -> str:
    """Fills an empty, migrated database as its superuser, unless it is filled already. Returns a report. Raises
    `RuntimeError` if the index differs from what the triggers would have made."""
    with psycopg.connect(url, autocommit=True) as connection:
        if connection.execute("select from relay.message limit 1").fetchone() is not None:
            connection.execute(LEAVE)
            return "filled before"
        took = []
        for name, value in HASTE.items():
            connection.execute(f"alter system set {name} = '{value}'".encode())
        connection.execute("select pg_reload_conf()")
        for script in ("filling.sql", "indexing.sql"):
            started = time.monotonic()
            text = (HERE / script).read_text("utf-8")
            connection.execute(
                (text % {**asdict(size), "texts": size.texts} if script == "filling.sql" else text).encode()
            )
            took.append(f"{script} {time.monotonic() - started:.0f} s")
        started = time.monotonic()
        connection.execute("vacuum")
        for name in HASTE:
            connection.execute(f"alter system reset {name}".encode())
        connection.execute("select pg_reload_conf()")
        connection.execute("checkpoint")
        took.append(f"vacuum {time.monotonic() - started:.0f} s")
        check(connection)
        bytes_ = one(connection, "select pg_database_size(current_database())")
        return f"{', '.join(took)}; {bytes_ / 1e9:.1f} GB"


def check(connection: psycopg.Connection[Any]) -> None:
    """Raises `RuntimeError` unless a sample of the index equals what the product makes from the same rows."""
    with suppress(psycopg.Rollback), connection.transaction():
        connection.execute("set local session_replication_role = origin")
        connection.execute(SAMPLE)
        there = connection.execute(ROWS).fetchall()
        connection.execute("delete from relay.entry where (kind, source_id) in (select * from sample)")
        connection.execute("select relay.reindex(kind, id) from sample")
        made = connection.execute(ROWS).fetchall()
        if there != made or len(there) < 2:
            other = next(((a, b) for a, b in zip(there, made, strict=False) if a != b), (len(there), len(made)))
            raise RuntimeError(f"The generated index is not what the triggers make of the same rows: {other}")
        raise psycopg.Rollback
    last = one(connection, "select max(id) from relay.space")
    if wrong := one(connection, WRONG_NUMBERS, space=last):
        raise RuntimeError(f"The generated numbers of {wrong} words are not those of the entries.")


def one(connection: psycopg.Connection[Any], statement: str, **values: Any) -> int:
    """Returns the number that a statement yields."""
    row = connection.execute(statement.encode(), values).fetchone()
    if row is None:
        raise RuntimeError(statement)
    return int(row[0])


async def made(folder: Path, size: Size) -> str:
    """Makes the database in a folder and stops its server. Returns a report."""
    server = EmbeddedPostgres(folder)
    database = Postgres(await server.start(), pooled=False)
    await database.open()
    try:
        await migrations.migrate(database, database.run)
        return await asyncio.to_thread(fill, server.superuser_url, size)
    finally:
        await database.close()
        await server.stop()


def sizes(parser: argparse.ArgumentParser) -> None:
    """Adds the size options to a command line."""
    told = {
        "messages": "messages in the database",
        "memories": "memories in the database",
        "threads": "threads, the same number for each person",
        "spaces": "people, each with a space",
        "largest": "messages of the first of them",
        "exchanges": "exchanges in each session",
    }
    for name, text in told.items():
        parser.add_argument(f"--{name}", type=int, default=getattr(Size, name), help=f"big database: {text}")


if __name__ == "__main__":
    reader = argparse.ArgumentParser(prog="python -m tests.benchmarks.generated", description=__doc__)
    reader.add_argument("folder", type=Path)
    sizes(reader)
    arguments = reader.parse_args()
    print(chosen(arguments), asyncio.run(made(arguments.folder, chosen(arguments))), sep=": ")
