"""A database in which nothing stays: what property tests try thousands of times on one, at the price of its calls."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import psycopg

from relay.clients.postgres.database import _called, _translate

TRIES = 200
"""After so many, the room that they took is cleared."""


class Undone:
    """The `Database` port on one connection, within a transaction that never ends well."""

    def __init__(self, connection: psycopg.AsyncConnection[Any]) -> None:
        self._connection = connection
        self._tries = 0

    async def call(self, function: str, **arguments: Any) -> Any:
        """See `ports.Database.call`. A call that fails is undone by itself, as if it had its own transaction."""
        try:
            async with self._connection.transaction():
                return await _called(self._connection, function, arguments)
        except psycopg.Error as error:
            raise _translate(error) from None

    async def sql(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Runs a statement among what is undone; its rows."""
        cursor = await self._connection.execute(statement.encode(), values or None)
        return await cursor.fetchall() if cursor.description else []

    @contextlib.asynccontextmanager
    async def tried(self) -> AsyncIterator[None]:
        """What is done within is undone at its end."""
        await self._connection.execute(b"select")  # begins the transaction: else each call would, and commit it
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
    """The port on a database. Nothing but this may write to it."""
    async with await psycopg.AsyncConnection.connect(url, prepare_threshold=None) as connection:
        await connection.execute(b"set search_path = relay, public, extensions")
        await connection.commit()
        yield Undone(connection)
