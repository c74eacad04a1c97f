"""What setup says of how things are found."""

from __future__ import annotations

from relay.clients.embedding.installed import named
from relay.core.settings import Settings
from relay.runtime.embedder_router import explain_missing_embedder

FOUND = "What was said is found by words"


def line(settings: Settings) -> str:
    """What finds by meaning; or that nothing does, and how that is changed."""
    what = named(settings.embedder)
    if what is None:
        return f"{FOUND} alone (RELAY_EMBEDDER is off)."
    if lack := explain_missing_embedder(settings):
        return f"{FOUND} alone: {lack}"
    return f"{FOUND} and by meaning ({what.engine})."
