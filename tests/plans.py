"""The plans of statements inside SQL functions, as the server reports them (auto_explain)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import psycopg

from relay.clients.postgres.database import Postgres

SETTINGS = {"log_min_duration": "0", "log_nested_statements": "on", "log_analyze": "on", "log_timing": "off",
            "log_format": "json"}  # fmt: skip
READ = ("Actual Rows", "Rows Removed by Filter", "Rows Removed by Index Recheck")


@dataclass
class Plans:
    """The plans of a connection's statements since they were last cleared."""

    connection: psycopg.AsyncConnection[Any]
    told: list[dict[str, Any]] = field(default_factory=list)

    @property
    def database(self) -> Postgres:
        """The database port on this connection only."""
        return _Single(self.connection)

    def read(self) -> dict[str, int]:
        """The most rows of each table that one statement read in one pass, matching or not. A scan that a limit or a
        condition ends early counts with the rows it read."""
        found: dict[str, int] = {}
        for one in self.told:
            for node in _nodes(one["Plan"]):
                table = node.get("Relation Name", "")
                rows = sum(node.get(name, 0) for name in READ)
                found[table] = max(found.get(table, 0), round(rows))
        return found

    def scans(self) -> dict[str, str]:
        """The tables that are read completely for lack of an index, each with a statement that does so."""
        return {
            node["Relation Name"]: one["Query Text"]
            for one in self.told
            for node in _nodes(one["Plan"])
            if node["Node Type"] == "Seq Scan" and node.get("Actual Loops")
        }

    def noticed(self, notice: psycopg.errors.Diagnostic) -> None:
        _, mark, plan = (notice.message_primary or "").partition("plan:\n")
        if mark:
            self.told.append(json.loads(plan))


@asynccontextmanager
async def plans(url: str, **settings: str) -> AsyncIterator[Plans]:
    """A superuser's connection that collects the plans of its statements, including those inside functions."""
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        await connection.execute("load 'auto_explain'")
        for name, value in SETTINGS.items():
            await connection.execute(f"set auto_explain.{name} = {value}".encode())
        for name, value in settings.items():
            await connection.execute(f"set {name} = {value}".encode())
        await connection.execute("set client_min_messages = log")
        kept = Plans(connection)
        connection.add_notice_handler(kept.noticed)
        yield kept


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for below in plan.get("Plans", ()):
        yield from _nodes(below)


class _Single(Postgres):
    """The client on one given connection."""

    def __init__(self, connection: psycopg.AsyncConnection[Any]) -> None:
        super().__init__("")
        self._pool = _Lent(connection)  # type: ignore[assignment]


class _Lent:
    """A pool of one connection."""

    def __init__(self, connection: psycopg.AsyncConnection[Any]) -> None:
        self._connection = connection

    def connection(self) -> _Lent:
        return self

    async def __aenter__(self) -> psycopg.AsyncConnection[Any]:
        return self._connection

    async def __aexit__(self, *_: object) -> None:
        pass
