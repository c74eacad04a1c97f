"""What somebody looks for as a vector, where there is something that makes one in time."""

from __future__ import annotations

import asyncio
from dataclasses import asdict, dataclass

from relay.core import metrics
from relay.core.errors import EmbedderUnavailable
from relay.core.ports import Embedder
from relay.memory.calls.memory.search import vector_text

SECONDS = 1.0
"""How long a search waits for it."""
LOADING_SECONDS = 20.0
"""The same where somebody rather waits until it is loaded: at a terminal, in a script."""
LONGEST = 2000
"""Characters of a query that are looked at."""


@dataclass(frozen=True, slots=True)
class EmbeddedQuery:
    """A query with its vector."""

    text: str
    vector: str | None = None
    """As the database reads it; None: only words find."""
    model: str = ""

    def as_json(self) -> dict[str, object]:
        """As `relay.find_entries` takes it."""
        return asdict(self)


async def embed_query(embedder: Embedder | None, text: str, seconds: float = SECONDS) -> EmbeddedQuery:
    """Embeds a query. It comes without a vector where that is not there in time."""
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
