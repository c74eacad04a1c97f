"""Opens the configured database and updates its schema."""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

import structlog

from relay.core.errors import AccessRefused, DatabaseUnavailable, SchemaError, SettingsError
from relay.core.ports import Database
from relay.core.program import RELAY
from relay.core.redaction.logs import say
from relay.core.retry import RetryPolicy
from relay.memory import migrations

if TYPE_CHECKING:
    from relay.clients.postgres.database import Postgres
    from relay.clients.supabase.database import Supabase
    from relay.core.settings import Settings

log = structlog.get_logger()

RELOAD_SECONDS = 15.0
"""How many seconds Supabase may take to notice a changed schema."""
RETRIES = RetryPolicy(first=1.0)
SLOW_SECONDS = 5.0
"""How long to open the database in silence."""
TWO_WAYS = (
    f"Run `{RELAY} db migrate` with the project's connection string (Project → Connect) in DATABASE_URL, or paste what "
    f"`{RELAY} db sql` prints into the project's SQL editor."
)


class Storage(NamedTuple):
    """An open database, how to repair it, and its name."""

    database: Database
    repair: Callable[[], Awaitable[object]] | None
    label: str

    @property
    def run(self) -> migrations.Run | None:
        """Executes scripts. None if nothing can, as over REST."""
        return getattr(self.database, "run", None)


@contextlib.asynccontextmanager
async def open_storage(settings: Settings) -> AsyncIterator[Storage]:
    """Opens the configured database: Supabase, DATABASE_URL, or the embedded one."""
    for name, other in (("URL", "SERVICE_ROLE_KEY"), ("SERVICE_ROLE_KEY", "URL")):
        if getattr(settings, f"supabase_{name.lower()}") and not getattr(settings, f"supabase_{other.lower()}"):
            raise SettingsError(
                f"SUPABASE_{name} is set but SUPABASE_{other} is not: Supabase needs both (Project → Settings → API)."
            )
    choose = _supabase if settings.supabase_url else _direct if settings.database_url else _open_embedded
    async with contextlib.AsyncExitStack() as stack:
        with say_if_slow(_describe_wait(settings)):
            opened = await stack.enter_async_context(choose(settings))
        yield opened


@contextlib.contextmanager
def say_if_slow(sentence: str) -> Iterator[None]:
    """Says on standard error what Relay waits for, if it waits for `SLOW_SECONDS`."""
    timer = asyncio.get_running_loop().call_later(SLOW_SECONDS, say, sentence)
    try:
        yield
    finally:
        timer.cancel()


def _describe_wait(settings: Settings) -> str:
    if is_embedded(settings) and not os.path.exists(settings.data_dir / "postgres"):
        return f"Creating {place(settings)}, for up to a minute."
    said = f"Waiting for {place(settings)}, for up to a minute."
    recovers = " After a crash, or if Relay was killed, it first recovers what had been stored."
    return said + recovers * is_embedded(settings)


@contextlib.asynccontextmanager
async def _opened(
    database: Supabase | Postgres, label: str, repair: Callable[[], Awaitable[object]] | None = None
) -> AsyncIterator[Storage]:
    try:
        await database.open()
        yield Storage(database, repair, label)
    finally:
        await database.close()


def _supabase(settings: Settings) -> contextlib.AbstractAsyncContextManager[Storage]:
    from relay.clients.supabase.database import Supabase

    return _opened(Supabase(settings.supabase_url, settings.supabase_service_role_key), "Supabase")


def _direct(settings: Settings) -> contextlib.AbstractAsyncContextManager[Storage]:
    from relay.clients.postgres.database import Postgres

    return _opened(Postgres(settings.database_url), "DATABASE_URL")


@contextlib.asynccontextmanager
async def _open_embedded(settings: Settings) -> AsyncIterator[Storage]:
    from relay.clients.embedded.server import EmbeddedPostgres

    server = EmbeddedPostgres(settings.data_dir)
    try:
        starting = asyncio.create_task(server.start())
        await asyncio.sleep(0)  # it starts in a thread, while this one imports
        from relay.clients.postgres.database import Postgres

        database = Postgres(await starting, pooled=False)
        async with _opened(database, f"embedded, under {settings.data_dir}", server.start) as opened:
            yield opened
    finally:
        await server.stop()


def is_embedded(settings: Settings) -> bool:
    """Tests whether the settings use the embedded database."""
    return not settings.supabase_url and not settings.database_url


def place(settings: Settings) -> str:
    """Describes where the settings keep the data, without secrets."""
    if settings.supabase_url:
        return f"the Supabase project {settings.supabase_url}"
    if settings.database_url:
        parts = urlsplit(settings.database_url)
        return f"the PostgreSQL database {parts.netloc.rpartition('@')[2] or 'local'}{parts.path}"
    return f"the embedded database in {settings.data_dir.expanduser().resolve()}"


def direct(settings: Settings) -> Settings:
    """Returns settings that can run scripts: Supabase's with its connection string. Raises `SettingsError`."""
    if not settings.supabase_url:
        return settings
    if not settings.database_url:
        raise SettingsError(f"Tables can't be created over SUPABASE_URL. {TWO_WAYS}")
    return settings.model_copy(update={"supabase_url": "", "supabase_service_role_key": ""})


async def bring_up_to_date(opened: Storage, settings: Settings, again: bool = False) -> bool:
    """Migrates if necessary; returns whether anything was done. Raises `SchemaError` if a person must act. `again`:
    see `migrate.migrate`."""
    if opened.run is not None:
        return await migrations.migrate(opened.database, opened.run, again)
    schema = migrations.load()
    found = await migrations.present(opened.database)
    if migrations.check(found, schema):
        return False
    if not settings.database_url:
        state = "older than this Relay" if found.version else "not there yet"
        raise SchemaError(f"Relay's tables and functions in the Supabase project are {state}. {TWO_WAYS}")
    async with open_storage(direct(settings)) as other:
        await bring_up_to_date(other, settings)
    for _ in range(int(RELOAD_SECONDS / 0.2)):
        if migrations.check(await migrations.present(opened.database), schema):
            return True
        await asyncio.sleep(0.2)
    raise SchemaError(
        "The database in DATABASE_URL is up to date, but the project in SUPABASE_URL does not show it. "
        "Do both name the same project?"
    )


async def prepare_schema(opened: Storage, settings: Settings, wait: bool) -> bool:
    """Brings the schema up to date like `bring_up_to_date`. With `wait`, waits for an unreachable Supabase and logs
    that. Raises `SettingsError` for a wrong key."""

    async def note(error: BaseException) -> None:
        log.warning("waiting for the database", error=str(error))

    try:
        with say_if_slow(f"Waiting for {place(settings)}, to check its tables or upgrade them."):
            return await RETRIES.run(
                lambda: bring_up_to_date(opened, settings),
                (DatabaseUnavailable,),
                but=(AccessRefused,),
                note=note,
                tries=None if wait and settings.supabase_url else 1,
            )
    except AccessRefused as error:
        raise SettingsError(str(error)) from None
