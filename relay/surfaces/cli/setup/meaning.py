"""Describes search at the end of setup."""

from relay.clients.embedding.installed import parse_embedder
from relay.core.settings import Settings
from relay.runtime.embedder_router import explain_missing_embedder

SEARCH = "Search uses words"


def line(settings: Settings) -> str:
    """Names the embedder, or explains how to install one."""
    what = parse_embedder(settings.embedder)
    if what is None:
        return f"{SEARCH} only (RELAY_EMBEDDER is off)."
    if lack := explain_missing_embedder(settings):
        return f"{SEARCH} only: {lack}"
    return f"{SEARCH} and meaning ({what.engine})."
