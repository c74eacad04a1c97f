"""Vectors of what can be found."""

from __future__ import annotations

from collections.abc import Sequence

from relay.memory.calls.base import Calls, Json


def vector_text(vector: Sequence[float]) -> str:
    """A vector as the database reads it."""
    return f"[{','.join(f'{number:.6g}' for number in vector)}]"


class EmbeddingCalls(Calls):
    """What needs a vector, and what was made."""

    async def index_missing(self, limit: int) -> int:
        """Enters what can be found and is not entered yet, up to `limit` of it. Returns how much was."""
        return int(await self._call("index_missing", limit=limit))

    async def take_embed_due(self, limit: int, lease_seconds: int) -> list[Json]:
        """Leases what needs a vector, the newest first: `{entry_id, since, said, text, hash}`, `said`:
        by a person."""
        return list(await self._call("take_embed_due", limit=limit, lease_seconds=lease_seconds))

    async def store_embeddings(self, model: str, rows: Sequence[Json]) -> int:
        """Stores `{entry_id, since, hash, vector}`, a vector as text, or None where there is nothing to embed. Returns
        how many were: one whose text has changed meanwhile is due again instead."""
        return int(await self._call("store_embeddings", model=model, rows=list(rows)))

    async def return_embed_due(self, entries: Sequence[int]) -> None:
        """Gives back what was taken and not embedded, for no fault of its own."""
        await self._call("return_embed_due", entries=list(entries))

    async def embedding_status(self, model: str) -> Json:
        """How it stands with a model's vectors: `{entries, embedded, due, of_other_models, serves, rebuilding}`, where
        `serves` is the model that questions are asked with, as it has the most."""
        result: Json = await self._call("embedding_status", model=model)
        return result

    async def embed_again(self, model: str, limit: int) -> int:
        """Puts down to be embedded what another model has embedded, up to `limit`. Returns how much was."""
        return int(await self._call("embed_again", model=model, limit=limit))

    async def embed_everything(self, limit: int, start: bool = False) -> int:
        """Goes on putting down everything to be embedded anew, by `limit` entries; `start`: begins with it, unless it
        is under way. Returns how many were put down: 0 at the end, and where it was not begun."""
        return int(await self._call("embed_everything", start=start, limit=limit))
