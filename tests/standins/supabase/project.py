"""A Supabase project: Postgres, PostgREST and the gateway, with an interface to each."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from relay.clients.embedded.server import EmbeddedPostgres
from relay.clients.postgres.database import Postgres
from relay.memory import migrations as migrate
from tests.standins.supabase.database import ProjectDatabase
from tests.standins.supabase.gateway import Fault, Gateway, Seen
from tests.standins.supabase.keys import Keys
from tests.standins.supabase.postgrest import Postgrest, require_postgrest

NAME = "project"


class SupabaseProject:
    """A project without Relay until `migrate`. `with` and `async with` start and stop it. It runs in its own threads
    and processes, so one project can serve tests of several event loops."""

    def __init__(self) -> None:
        self._keys = [Keys()]
        self.folder = Path()
        """The folder of all its files while it runs."""
        self._started: list[Any] = []

    # Start and stop

    def __enter__(self) -> Self:
        require_postgrest()
        shared = Path("/dev/shm")
        memory = str(shared) if shared.is_dir() and shutil.disk_usage(shared).free > 2**30 else None
        self.folder = Path(tempfile.mkdtemp(prefix="relay-supabase-", dir=memory))
        try:
            self._start()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stop()

    async def __aenter__(self) -> Self:
        return await asyncio.to_thread(self.__enter__)

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self._stop)

    def _start(self) -> None:
        server = EmbeddedPostgres(self.folder / "data")
        self._started.append(lambda: asyncio.run(server.stop()))
        asyncio.run(server.start())
        self.database = ProjectDatabase(server.superuser_url)
        self.database.prepare_server()
        self.database.create(NAME)
        self.postgrest = Postgrest(self.folder, self.database.url(NAME, "authenticator"), self._keys[-1].secret)
        self._started.append(self.postgrest.stop)
        self.postgrest.start()
        self.gateway = Gateway(self.postgrest.socket, self._keys[-1])
        self._started.append(self.gateway.stop)
        self.gateway.start()

    def _stop(self) -> None:
        while self._started:
            self._started.pop()()
        shutil.rmtree(self.folder, ignore_errors=True)

    # Addresses and keys

    @property
    def url(self) -> str:
        """SUPABASE_URL."""
        return f"http://127.0.0.1:{self.gateway.port}"

    @property
    def database_url(self) -> str:
        """The connection string of the role that Supabase calls postgres: not a superuser."""
        return self.database.url(NAME)

    @property
    def service_key(self) -> str:
        """The legacy service_role key."""
        return self.gateway.keys.tokens["service_role"]

    @property
    def anon_key(self) -> str:
        """The legacy anon key, which every visitor of a web page may have."""
        return self.gateway.keys.tokens["anon"]

    @property
    def user_key(self) -> str:
        """The token of a user who has logged in (role authenticated)."""
        return self.gateway.keys.tokens["authenticated"]

    @property
    def secret_key(self) -> str:
        """The new kind of service key: sb_secret_…"""
        return self.gateway.keys.secret_key

    @property
    def publishable_key(self) -> str:
        """The new kind of anon key: sb_publishable_…"""
        return self.gateway.keys.publishable_key

    @property
    def secrets(self) -> list[str]:
        """Everything that must never appear in a log."""
        keys = [key for one in self._keys for key in (*one.tokens.values(), one.secret_key)]
        return [*keys, self.database.password]

    # Faults

    @property
    def requests(self) -> list[Seen]:
        """The requests through the gateway, oldest first."""
        return self.gateway.requests

    def calls(self, *functions: str) -> list[Seen]:
        """Returns the requests for these functions (named without relay_), or for any function."""
        return [one for one in self.requests if one.function and (not functions or one.function in functions)]

    def fail(self, kind: int | str, times: int = -1, function: str = "", body: Any = None) -> Fault:
        """Orders a fault: an HTTP status, or timeout, stuck, disconnect, lost. Without `times` it lasts until
        `recover`."""
        fault = Fault(kind, times, function, body)
        self.gateway.faults.append(fault)
        return fault

    def recover(self) -> None:
        """Ends all faults, the pause and the delay."""
        self.gateway.faults.clear()
        self.gateway.paused = False
        self.gateway.delay = 0.0

    def pause(self) -> None:
        """Pauses the project, as the free tier does after a week without use."""
        self.gateway.paused = True

    def resume(self) -> None:
        self.gateway.paused = False

    def rotate_keys(self) -> None:
        """Rotates the keys: the old ones are refused."""
        self._keys.append(Keys())
        self._use_keys()

    def restore_keys(self) -> None:
        """Restores the project's first keys."""
        del self._keys[1:]
        self._use_keys()

    def _use_keys(self) -> None:
        keys = self.gateway.keys = self._keys[-1]
        self.postgrest.use_secret(keys.secret)
        self.postgrest.until(lambda status: status == 200, "/rpc/whoami", keys.tokens["service_role"])

    # Schema

    def migrate(self) -> None:
        """Runs `relay db migrate` with the connection string, and waits until PostgREST has seen the schema."""

        async def work() -> None:
            client = Postgres(self.database_url)
            await client.open()
            try:
                await migrate.migrate(client, client.run)
            finally:
                await client.close()

        asyncio.run(work())
        self.reloaded(200)

    def forget_relay(self) -> None:
        """Restores the project to its state before Relay."""
        self.database.forget(NAME)
        self.sql("notify pgrst, 'reload schema'")
        self.reloaded(404)

    def reloaded(self, status: int) -> None:
        """Waits until PostgREST knows the schema: 200 with Relay in it, 404 without."""
        token = self.gateway.keys.tokens["service_role"]
        self.postgrest.until(lambda found: found == status, "/rpc/relay_schema", token)

    def sql(self, statements: str, role: str = "postgres") -> list[tuple[Any, ...]]:
        """Runs SQL directly, as the superuser or another role. Returns the rows of the last statement."""
        return self.database.execute(NAME, statements, role)

    def reset(self) -> None:
        """Resets the project for the next test: no data, no faults, the first keys, no counted requests."""
        self.recover()
        if len(self._keys) > 1:
            self.restore_keys()
        self.database.empty(NAME)
        self.requests.clear()
