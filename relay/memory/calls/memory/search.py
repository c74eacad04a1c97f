"""Search, vectors and documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from relay.core.models import Space
from relay.memory.calls.base import Calls, decode_row, rpc
from relay.memory.claims import ClaimedTurn
from relay.memory.rows.found import FoundEntry
from relay.memory.rows.search import MessageContext, SearchPage, SearchQuery, StoredSearch
from relay.memory.rows.search_context import Opened, find_opened_type
from relay.memory.rows.turns.documents import OpenedDocument
from relay.memory.rows.upkeep.embedding import EmbeddingStatus, EmbedTask, MadeVector


def vector_text(vector: Sequence[float]) -> str:
    """Formats a vector for the database."""
    return f"[{','.join(f'{number:.6g}' for number in vector)}]"


class SearchCalls(Calls):
    """Search by words and by meaning, vectors, and documents."""

    @rpc()
    async def look_up(
        self, space: Space, asker: Mapping[str, object], query: Mapping[str, object], limit: int
    ) -> list[FoundEntry] | None:
        """Returns what is relevant to a query, best first, with places; None if memory is off. `asker`: `{bot_id,
        chat_id, topic_id}` of the asking thread, whose settings apply, and `turn_id` of the turn, whose own message
        is left out. `query`: `{text}` and optionally `vector` (as text) with its `model`, `kinds`, `tags`, `since`
        and `until` (ISO 8601 times)."""

    async def look_at(
        self, space: Space, asker: Mapping[str, object], kind: str, number: int, part: int, guarded: bool = True
    ) -> Opened | None:
        """Opens something in a space for the model. None if it doesn't exist or (`guarded`) memory is off."""
        found = await self._call(
            "look_at", space=space.as_json(), asker=asker, guarded=guarded, kind=kind, id=number, part=part
        )
        return None if found is None else decode_row(find_opened_type(kind), found)

    async def open_found(self, space: Space, bot_id: int, kind: str, number: int) -> Opened | None:
        """Opens something in a space for a person who may see it; None if it doesn't exist."""
        return await self.look_at(space, {"bot_id": bot_id}, kind, number, 0, guarded=False)

    @rpc()
    async def find(self, space: Space, bot_id: int, query: SearchQuery, offset: int, limit: int) -> SearchPage:
        """Returns a page of search results, best first."""

    @rpc("found_context")
    async def find_context(
        self, space: Space, bot_id: int, query: SearchQuery, message_id: int, side: str, count: int
    ) -> MessageContext | None:
        """Returns messages around, before or after one. None if the space has no such message."""

    @rpc()
    async def keep_search(self, turn: ClaimedTurn, space: Space, text: str) -> None:
        """Stores a search with the turn that made it, for its buttons."""

    @rpc("kept_search")
    async def find_kept_search(self, turn_id: int, space: Space) -> StoredSearch | None:
        """Returns a turn's search in a space; None if there is none."""

    @rpc()
    async def index_due(self, limit: int) -> bool:
        """Indexes what turns wrote, up to `limit` texts. Returns whether more may remain."""

    @rpc()
    async def index_missing(self, limit: int) -> int:
        """Indexes what turns wrote and missing entries, up to `limit`. Returns how many were missing."""

    @rpc()
    async def take_embed_due(self, limit: int, lease_seconds: int) -> list[EmbedTask]:
        """Leases entries that need a vector, newest first."""

    @rpc()
    async def store_embeddings(self, model: str, rows: Sequence[MadeVector]) -> int:
        """Stores vectors. Returns how many: an entry whose text has changed is due again instead."""

    @rpc()
    async def return_embed_due(self, entries: Sequence[int]) -> None:
        """Releases leases without counting a failure."""

    @rpc()
    async def embedding_status(self, model: str) -> EmbeddingStatus:
        """Returns how many vectors a model has."""

    @rpc()
    async def embed_again(self, model: str, limit: int) -> int:
        """Queues entries embedded by another model, up to `limit`. Returns how many."""

    @rpc()
    async def embed_everything(self, limit: int, start: bool = False) -> int:
        """Queues all entries for new vectors, `limit` at a time; `start` begins a rebuild unless one is running.
        Returns how many; 0 at the end, or if none is running."""

    @rpc()
    async def open_document(self, space: Space, name: str, part: int, version: int | None) -> OpenedDocument:
        """Opens a part of a document by name. `version`: which one of that name (1: the oldest); None: the newest. The
        result has no `document` if no name matches, several do, or the version is missing."""
