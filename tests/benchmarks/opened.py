"""What benchmarks open: an empty store, and an embedder."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from relay.clients.embedded.server import EmbeddedPostgres
from relay.clients.embedding.embedder import ChildEmbedder
from relay.clients.embedding.installed import parse_embedder
from relay.clients.postgres.database import Postgres
from relay.memory import migrations
from relay.memory.store import Store


@asynccontextmanager
async def open_store(folder: Path, pooled: bool = False) -> AsyncIterator[tuple[Store, str]]:
    """Starts a server on a data directory, creates what is missing in the database, and yields its store and URL."""
    server = EmbeddedPostgres(folder)
    database = Postgres(await server.start(), pooled=pooled)
    await database.open()
    try:
        await migrations.migrate(database, database.run)
        yield Store(database, str(uuid.uuid4())), server.superuser_url
    finally:
        await database.close()
        await server.stop()


@asynccontextmanager
async def open_embedder(setting: str, folder: Path) -> AsyncIterator[ChildEmbedder | None]:
    """Yields the embedder that a setting names; None if it is off."""
    installed = parse_embedder(setting)
    embedder = ChildEmbedder(installed, folder) if installed else None
    try:
        yield embedder
    finally:
        if embedder:
            await embedder.close()
