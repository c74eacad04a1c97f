"""Databases for tests: a real Postgres, one migrated template, and a copy of it that is emptied after each test.

`database` has three backends: the embedded server; a server reached through DATABASE_URL, with a client that allows for
a pooler (a second server of ours, or the one that RELAY_TEST_DATABASE_URL names as a superuser); and Supabase through
PostgREST. The tests see only the port and raw SQL.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import shutil
import tempfile
import uuid
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest

from relay.clients.embedded.cluster_settings import extension_sql
from relay.clients.embedded.server import EmbeddedPostgres
from relay.clients.postgres.database import Postgres
from relay.core.ports import Database
from relay.memory import migrations
from relay.memory.store import Store
from tests.integration.reused import KeptConnection, Reused
from tests.integration.turn_driver import TurnDriver
from tests.standins.supabase import SupabaseBackend, SupabaseServer, supabase_server

OWNER = "relay"
TEMPLATE = "relay_test_template"
numbers = itertools.count(1)

Sql = Callable[..., Awaitable[list[tuple[Any, ...]]]]


@dataclass
class Server:
    """A Postgres server: the URL for a superuser, and the URL for the role that owns Relay's databases."""

    superuser_url: str
    owner_url: str
    reused: Reused | None = None

    def url(self, database: str, superuser: bool = False) -> str:
        """Returns the connection string of one of its databases."""
        parts = urlsplit(self.superuser_url if superuser else self.owner_url)
        return parts._replace(path=f"/{database}").geturl()

    @cached_property
    def _superuser(self) -> psycopg.Connection[tuple[object, ...]]:
        return psycopg.connect(self.url("postgres", superuser=True), autocommit=True)

    @property
    def version(self) -> int:
        """Its version as libpq gives it (180001 is 18.1)."""
        return self._superuser.info.server_version

    def command(self, statement: str, database: str = "postgres") -> None:
        """Runs one statement as the superuser."""
        if database == "postgres":
            self._superuser.execute(statement.encode())
            return
        with psycopg.connect(self.url(database, superuser=True), autocommit=True) as connection:
            connection.execute(statement.encode())

    def close(self) -> None:
        if self.reused:
            self.reused.close()
            self.drop(self.reused.name)
        self._superuser.close()

    def create(self, template: str | None = None, name: str | None = None) -> str:
        """Creates a database: a copy of a template, or empty except for the extensions that a superuser must create."""
        name = name or f"relay_test_{os.getpid()}_{next(numbers)}"
        if template:
            self.command(f"create database {name} template {template} owner {OWNER} strategy file_copy")
            return name
        self.command(f"create database {name} owner {OWNER}")
        for statement in extension_sql():
            self.command(statement.replace("DATABASE relay", f"DATABASE {name}"), name)
        return name

    def make_reused(self) -> Reused:
        """Creates a database that one test after another can use."""
        name = self.create(TEMPLATE)
        return Reused(name, self.url(name, superuser=True), self.url(name))

    def drop(self, name: str) -> None:
        self.command(f"drop database if exists {name} with (force)")


@dataclass(frozen=True)
class Opened:
    """One database for one test: the port, direct SQL access, its name and its server."""

    port: Database
    sql: Sql
    name: str
    server: Server


@dataclass(frozen=True)
class Direct:
    """The backend that connects to Postgres directly."""

    server: Server
    pooled: bool

    @contextmanager
    def database(self) -> Iterator[str]:
        """Lends the server's reused database. If it can't be emptied afterwards, the next test gets another one."""
        server, usable = self.server, False
        reused = server.reused or server.make_reused()
        server.reused = None
        try:
            yield reused.name
            usable = reused.empty()
        finally:
            if usable:
                server.reused = reused
            else:
                reused.close()
                server.drop(reused.name)

    @asynccontextmanager
    async def open(self, name: str) -> AsyncIterator[Database]:
        client = Postgres(self.server.url(name), pooled=self.pooled, most=10)
        client._pool.connection_class = KeptConnection
        client.server = self.server.version
        await client._pool.open()  # client.open() tries a new connection first
        try:
            await client.call("schema")  # connect now: a pool that connects while a test blocks the loop delays drop
            yield client
        finally:
            await client.close()


BACKENDS = ["embedded", "url", "supabase"]


