"""PostgreSQL through psycopg: any server, and the embedded one."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections import deque
from collections.abc import AsyncIterator
from typing import Any

import psycopg
from psycopg.types.json import Jsonb, set_json_dumps, set_json_loads
from psycopg_pool import AsyncConnectionPool, PoolTimeout
from pydantic_core import PydanticSerializationError, from_json, to_json

from relay.clients.postgres.errors import explain_connection, explain_hindrance, find_unsuitable, translate
from relay.clients.postgres.sqlstates import IN_THE_WAY
from relay.core.errors import DatabaseError, DataRefused, SchemaError

REWRITE_SECONDS = 1800.0
"""The time limit for rewriting all tables, in seconds; the next night tries again."""
READERS_SECONDS = 120.0
"""How many seconds to wait for transactions that may still see deleted rows, which a rewrite would keep."""
LOCK_TRIES = 20
"""How often to try for three seconds to lock a table; others waiting proceed in between."""
SCRIPT_SECONDS = 3600.0
"""The time limit for one migration, in seconds. It is then rolled back and can be retried."""
IDLE_SECONDS = 15.0
"""How many seconds pass before an unused connection is closed. A connection takes 20 MB on the server once it has run a
turn."""
NUMBERS = range(-(2**63), 2**63)
"""The range of bigint. psycopg sends larger numbers as numeric, and Relay's functions take no numeric."""


class _Stack(deque[psycopg.AsyncConnection[Any]]):
    """Takes the most recently returned connection first."""

    append = deque.appendleft


class WarmPool(AsyncConnectionPool):
    """Prefers the most recently used connection, with warm plans and caches; psycopg's pool prefers the longest idle.
    So few connections are used, and the others are closed."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._pool = _Stack()

    async def _shrink_pool(self) -> None:
        if self._nconns > self._min_size and self._nconns_min > 0:
            self._pool.rotate(1)  # psycopg's pool will close the first one: let it be the longest idle
        await super()._shrink_pool()


class Postgres:
    """The `Database` port over a connection pool. Each call holds a connection only while it runs."""

    def __init__(self, url: str, *, pooled: bool = True, most: int = 8, timeout: float = 10.0) -> None:
        """`pooled`: the server may be behind a transaction pooler, so nothing is prepared. `timeout` in seconds."""
        self._url = url
        self._timeout = timeout
        self.server = 0
        """The server's version as libpq gives it (180001 is 18.1), once open."""
        options = {"prepare_threshold": None} if pooled else {}
        self._options: dict[str, Any] = {"connect_timeout": 5, "application_name": "relay", **options}
        self._pool = WarmPool(
            url,
            kwargs={"autocommit": True, **self._options},
            min_size=1,
            max_size=most,
            timeout=timeout,
            max_idle=IDLE_SECONDS,
            reconnect_timeout=5,
            configure=_use_fast_json,
            open=False,
        )

    async def open(self) -> None:
        """Connects. Raises `DatabaseUnavailable` if the server can't be reached, `AccessRefused` if it refuses or is
        unsuitable."""
        try:
            async with asyncio.timeout(self._timeout):
                connection = await psycopg.AsyncConnection.connect(self._url, connect_timeout=5)
                self.server = connection.info.server_version
                encoding = connection.info.parameter_status("server_encoding")
                await connection.close()
        except (psycopg.Error, TimeoutError) as error:
            raise explain_connection(error) from None
        if unsuitable := find_unsuitable(self.server, encoding):
            raise unsuitable
        await self._pool.open()

    async def close(self) -> None:
        await self._pool.close()

    async def call(self, function: str, **arguments: Any) -> Any:
        try:
            async with asyncio.timeout(self._timeout * 2), self._pool.connection() as connection:
                try:
                    return await _call_function(connection, function, arguments)
                except psycopg.Error as error:
                    if error.sqlstate not in IN_THE_WAY:
                        raise
                return await _call_function(connection, function, arguments)
        except (psycopg.Error, PoolTimeout, TimeoutError) as error:
            raise translate(error) from None

    @contextlib.asynccontextmanager
    async def snapshot(self) -> AsyncIterator[Snapshot]:
        """See `ports.Snapshots`: one read-only transaction on its own connection."""
        try:
            connection = await psycopg.AsyncConnection.connect(self._url, **self._options)
        except psycopg.Error as error:
            raise translate(error) from None
        try:
            await connection.set_isolation_level(psycopg.IsolationLevel.REPEATABLE_READ)
            await connection.set_read_only(True)
            yield Snapshot(connection, self._timeout * 2)
        finally:
            await connection.close()

    async def run(self, script: str) -> None:
        """Executes a script in its own transaction (for migrations), for up to an hour. Raises `DatabaseError` with
        what must be done in the database first, or with what the database said."""
        try:
            async with (
                asyncio.timeout(SCRIPT_SECONDS),
                await psycopg.AsyncConnection.connect(self._url, connect_timeout=5) as connection,
            ):
                await connection.execute(b"set local statement_timeout = 0")  # Supabase sets two minutes
                await connection.execute(script.encode())
        except psycopg.Error as error:
            found = explain_hindrance(error) or translate(error)
            if isinstance(found, SchemaError):  # its advice is to migrate
                found = DatabaseError(f"The tables could not be upgraded: {error.diag.message_primary}.")
            raise found from None
        except TimeoutError as error:
            raise translate(error) from None

    async def rewrite(self) -> bool:
        """See `ports.Rewrites`, for tables that its role owns. Each table is locked while it is rewritten."""
        try:
            async with (
                asyncio.timeout(REWRITE_SECONDS),
                await psycopg.AsyncConnection.connect(self._url, connect_timeout=5, autocommit=True) as connection,
            ):
                files = await _call_function(connection, "files", {})
                await _wait_for_readers(connection, files["readers"])
                await connection.execute(b"set lock_timeout = '3s'")
                await connection.execute(b"set statement_timeout = 0")
                for table in files["tables"]:
                    await _call_function(connection, "forget_statistics", {"table": table})
                    await _write_anew(connection, table)
                if files["log"]:
                    await _call_function(connection, "write_log_over", {})
                return bool(files["log"])
        except (psycopg.Error, TimeoutError) as error:
            raise translate(error) from None


