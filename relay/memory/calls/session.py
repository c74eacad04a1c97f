"""Sessions, and how things stand."""

from __future__ import annotations

from relay.memory.calls.base import Calls, Json
from relay.models import Space


class SessionCalls(Calls):
    """The stretches of a thread between two /new."""

    async def new_session(self, space: Space, chat_id: int, topic_id: int, title: str) -> Json:
        """Ends a thread's session. Returns `{session_id, messages}`."""
        result: Json = await self._call(
            "new_session", space=space.as_json(), chat_id=chat_id, topic_id=topic_id, title=title
        )
        return result

    async def sessions(self, space: Space, chat_id: int, topic_id: int, offset: int, limit: int) -> Json:
        """A page of a thread's sessions, newest first: `{total, sessions}`."""
        result: Json = await self._call(
            "sessions", space=space.as_json(), chat_id=chat_id, topic_id=topic_id, offset=offset, limit=limit
        )
        return result

    async def session(self, space: Space, chat_id: int, topic_id: int, session_id: int) -> Json | None:
        """One session of a thread, with its summary and its last words; None when there is none of that id."""
        found: Json | None = await self._call(
            "session", space=space.as_json(), chat_id=chat_id, topic_id=topic_id, session_id=session_id
        )
        return found

    async def status(self, space: Space) -> Json:
        """How things stand, in numbers."""
        result: Json = await self._call("status", space=space.as_json())
        return result
