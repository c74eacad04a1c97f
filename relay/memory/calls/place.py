"""What is answered in a group, and whose memory it was lent."""

from __future__ import annotations

from relay.memory.calls.base import Calls, Json

EVERYWHERE = -1
"""As a topic: all of a group that says nothing else."""


class PlaceCalls(Calls):
    """Groups and their topics."""

    async def place(self, chat_id: int, topic_id: int) -> Json:
        """How things stand in a group's topic: `{here, everywhere, lender}`, each None where nothing was said."""
        result: Json = await self._call("place", chat_id=chat_id, topic_id=topic_id)
        return result

    async def set_place(self, chat_id: int, topic_id: int, answers: str, user_id: int) -> Json:
        """all, addressed or off, in a topic or everywhere. Returns how things stand then, as `place` does."""
        result: Json = await self._call(
            "set_place", chat_id=chat_id, topic_id=topic_id, answers=answers, user_id=user_id
        )
        return result

    async def link(self, chat_id: int, owner_id: int) -> int:
        """Lends somebody's memory to a group, unless somebody else's is lent. Returns whose is lent then."""
        return int(await self._call("link", chat_id=chat_id, owner_id=owner_id))

    async def unlink(self, chat_id: int, owner_id: int) -> bool:
        """Takes it back, if it is theirs that is lent. Returns whether it was."""
        return bool(await self._call("unlink", chat_id=chat_id, owner_id=owner_id))
