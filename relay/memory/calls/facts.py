"""What is remembered, and every change of it."""

from __future__ import annotations

from relay.memory.calls.base import Calls, Json
from relay.models import Claimed, Space


class FactCalls(Calls):
    """Facts and learnings, and their changes."""

    async def change_memory(self, turn: Claimed, space: Space, actions: list[Json]) -> Json:
        """Remembers or forgets by a person's own word. Returns `{changes, failed}`."""
        result: Json = await self._call(
            "change_memory", turn_id=turn.turn_id, fence=turn.fence, space=space.as_json(), actions=actions
        )
        return result

    async def memories(self, space: Space, offset: int, limit: int) -> Json:
        """A page of what is known: `{total, pending, memories}`, newest first."""
        result: Json = await self._call("memories", space=space.as_json(), offset=offset, limit=limit)
        return result

    async def memory(self, space: Space, memory_id: int) -> Json | None:
        """One active memory of a space; None when there is none of that id."""
        found: Json | None = await self._call("memory", space=space.as_json(), memory_id=memory_id)
        return found

    async def asked(self, bot_id: int, chat_id: int, telegram_message_id: int, user_id: int) -> str:
        """The question that a message of ours asks somebody by forcing a reply; empty when it asks them nothing."""
        found = await self._call(
            "asked_of", bot_id=bot_id, chat_id=chat_id, telegram_message_id=telegram_message_id, user_id=user_id
        )
        return str(found or "")

    async def changes(self, turn_id: int, user_id: int, admin: bool) -> list[Json] | None:
        """What a turn changed in memory, for a person who may decide about some of it; None for anybody else."""
        found: list[Json] | None = await self._call("changes", turn_id=turn_id, user_id=user_id, admin=admin)
        return found

    async def turn_of_change(self, change_id: int) -> int:
        """The turn that a change belongs to; 0 for none."""
        return int(await self._call("turn_of_change", change_id=change_id) or 0)

    async def decide_change(self, change_id: int, user_id: int, admin: bool, decision: str) -> list[Json] | None:
        """undo, keep or discard. Returns the turn's changes after it; None when this person may not.

        A change whose memory was changed again since is not undone: it stays applied.
        """
        found: list[Json] | None = await self._call(
            "decide_change", change_id=change_id, user_id=user_id, admin=admin, decision=decision
        )
        return found
