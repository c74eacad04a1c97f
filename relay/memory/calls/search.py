"""Finding what was said."""

from __future__ import annotations

from relay.memory.calls.base import Calls, Json


class SearchCalls(Calls):
    """Messages by words."""

    async def search_history(
        self, space_id: int, query: str, limit: int, since: str | None, until: str | None
    ) -> list[Json]:
        """Messages of a space by words; `since` and `until` are ISO 8601 times."""
        return list(
            await self._call("search_history", space_id=space_id, query=query, limit=limit, since=since, until=until)
        )