class Snapshot:
    """The `Database` port on one snapshot, read-only. A failed call ends it."""

    def __init__(self, connection: psycopg.AsyncConnection[Any], timeout: float) -> None:
        self._connection = connection
        self._timeout = timeout

    async def call(self, function: str, **arguments: Any) -> Any:
        """See `ports.Database.call`; the first call begins the transaction."""
        try:
            async with asyncio.timeout(self._timeout):
                return await _call_function(self._connection, function, arguments)
        except (psycopg.Error, TimeoutError) as error:
            raise translate(error) from None


async def _use_fast_json(connection: psycopg.AsyncConnection[Any]) -> None:
    """Makes a connection encode and decode JSON with pydantic, two to four times as fast as `json`."""
    set_json_dumps(_encode, connection)
    set_json_loads(_decode, connection)


def _encode(value: Any) -> bytes | str:
    try:
        return to_json(value)
    except PydanticSerializationError:  # nested more than 255 levels, or a text that PostgreSQL will refuse
        return json.dumps(value)


def _decode(data: bytes | str) -> Any:
    try:
        return from_json(data)
    except ValueError:  # nested more than 200 levels
        return json.loads(data)


async def _call_function(connection: psycopg.AsyncConnection[Any], function: str, arguments: dict[str, Any]) -> Any:
    if any(isinstance(value, int) and value not in NUMBERS for value in arguments.values()):
        raise DataRefused("The database cannot hold a value: it is a number beyond 64 bits.")
    names = ", ".join(f"p_{name} => %({name})s" for name in arguments)
    values = {name: Jsonb(value) if isinstance(value, dict | list) else value for name, value in arguments.items()}
    cursor = await connection.execute(f"select public.relay_{function}({names})".encode(), values)
    row = await cursor.fetchone()
    return row[0] if row else None


async def _wait_for_readers(connection: psycopg.AsyncConnection[Any], readers: list[list[Any]]) -> None:
    """Waits until transactions have ended. Raises `TimeoutError`."""
    async with asyncio.timeout(READERS_SECONDS):
        while readers:
            await asyncio.sleep(0.2)
            present = (await _call_function(connection, "files", {}))["readers"]
            readers = [one for one in readers if one in present]


async def _write_anew(connection: psycopg.AsyncConnection[Any], table: str) -> None:
    """Rewrites a table's files and its indexes' when nobody else uses it. `table`: its name as the database quotes
    it."""
    analyzed = "" if table.startswith("pg_catalog.") else ", analyze"
    for tries_left in reversed(range(LOCK_TRIES)):
        try:
            await connection.execute(f"vacuum (full{analyzed}) {table}".encode())
            return
        except psycopg.errors.LockNotAvailable:
            if not tries_left:
                raise
            await asyncio.sleep(1)
