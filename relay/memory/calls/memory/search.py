"""Search, vectors and documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from relay.core.models import Space
from relay.memory.calls.base import Calls, decode_row
from relay.memory.claims import ClaimedTurn
from relay.memory.rows.found import FoundEntry
from relay.memory.rows.opened import BY_KIND, Opened
from relay.memory.rows.search import MessageContext, SearchPage, SearchQuery, StoredSearch
from relay.memory.rows.turns.documents import OpenedDocument
from relay.memory.rows.upkeep.embedding import EmbeddingStatus, EmbedTask, MadeVector


class SearchCalls(Calls):
    """Messages, memories, summaries and documents, by words and by meaning."""

    async def look_up(
        self, space: Space, asker: Mapping[str, object], query: Mapping[str, object], limit: int
    ) -> list[FoundEntry] | None:
        """What a space holds that bears on a query, best first, each with its place; None where memory is off.

        `asker`: `{bot_id, chat_id, topic_id}` of the thread that asks, which may be one that ignores memory, and
        `turn_id` of the turn in which it does: what was said to it is not found. `query`: `{text}` and, if wanted,
        `vector` (as text) and its `model`, `kinds`, `tags`, `since` and `until` (ISO 8601 times).
        """
        found = await self._call("look_up", space=space.as_json(), asker=asker, query=query, limit=limit)
        return None if found is None else decode_row(list[FoundEntry], found)

    async def look_at(
        self, space: Space, asker: Mapping[str, object], kind: str, number: int, part: int
    ) -> Opened | None:
        """What the model opens in a space. None when there is no such thing, or memory is off."""
        return await self._look(space, asker, True, kind, number, part)

    async def open_found(self, space: Space, bot_id: int, kind: str, number: int, part: int = 0) -> Opened | None:
        """What somebody who sees a space opens in it; None when there is no such thing."""
        return await self._look(space, {"bot_id": bot_id}, False, kind, number, part)

    async def _look(
        self, space: Space, asker: Mapping[str, object], guarded: bool, kind: str, number: int, part: int
    ) -> Opened | None:
        found = await self._call(
            "look_at", space=space.as_json(), asker=asker, guarded=guarded, kind=kind, id=number, part=part
        )
        return None if found is None else decode_row(BY_KIND[kind], found)

    async def find(self, space: Space, bot_id: int, query: SearchQuery, offset: int, limit: int) -> SearchPage:
        """A page of what a person looks for, best first."""
        return await self._fetch(
            SearchPage, "find", space=space.as_json(), bot_id=bot_id, query=query.as_json(), offset=offset, limit=limit
        )

    async def found_context(
        self, space: Space, bot_id: int, query: SearchQuery, message_id: int, side: str, count: int
    ) -> MessageContext | None:
        """Messages around, before or after one. None when the space has no such message."""
        return await self._find(
            MessageContext,
            "found_context",
            space=space.as_json(),
            bot_id=bot_id,
            query=query.as_json(),
            message_id=message_id,
            side=side,
            count=count,
        )

    async def keep_search(self, turn: ClaimedTurn, space: Space, text: str) -> None:
        """Stores a search with the turn that asked it."""
        await self._call("keep_search", turn_id=turn.turn_id, fence=turn.fence, space=space.as_json(), text=text)

    async def kept_search(self, turn_id: int, space: Space) -> StoredSearch | None:
        """The search that a turn asked in a space; None when there is none."""
        return await self._find(StoredSearch, "kept_search", turn_id=turn_id, space=space.as_json())


def vector_text(vector: Sequence[float]) -> str:
    """A vector as the database reads it."""
    return f"[{','.join(f'{number:.6g}' for number in vector)}]"


class EmbeddingCalls(Calls):
    """What needs a vector, and what was made."""

    async def index_missing(self, limit: int) -> int:
        """Enters what can be found and is not entered yet, up to `limit` of it. Returns how much was."""
        return int(await self._call("index_missing", limit=limit))

    async def take_embed_due(self, limit: int, lease_seconds: int) -> list[EmbedTask]:
        """Leases entries that need a vector, the newest first."""
        return await self._list(EmbedTask, "take_embed_due", limit=limit, lease_seconds=lease_seconds)

    async def store_embeddings(self, model: str, made: Sequence[MadeVector]) -> int:
        """Stores vectors. Returns how many: an entry whose text has changed in the meantime is due again instead."""
        return int(await self._call("store_embeddings", model=model, rows=[asdict(one) for one in made]))

    async def return_embed_due(self, entries: Sequence[int]) -> None:
        """Gives back what was taken and not embedded, for no fault of its own."""
        await self._call("return_embed_due", entries=list(entries))

    async def embedding_status(self, model: str) -> EmbeddingStatus:
        """How many vectors there are of a model."""
        return await self._fetch(EmbeddingStatus, "embedding_status", model=model)

    async def embed_again(self, model: str, limit: int) -> int:
        """Puts down to be embedded what another model has embedded, up to `limit`. Returns how much was."""
        return int(await self._call("embed_again", model=model, limit=limit))

    async def embed_everything(self, limit: int, start: bool = False) -> int:
        """Goes on putting down everything to be embedded anew, by `limit` entries; `start`: begins with it, unless it
        is under way. Returns how many were put down: 0 at the end, and where it was not begun."""
        return int(await self._call("embed_everything", start=start, limit=limit))


class DocumentCalls(Calls):
    """The texts that are kept in parts."""

    async def open_document(self, space: Space, name: str, part: int, version: int | None) -> OpenedDocument:
        """A part of the document of a name. `version`: which of several of that name (1: the oldest); None: the newest.

        The result has no `document` when no name is like it, or several are, or there is no such version.
        """
        return await self._fetch(
            OpenedDocument, "open_document", space=space.as_json(), name=name, part=part, version=version
        )
