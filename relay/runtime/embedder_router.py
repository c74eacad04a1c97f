"""Makes the embedder of the settings."""

from __future__ import annotations

from relay.clients.embedding.embedder import ChildEmbedder
from relay.clients.embedding.installed import parse_embedder
from relay.core.settings import Settings
from relay.memory.index import EmbedderRouter


def make_embedder(settings: Settings) -> EmbedderRouter | None:
    """Returns the embedder, in a process that starts at first use. None: off or not installed."""
    what = parse_embedder(settings.embedder)
    if what is None or not what.is_installed:
        return None

    def make(model: str) -> ChildEmbedder | None:
        other = parse_embedder(model)
        return ChildEmbedder(other, settings.data_dir / "models") if other and other.is_installed else None

    return EmbedderRouter(ChildEmbedder(what, settings.data_dir / "models"), make)


def explain_missing_embedder(settings: Settings) -> str:
    """Explains why search by meaning doesn't work and what to do; empty if it works or is off."""
    what = parse_embedder(settings.embedder)
    return "" if what is None or what.is_installed else f"{what.engine} {what.missing}. {what.how}"
