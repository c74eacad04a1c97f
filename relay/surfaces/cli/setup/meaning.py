"""What setup says about search."""

from __future__ import annotations

from relay.clients.embedding.installed import named
from relay.core.settings import Settings
from relay.runtime.embedder_router import explain_missing_embedder

FOUND = "What was said is found by words"


def line(settings: Settings) -> str:
    """Names the embedder, or says how to get one."""
    what = named(settings.embedder)
    if what is None:
        return f"{FOUND} alone (RELAY_EMBEDDER is off)."
    if lack := explain_missing_embedder(settings):
        return f"{FOUND} alone: {lack}"
    return f"{FOUND} and by meaning ({what.engine})."
