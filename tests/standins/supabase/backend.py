"""The project as another database backend for tests: what `Server` and `Direct` are for plain Postgres.

PostgREST serves one database, so a "new copy of the template" is that one, emptied. A database without a template is
really new, and reached only by its connection string.
"""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

from relay.clients.supabase.database import Supabase
from relay.core.ports import Database
from tests.standins.supabase.project import NAME, SupabaseProject

numbers = itertools.count(1)


@dataclass(frozen=True)
class SupabaseServer:
    """A project with Relay in it, as a server with databases."""

    project: SupabaseProject

    @property
    def superuser_url(self) -> str:
        return self.project.database.url("postgres", "postgres")

    @property
    def owner_url(self) -> str:
        return self.project.database_url

    def url(self, database: str, superuser: bool = False) -> str:
        """Returns the connection string of one of its databases."""
        return self.project.database.url(database, "postgres" if superuser else "project")

    def command(self, statement: str, database: str = "postgres") -> None:
        """Runs one statement as the superuser."""
        self.project.database.execute(database, statement)

    def create(self, template: str | None = None, name: str | None = None) -> str:
        """Returns the project's database, emptied. Without a template, creates a project that has never seen Relay."""
        if template:
            self.project.reset()
            return NAME
        name = name or f"other_{next(numbers)}"
        self.project.database.create(name)
        return name

    def drop(self, name: str) -> None:
        if name != NAME:
            self.command(f"drop database if exists {name} with (force)")


@dataclass(frozen=True)
class SupabaseBackend:
    """The backend that talks to Supabase over REST only."""

    server: SupabaseServer

    @contextmanager
    def database(self) -> Iterator[str]:
        """Lends the project's database, emptied."""
        self.server.project.reset()
        yield NAME

    @asynccontextmanager
    async def open(self, name: str) -> AsyncIterator[Database]:
        """Opens a client of the project's database, the only one that the project serves."""
        assert name == NAME, "PostgREST serves one database"
        client = Supabase(self.server.project.url, self.server.project.service_key)
        await client.open()
        try:
            yield client
        finally:
            await client.close()


@contextmanager
def supabase_server() -> Iterator[SupabaseServer]:
    """A running project with Relay in it (body of a session fixture). Skips if PostgREST is unavailable."""
    with SupabaseProject() as project:
        project.migrate()
        yield SupabaseServer(project)
