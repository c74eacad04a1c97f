"""What is remembered, and every change of it."""

from __future__ import annotations

from relay.core.models import Space
from relay.memory.calls.base import Calls, Json
from relay.memory.claims import ClaimedTurn


class FactCalls(Calls):
    """Facts and learnings, and their changes."""

    async def space(self, space_id: int) -> Space | None:
        """The space of this number."""
        found = await self._call("space", space_id=space_id)
        return Space(**found) if found else None

    async def change_memory(self, turn: ClaimedTurn, space: Space, actions: list[Json]) -> Json:
        """Does to memory what a person's own word asks: see `relay.apply_actions`. Returns `{changes, failed}`."""
        result: Json = await self._call(
            "change_memory", turn_id=turn.turn_id, fence=turn.fence, space=space.as_json(), actions=actions
        )
        return result

    async def change_directly(self, space: Space, user_id: int | None, actions: list[Json]) -> Json:
        """The same for a script, in a turn of its own. Returns `{changes, failed}`."""
        result: Json = await self._call("change_directly", space=space.as_json(), user_id=user_id, actions=actions)
        return result

    async def memories(self, space: Space, offset: int, limit: int, chosen: Json | None = None) -> Json:
        """A page of what is known, newest first: `{space_id, memories, matching, offset}` and counts of everything.

        `chosen`: `{kind, facts, category, pinned, subject_id, words, past}`, any of them. Beyond the end the last
        page comes.
        """
        result: Json = await self._call(
            "list_memories", space=space.as_json(), chosen=chosen or {}, offset=offset, limit=limit
        )
        return result

    async def opened(self, memory_id: int, user_id: int, admin: bool) -> Json | None:
        """One memory of any space, also a forgotten one, with its `space` and the `last` change this person may undo.

        Whoever shows it looks first whether the person sees that space.
        """
        found: Json | None = await self._call("open_memory", memory_id=memory_id, user_id=user_id, admin=admin)
        return found

    async def numbered(self, space: Space, number: int) -> int:
        """The id of the memory that has a number in a space; 0: none has."""
        return int(await self._call("numbered_memory", space=space.as_json(), number=number) or 0)

    async def source(self, memory_id: int) -> Json:
        """Where a memory came from; see `relay_memory_source`."""
        return dict(await self._call("memory_source", memory_id=memory_id) or {})

    async def history(self, space: Space, waiting: bool, offset: int, limit: int, user_id: int, admin: bool) -> Json:
        """A page of a space's changes, newest first: `{space_id, total, pending, offset, changes}`.

        `waiting`: only those that wait for a tap. Each says whether it is `yours` to decide.
        """
        result: Json = await self._call(
            "memory_history",
            space=space.as_json(),
            waiting=waiting,
            offset=offset,
            limit=limit,
            user_id=user_id,
            admin=admin,
        )
        return result

    async def memory_past(self, memory_id: int, offset: int, limit: int) -> Json:
        """A page of a memory's changes, newest first: `{total, offset, changes}`; see `relay_memory_past`."""
        found: Json = await self._call("memory_past", memory_id=memory_id, offset=offset, limit=limit)
        return found

    async def keepable(
        self, space: Space, bot_id: int = 0, chat_id: int = 0, telegram_message_id: int = 0, turn_id: int | None = None
    ) -> Json | None:
        """The message of a space that a Telegram message is, or that `turn_id` answered with; see `relay_keepable`."""
        found: Json | None = await self._call(
            "keepable",
            space=space.as_json(),
            bot_id=bot_id,
            chat_id=chat_id,
            telegram_message_id=telegram_message_id,
            turn_id=turn_id,
        )
        return found

    async def changed_in(self, turn_id: int | None = None, change_id: int | None = None) -> Json | None:
        """Where a turn's changes, or a change, belong: `{turn_id, space, memory_id, replaced, answered}`."""
        found: Json | None = await self._call("changed_in", turn_id=turn_id, change_id=change_id)
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

    async def decide_change(self, change_id: int, user_id: int, admin: bool, decision: str) -> list[Json] | None:
        """undo, keep or discard. Returns the turn's changes after it; None when this person may not.

        A change whose memory was changed again since is not undone: it stays applied.
        """
        found: list[Json] | None = await self._call(
            "decide_change", change_id=change_id, user_id=user_id, admin=admin, decision=decision
        )
        return found
