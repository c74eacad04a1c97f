"""A database whose changes are all rolled back. Property tests run thousands of examples on one database this way."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import psycopg

from relay.clients.postgres.database import _call_function
from relay.clients.postgres.errors import translate

TRIES = 200
"""After this many examples, a vacuum frees their space."""


class Undone:
    """The `Database` port on one connection, in a transaction that is always rolled back."""

    def __init__(self, connection: psycopg.AsyncConnection[Any]) -> None:
        self._connection = connection
        self._tries = 0

    async def call(self, function: str, **arguments: Any) -> Any:
        """See `ports.Database.call`. A failed call is rolled back alone, as if it had its own transaction."""
        try:
            async with self._connection.transaction():
                return await _call_function(self._connection, function, arguments)
        except psycopg.Error as error:
            raise translate(error) from None

    async def sql(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Runs a statement in the same transaction, and returns its rows."""
        cursor = await self._connection.execute(statement.encode(), values or None)
        return await cursor.fetchall() if cursor.description else []

    @contextlib.asynccontextmanager
    async def tried(self) -> AsyncIterator[None]:
        """Rolls back at the end what was done inside."""
        await self._connection.execute(b"select")  # begins the transaction; otherwise each call would commit its own
        try:
            yield
        finally:
            await self._connection.rollback()
            self._tries += 1
            if self._tries % TRIES == 0:
                await self._connection.set_autocommit(True)
                await self._connection.execute(b"vacuum")
                await self._connection.set_autocommit(False)


@contextlib.asynccontextmanager
async def undone(url: str) -> AsyncIterator[Undone]:
    """Yields the port on a database. Nothing else may write to this database."""
    async with await psycopg.AsyncConnection.connect(url, prepare_threshold=None) as connection:
        await connection.execute(b"set search_path = relay, public, extensions")
        await connection.commit()
        yield Undone(connection)
