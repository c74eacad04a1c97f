"""The library of sessions: originals, registration, links, suggestions, settings, storage."""

from __future__ import annotations

from collections.abc import Mapping

from relay.core.models import Space
from relay.memory.calls.base import Calls
from relay.memory.contexts.space_settings import ContextSettings, read_document
from relay.memory.rows.contexts.library import OriginalPage, StorageStatistics, Suggestion


class LibraryCalls(Calls):
    """Actions on past sessions that belong to a thread or are linked to it."""

    async def open_original(
        self, space: Space, chat_id: int, topic_id: int, session_id: int, offset: int, limit: int
    ) -> OriginalPage | None:
        """Returns a page of a session's messages, and marks the session as used. None: the thread doesn't have it."""
        where = {"space": space.as_json(), "chat_id": chat_id, "topic_id": topic_id, "session_id": session_id}
        return await self._find(OriginalPage, "open_original", **where, offset=offset, limit=limit)

    async def register_session(
        self, space: Space, chat_id: int, topic_id: int, session_id: int, on: bool
    ) -> bool | None:
        """Adds a session to the library, or removes it. Returns whether it is in the library now. None: the thread
        doesn't have it."""
        where = {"space": space.as_json(), "chat_id": chat_id, "topic_id": topic_id, "session_id": session_id}
        return await self._find(bool, "register_session", **where, on=on)

    async def link_session(
        self, space: Space, chat_id: int, topic_id: int, session_id: int, reason: str, user_id: int
    ) -> bool:
        """Links a session of the space to a thread of it. Returns False if there is no such session, or it belongs to
        this thread."""
        where = {"space": space.as_json(), "chat_id": chat_id, "topic_id": topic_id, "session_id": session_id}
        return bool(await self._call("link_session", **where, reason=reason, user_id=user_id))

    async def unlink_session(self, space: Space, chat_id: int, topic_id: int, session_id: int) -> bool:
        """Removes a link. Returns False if there is none."""
        where = {"space": space.as_json(), "chat_id": chat_id, "topic_id": topic_id, "session_id": session_id}
        return bool(await self._call("unlink_session", **where))

    async def suggest(
        self, space: Space, chat_id: int, topic_id: int, query: Mapping[str, object], budget: int
    ) -> list[Suggestion]:
        """Returns past sessions that fit a question (see `relay.find_entries`), best first, within a budget in
        tokens."""
        asked = {**query, "chat_id": chat_id, "topic_id": topic_id}
        return await self._list(Suggestion, "suggest", space=space.as_json(), query=asked, budget=budget)

    async def context_settings(self, space: Space) -> ContextSettings:
        """Returns a space's settings of contexts."""
        return read_document(await self._call("context_settings", space=space.as_json()))

    async def change_context_settings(self, space: Space, changes: Mapping[str, object]) -> ContextSettings:
        """Changes a space's settings of contexts. Returns all of them."""
        return read_document(await self._call("change_context_settings", space=space.as_json(), changes=changes))

    async def storage_statistics(self, space: Space) -> StorageStatistics:
        """Returns how much a space stores."""
        return await self._fetch(StorageStatistics, "storage_statistics", space=space.as_json())