@contextmanager
def server_of_ours() -> Iterator[Server]:
    """Runs a server with the template in its own directory. The server doesn't have to survive a power cut."""
    folder = Path(tempfile.mkdtemp(prefix="relay-it-"))
    process = EmbeddedPostgres(folder / "data")
    try:
        owner_url = asyncio.run(process.start())
        server = Server(process.superuser_url, owner_url)
        for setting in ("fsync = off", "synchronous_commit = off", "full_page_writes = off", "autovacuum = off"):
            server.command(f"alter system set {setting}")
        server.command("select pg_reload_conf()")
        make_template(server)
        yield server
        server.close()
    finally:
        asyncio.run(process.stop())
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def embedded() -> Iterator[Server]:
    """The embedded server."""
    with server_of_ours() as server:
        yield server


@pytest.fixture(scope="session")
def url_server() -> Iterator[Server]:
    """A separate server: the one of RELAY_TEST_DATABASE_URL, with a role that is no superuser, or one of ours."""
    address = os.environ.get("RELAY_TEST_DATABASE_URL")
    if not address:
        with server_of_ours() as server:
            yield server
        return
    password = uuid.uuid4().hex
    parts = urlsplit(address)
    host = parts.netloc.rpartition("@")[2]
    server = Server(address, parts._replace(netloc=f"{OWNER}:{password}@{host}").geturl())
    server.command(f"drop database if exists {TEMPLATE} with (force)")
    server.command(
        f"do $$ begin create role {OWNER} login; exception when duplicate_object then null; end $$;"
        f" alter role {OWNER} login password '{password}'"
    )
    make_template(server)
    yield server
    server.drop(TEMPLATE)
    server.close()


def make_template(server: Server) -> None:
    """Creates the database that every test gets a copy of. Its owner, who is no superuser, migrates it."""
    server.create(name=TEMPLATE)

    async def run() -> None:
        client = Postgres(server.url(TEMPLATE))
        await client.open()
        try:
            assert await migrations.migrate(client, client.run)
        finally:
            await client.close()

    asyncio.run(run())


@pytest.fixture(scope="session")
def supabase() -> Iterator[SupabaseServer]:
    """A Supabase project: the supabase package, a gateway, a real PostgREST, and a Postgres like Supabase's."""
    with supabase_server() as server:
        yield server


@pytest.fixture(scope="session")
def backend(request: pytest.FixtureRequest) -> Direct | SupabaseBackend:
    """A backend that creates databases: each of those that `pytest_generate_tests` chooses."""
    if request.param == "supabase":
        return SupabaseBackend(request.getfixturevalue("supabase"))
    fixtures = {"embedded": "embedded", "url": "url_server"}
    return Direct(request.getfixturevalue(fixtures[request.param]), pooled=request.param == "url")


LONG = (
    "test_a_compression_survives_many_killed_processes",
    "test_thousands_of_imported_messages_are_judged_in_order",
    "test_ten_thousand_facts_are_searched_quickly",
    "test_search_is_fast_among_many_messages",
    "test_the_nearest_of_many_similar_vectors_is_found",
    "test_prompts_match_what_people_taught_on_each_day_of_a_year",
)
"""Tests of SQL that take long. A second server of ours behaves the same, and over REST the SQL is the same."""


THROUGHOUT = (
    "test_delivery_sql",
    "test_document_sql",
    "test_embedding_sql",
    "test_export",
    "test_facts_sql",
    "test_files_kept",
    "test_lease_sql",
    "test_memory_at_once",
    "test_queue",
    "test_result_sql",
    "test_turn_sql",
)
"""Test files about what the clients do differently: values of every kind, concurrent calls, calls that are undone. All
of their tests run over REST, a quarter of them in `make test`."""


