"""Databases with identities of their own, empty or full of unusual rows, that can be compared row by row."""

# ruff: noqa: S608  (table names come from the catalogue)

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from relay.clients.postgres.database import Postgres

ROWS = (Path(__file__).with_name("moving.sql")).read_text("utf-8")
STAYS = (
    "migration", "function_file", "identity", "move", "entry", "lexeme", "lexeme_change", "index_progress", "index_due",
    "entry_due", "embed_due", "embedding", "embedding_rebuild", "result", "preference", "api_token",
    "api_request", "session_count",
)  # fmt: skip
"""Tables that identify this database or are rebuilt from the others."""
TABLES = """select quote_ident(relname) from pg_class
    where relnamespace = 'relay'::regnamespace and relkind in ('r', 'p') order by 1"""
SEQUENCES = """select sequencename || ' ' || coalesce(last_value, 0) from pg_sequences
    where schemaname = 'relay' order by 1"""

Connection = psycopg.Connection[tuple[Any, ...]]


@dataclass
class Looking:
    """A watcher that records its calls. `then` runs at each step."""

    said: list[str] = field(default_factory=list)
    steps: list[tuple[str, str, int, int]] = field(default_factory=list)
    then: Callable[[str, str, int], None] = lambda *_: None

    def report(self, step: str, table: str, rows: int, of: int) -> None:
        self.steps.append((step, table, rows, of))
        self.then(step, table, rows)

    def say(self, sentence: str) -> None:
        self.said.append(sentence)


@dataclass(frozen=True)
class Side:
    """A migrated database with an identity of its own."""

    port: Postgres
    url: str

    @contextmanager
    def connected(self) -> Iterator[Connection]:
        """Opens a connection that sees Relay's tables."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute("set search_path = relay, public, extensions")
            yield connection

    def sql(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        with self.connected() as connection:
            cursor = connection.execute(statement.encode(), values or None)
            return cursor.fetchall() if cursor.description else []

    async def run(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Does the same for callers that await it."""
        return self.sql(statement, *values)

    def sql_for_each(self, statement: str, rows: Iterable[tuple[Any, ...]]) -> None:
        """Runs a statement with each of these values, on one connection: a new one for each takes 40 ms."""
        with self.connected() as connection:
            for values in rows:
                connection.execute(statement.encode(), values)

    def tables(self) -> list[str]:
        return [name for (name,) in self.sql(TABLES)]

    def dump(self, *without: str) -> dict[str, list[str]]:
        """Returns every row of every table as Postgres writes it, with generated columns, and all sequences."""
        with self.connected() as connection:
            tables = [name for (name,) in connection.execute(TABLES).fetchall() if name not in without]
            rows = {
                name: [row for (row,) in connection.execute(f"select t::text from {name} t order by 1".encode())]
                for name in tables
            }
            numbers = [line for (line,) in connection.execute(SEQUENCES)]
        others = tuple(f"{name}_id_seq" for name in without)
        return rows | {"sequences": [line for line in numbers if not line.startswith(others)]}
