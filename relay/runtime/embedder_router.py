"""What finds by meaning, as the settings name it, and closed at the end."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

from relay.clients.embedding.embedder import ChildEmbedder
from relay.clients.embedding.installed import named
from relay.core.settings import Settings
from relay.memory.indexing import EmbedderRouter


def make_embedder(settings: Settings) -> EmbedderRouter | None:
    """What finds by meaning, in a process of its own that starts at first use. None: it is off, or not installed."""
    what = named(settings.embedder)
    if what is None or not what.is_installed:
        return None

    def make(model: str) -> ChildEmbedder | None:
        other = named(model)
        return ChildEmbedder(other, settings.data_dir / "models") if other and other.is_installed else None

    return EmbedderRouter(ChildEmbedder(what, settings.data_dir / "models"), make)


def explain_missing_embedder(settings: Settings) -> str:
    """Why nothing finds by meaning though it should, and what can be done about it; empty where it does, or is off."""
    what = named(settings.embedder)
    return "" if what is None or what.is_installed else f"{what.engine} {what.missing}. {what.how}"


@contextlib.asynccontextmanager
async def open_embedder(settings: Settings) -> AsyncIterator[EmbedderRouter | None]:
    """The same, for as long as it is used."""
    embedder = make_embedder(settings)
    try:
        yield embedder
    finally:
        if embedder:
            await embedder.close()
