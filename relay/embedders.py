"""What finds by meaning, as the settings name it, and closed at the end."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

from relay.clients.embedder import ChildEmbedder
from relay.embedding.installed import named
from relay.indexing import Asked
from relay.settings import Settings


def make_embedder(settings: Settings) -> Asked | None:
    """What finds by meaning, in a process of its own that starts at first use. None: it is off, or not installed."""
    what = named(settings.embedder)
    if what is None or not what.is_installed:
        return None

    def make(model: str) -> ChildEmbedder | None:
        other = named(model)
        return ChildEmbedder(other, settings.data_dir / "models") if other and other.is_installed else None

    return Asked(ChildEmbedder(what, settings.data_dir / "models"), make)


def lacking_embedder(settings: Settings) -> str:
    """Why nothing finds by meaning though it should, and what can be done about it; empty where it does, or is off."""
    what = named(settings.embedder)
    return "" if what is None or what.is_installed else f"{what.engine} {what.missing}. {what.how}"


@contextlib.asynccontextmanager
async def finding(settings: Settings) -> AsyncIterator[Asked | None]:
    """The same, for as long as it is used."""
    embedder = make_embedder(settings)
    try:
        yield embedder
    finally:
        if embedder:
            await embedder.close()
