"""Finding what was said."""

from __future__ import annotations

from relay.claims import Claimed
from relay.memory.calls.base import Calls, Json
from relay.models import Space


class SearchCalls(Calls):
    """Messages by words."""

    async def search_history(
        self, space_id: int, query: str, limit: int, since: str | None, until: str | None
    ) -> list[Json]:
        """Messages of a space by words; `since` and `until` are ISO 8601 times."""
        return list(
            await self._call("search_history", space_id=space_id, query=query, limit=limit, since=since, until=until)
        )

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