BESIDES = {
    "test_access": {"supabase"},
    "test_fact_pairs": {"supabase", "url"},
    "test_migrate": {"supabase"},
    "test_move": {"supabase", "url"},
}
"""Where test files don't run. Supabase has no servers with several databases, and what takes long runs once."""
EVERYWHERE = os.environ.get("RELAY_TEST_BACKENDS") == "all"
WHOLE = bool(os.environ.get("RELAY_HEAVY"))
GIVEN = bool(os.environ.get("RELAY_TEST_DATABASE_URL"))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Selects the backends of each test.

    Each test runs on the embedded server. The SQL is the same on the other backends, so only the tests of THROUGHOUT
    run on Supabase, and a sixteenth of the others on each. In `make test`, a quarter of those of THROUGHOUT run there,
    and none of the others. With RELAY_TEST_BACKENDS=all, each test runs on each backend.
    """
    if "backend" in metafunc.fixturenames and not hasattr(metafunc.module, "backend"):
        file, name = metafunc.definition.path.stem, metafunc.definition.name
        besides = BESIDES.get(file, set()) | ({"url"} if name in LONG and not GIVEN else set())
        chosen = [one for one in BACKENDS if one not in besides and _may_be_due(one, file, name)]
        metafunc.parametrize("backend", chosen, indirect=True, scope="session")


def _may_be_due(backend: str, file: str, name: str) -> bool:
    """Returns whether some tests of a function run on a backend in this run."""
    if backend == "embedded" or EVERYWHERE:
        return True
    if name in LONG:
        return False
    return WHOLE or (GIVEN if backend == "url" else file in THROUGHOUT)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leaves out the tests that are not due on their backend."""
    due = [item for item in items if _is_due(item)]
    if len(due) < len(items):
        items[0].config.hook.pytest_deselected(items=[item for item in items if not _is_due(item)])
    items[:] = due


def _is_due(item: pytest.Item) -> bool:
    """Returns whether a test runs on its backend in this run. Its share depends only on its name and its values."""
    backend = getattr(getattr(item, "callspec", None), "params", {}).get("backend")
    if backend not in ("url", "supabase") or EVERYWHERE:
        return True
    share = zlib.crc32(item.name.replace(str(backend), "", 1).encode())
    if backend == "url" and GIVEN:
        return True
    if backend == "supabase" and item.path.stem in THROUGHOUT:
        return WHOLE or share % 4 == 1
    return WHOLE and share % 16 == ("url", "supabase").index(str(backend))


@pytest.fixture(scope="session")
def server(backend: Direct) -> Server:
    """The Postgres server behind the backend."""
    return backend.server


@pytest.fixture
async def opened(backend: Direct) -> AsyncIterator[Opened]:
    """A migrated database without data. Its tables may be larger than those of a new one."""
    with backend.database() as name:
        async with (
            await KeptConnection.connect(
                backend.server.url(name, superuser=True), autocommit=True, prepare_threshold=None
            ) as connection,
            backend.open(name) as port,
        ):

            async def sql(statement: str, *values: Any) -> list[tuple[Any, ...]]:
                """Runs a statement as the superuser in Relay's schema, and returns its rows."""
                cursor = await connection.execute(statement.encode(), values or None)
                return await cursor.fetchall() if cursor.description else []

            await sql("set search_path = relay, public, extensions")
            yield Opened(port, sql, name, backend.server)


@pytest.fixture
def database(opened: Opened) -> Database:
    """The port of a fresh migrated database."""
    return opened.port


@pytest.fixture
def sql(opened: Opened) -> Sql:
    """Direct SQL access to the same database, to look at rows and to move times."""
    return opened.sql


@pytest.fixture
def store(database: Database) -> Store:
    """The store of one worker on the fresh database."""
    return Store(database, str(uuid.uuid4()))


@pytest.fixture
def driver(store: Store) -> TurnDriver:
    """People who talk to that store."""
    return TurnDriver(store)


@pytest.fixture
def another(database: Database) -> Callable[[], Store]:
    """Makes stores of other workers on the same database."""
    return lambda: Store(database, str(uuid.uuid4()))


@pytest.fixture
async def empty(server: Server) -> AsyncIterator[str]:
    """The name of a database that was never migrated."""
    name = server.create()
    try:
        yield name
    finally:
        server.drop(name)


__all__ = ["Opened", "Server", "Sql"]


@pytest.fixture
async def api(store: Store) -> AsyncIterator[Any]:
    """A client of the API that is signed in as Ada."""
    from tests.integration.api import open_api  # slow to import, and few tests need it

    async with open_api(store) as client:
        yield client


@pytest.fixture
async def stranger(store: Store) -> AsyncIterator[Any]:
    """A client of the API that is signed in as Ben, who sees nothing that is Ada's."""
    from tests.integration.api import open_api
    from tests.integration.turn_driver import BEN

    async with open_api(store, BEN) as client:
        yield client
