"""A turn: begin, recall, finish; and edits of messages."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from relay.core.frozen import as_json
from relay.core.models import Incoming, Space
from relay.memory.calls.base import Calls, rpc
from relay.memory.claims import ClaimedTurn
from relay.memory.rows.found import FoundEntry, Recalled
from relay.memory.rows.turns.answer import Answer
from relay.memory.rows.turns.context import Context
from relay.memory.rows.turns.edits import Correction, EditResult, RetryState, ShownAnswer

IDLE_HOURS = 12
"""A session ends after this many hours of silence."""
TOKEN_CHARACTERS = 4
"""The characters of memories that count as a token, approximately: as many memories as may fit are loaded."""
RECENT_CHARACTERS = 400_000
RECALLED = 5


class TurnCalls(Calls):
    """Loads and saves a turn, and edits, corrections and reactions."""

    async def begin(
        self, incoming: Incoming, model: str, spent_since: datetime | None = None, memory_tokens: int = 6_000
    ) -> Context:
        """Saves the user's message and loads the prompt's contents. `spent_since`: also load what was spent since
        then."""
        also = {
            "model": model,
            "spent_since": spent_since.isoformat() if spent_since else None,
            "idle_hours": IDLE_HOURS,
            "memory_budget": memory_tokens * TOKEN_CHARACTERS,
            "recent_budget": RECENT_CHARACTERS,
        }
        return await self._begin(incoming, as_json(incoming) | also)

    @rpc("begin")
    async def _begin(self, turn: Incoming, input: Mapping[str, object]) -> Context: ...

    @rpc()
    async def topic_of(self, bot_id: int, chat_id: int, telegram_message_id: int) -> int:
        """Returns the topic of one of the bot's messages; 0 if unknown."""

    async def recall(
        self, incoming: Incoming, space: Space | None = None, vector: str | None = None, model: str = ""
    ) -> list[FoundEntry]:
        """Returns what is relevant to the message in a space (by default its own), best first: up to `RECALLED`
        memories (a prompt shows most of them anyway), and as many messages, summaries and document parts. `vector`:
        that of the message by the embedding model `model`, in the database's text form."""
        query = {
            "text": incoming.text[:2000],
            "vector": vector,
            "model": model,
            "chat_id": incoming.chat_id,
            "topic_id": incoming.topic_id,
            "asker": incoming.user_id,
            "beside_memories": True,
        }
        return await self.recall_for(space or incoming.space, query, RECALLED)

    async def recall_for(self, space: Space, query: Mapping[str, object], limit: int) -> list[FoundEntry]:
        """Returns what is relevant enough to a query (`{text, vector, model, …}`) to be mentioned unasked, best
        first."""
        result = await self._fetch(Recalled, "recall_for", space=space.as_json(), query=query, limit=limit)
        return list(result.found)

    @rpc()
    async def finish(self, turn: Incoming, reply: Mapping[str, object]) -> Answer:
        """Saves the answer and its effects. Returns it as stored, with the memory changes."""

    @rpc()
    async def edit(self, edit: Mapping[str, object]) -> EditResult:
        """Handles an edit: `{bot_id, chat_id, topic_id, telegram_message_id, user_id, edited_at, text, blocks,
        message}`; `message` is Telegram's."""

    @rpc()
    async def correct(self, turn: ClaimedTurn, chat_id: int, telegram_message_id: int, text: str) -> Correction | None:
        """Corrects the transcript of the user's recording with their reply to its echo. Returns the turn of the
        recording; None if that message is not an echo."""

    @rpc("standing")
    async def find_standing(self, turn_id: int, user_id: int) -> RetryState | None:
        """Returns the state of a turn for a person who wants a new answer. None if there is no such turn."""

    @rpc()
    async def take_keep(self, bot_id: int, chat_id: int, telegram_message_id: int, user_id: int) -> ShownAnswer | None:
        """Removes the ◆ from an answer. Returns what its last message shows; None: it has no ◆."""

    @rpc()
    async def react(
        self, bot_id: int, chat_id: int, telegram_message_id: int, user_id: int, emojis: list[str], at: int
    ) -> bool:
        """Stores a person's reactions to a message as of `at` (Unix seconds). Returns whether reactions to it are
        stored."""
