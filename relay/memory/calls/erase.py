"""Erasing for good."""

from __future__ import annotations

from collections.abc import Sequence

from relay.memory.calls.base import Calls, Json
from relay.models import Space


class EraseCalls(Calls):
    """What an erasure would take, and taking it, step by step."""

    async def erase_preview(
        self, space: Space, query: Json, user_id: int, admin: bool, turn_id: int | None = None
    ) -> Json | None:
        """What an erasure by `{words}` or `{memory_id}` would take; None when there is nothing. `turn_id`: in which
        it was asked for: its words stay in no event.

        `{erasure_id, counts: {memories, messages, summaries, documents}, memories, messages, documents, left, more}`;
        it can be begun for a quarter of an hour.
        """
        found: Json | None = await self._call(
            "erase_preview", space=space.as_json(), query=query, user_id=user_id, admin=admin, turn_id=turn_id
        )
        return found

    async def erase_begin(self, erasure_id: int, user_id: int, admin: bool) -> bool:
        """Lets an erasure that was shown happen: whether it does. From then on it is finished, whatever dies."""
        return bool(await self._call("erase_begin", erasure_id=erasure_id, user_id=user_id, admin=admin))

    async def erase_keep(self, erasure_id: int, user_id: int) -> bool:
        """Erases nothing of what was shown, and forgets that it was; whether there was something."""
        return bool(await self._call("erase_keep", erasure_id=erasure_id, user_id=user_id))

    async def files_gone(self, removed: Sequence[str] = ()) -> list[str]:
        """The unique ids of files of which no copy may be kept, a hundred at most; without those that are `removed`."""
        return list(await self._call("files_gone", removed=list(removed)))

    async def erase_step(self, erasure_id: int | None = None) -> Json | None:
        """Goes on with an erasure (None: the oldest) for a second: `{erasure_id, done, counts, theirs, waiting}`.

        theirs: what its person has to delete, `[{chat_id, message_id, at, what: yours, ours or export}]`; waiting: how
        many messages of ours are still to be deleted or edited. None: there is none, or another process is at it.
        """
        found: Json | None = await self._call("erase_step", erasure_id=erasure_id)
        return found

    async def retractions(self, bot_id: int, erasure_id: int | None, limit: int) -> list[Json]:
        """Messages of ours that a bot is to delete or edit for an erasure (None: for any), the newest first:
        `[{erasure_id, chat_id, message_id, request}]`; request: what stays of the message, None when it goes."""
        return list(await self._call("retractions", bot_id=bot_id, erasure_id=erasure_id, limit=limit))

    async def retracted(self, bot_id: int, chat_id: int, message_id: int, outcome: str) -> None:
        """Takes down what became of such a message: `deleted`, `edited` or `left`."""
        await self._call("retracted", bot_id=bot_id, chat_id=chat_id, message_id=message_id, outcome=outcome)
