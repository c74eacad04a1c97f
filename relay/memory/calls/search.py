"""Finding what was said and what is known."""

from __future__ import annotations

from relay.claims import Claimed
from relay.memory.calls.base import Calls, Json
from relay.models import Space


class SearchCalls(Calls):
    """Messages, memories, summaries and documents, by words and by meaning."""

    async def look_up(self, space: Space, asker: Json, query: Json, limit: int) -> list[Json] | None:
        """What a space holds that bears on a query, best first, each with its place; None where memory is off.

        `asker`: `{bot_id, chat_id, topic_id}` of the thread that asks, which may be one that ignores memory, and
        `turn_id` of the turn in which it does: what was said to it is not found. `query`: `{text}` and, if wanted,
        `vector` (as text) and its `model`, `kinds`, `tags`, `since` and `until` (ISO 8601 times).
        """
        found: list[Json] | None = await self._call(
            "look_up", space=space.as_json(), asker=asker, query=query, limit=limit
        )
        return found

    async def look_at(self, space: Space, asker: Json, kind: str, number: int, part: int) -> Json | None:
        """What the model opens in a space; see `relay_look_at`. None when there is no such thing, or memory is off."""
        return await self._look(space, asker, True, kind, number, part)

    async def open_found(self, space: Space, bot_id: int, kind: str, number: int, part: int = 0) -> Json | None:
        """What somebody who sees a space opens in it; None when there is no such thing."""
        return await self._look(space, {"bot_id": bot_id}, False, kind, number, part)

    async def _look(self, space: Space, asker: Json, guarded: bool, kind: str, number: int, part: int) -> Json | None:
        found: Json | None = await self._call(
            "look_at", space=space.as_json(), asker=asker, guarded=guarded, kind=kind, id=number, part=part
        )
        return found

    async def find(self, space: Space, bot_id: int, query: Json, offset: int, limit: int) -> Json:
        """A page of what a person looks for, best first: `{total, more, every, nowhere, vague, found}`."""
        result: Json = await self._call(
            "find", space=space.as_json(), bot_id=bot_id, query=query, offset=offset, limit=limit
        )
        return result

    async def found_context(
        self, space: Space, bot_id: int, query: Json, message_id: int, side: str, count: int
    ) -> Json | None:
        """Messages around (before, after) one: `{messages, earlier, later}`. None when the space has no such one."""
        found: Json | None = await self._call(
            "found_context",
            space=space.as_json(),
            bot_id=bot_id,
            query=query,
            message_id=message_id,
            side=side,
            count=count,
        )
        return found

    async def keep_search(self, turn: Claimed, space: Space, text: str) -> None:
        """Keeps what was asked with the control that asked it."""
        await self._call("keep_search", turn_id=turn.turn_id, fence=turn.fence, space=space.as_json(), text=text)

    async def kept_search(self, turn_id: int, space: Space) -> Json | None:
        """What was asked in a space by a control: `{text, user_id, at, chat_id, topic_id}`. None when nothing was."""
        found: Json | None = await self._call("kept_search", turn_id=turn_id, space=space.as_json())
        return found
