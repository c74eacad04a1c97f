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

    async def status(self, space: Space) -> Json:
        """How things stand, in numbers."""
        result: Json = await self._call("status", space=space.as_json())
        return result
