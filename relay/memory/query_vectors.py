"""Embeds search queries, if an embedder is available in time."""

from __future__ import annotations

import asyncio
from dataclasses import asdict

from relay.core import metrics
from relay.core.errors import EmbedderUnavailable
from relay.core.frozen import frozen
from relay.core.ports import Embedder
from relay.memory.calls.memory.search import vector_text

SECONDS = 1.0
"""How many seconds a search waits for the vector."""
LOADING_SECONDS = 20.0
"""The same at a terminal or in a script, where it is better to wait until the model is loaded."""
LONGEST = 2000
"""How many characters of a query are used."""


@frozen
class EmbeddedQuery:
    """A query with its vector."""

    text: str
    vector: str | None = None
    """The vector in the database's text form; None: search uses words only."""
    model: str = ""

    def as_json(self) -> dict[str, object]:
        """Returns the JSON that `relay.find_entries` takes."""
        return asdict(self)


async def embed_query(embedder: Embedder | None, text: str, seconds: float = SECONDS) -> EmbeddedQuery:
    """Embeds a query. The vector is missing if it isn't ready in time."""
    text = text.replace("\0", "")[:LONGEST]
    words = EmbeddedQuery(text)
    if embedder is None or not text.strip():
        return words
    try:
        async with asyncio.timeout(seconds):
            (vector,) = await embedder.embed([text], query=True)
    except TimeoutError:
        metrics.VECTORS.labels("late").inc()
        return words
    except EmbedderUnavailable:
        metrics.VECTORS.labels("failed").inc()
        return words
    metrics.VECTORS.labels("used").inc()
    return EmbeddedQuery(text, vector_text(vector), embedder.model)
