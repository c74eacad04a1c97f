"""Messages on their way to a chat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from relay.memory.calls.base import Calls
from relay.memory.claims import ClaimedTurn
from relay.memory.rows.delivery import (
    Announcement,
    Delivered,
    Message,
    Part,
    PartResult,
    RecordedIds,
    Request,
    StoredPart,
)


class DeliveryCalls(Calls):
    """The parts of a reply and their delivery."""

    async def deliver(
        self, turn: ClaimedTurn, bot_id: int, parts: Sequence[Part], owner_id: int | None = None
    ) -> list[StoredPart]:
        """Stores a reply's parts (once) and marks the first as sending. `owner_id`: whose private memory they show.
        Returns all of them. Raises `TurnUndone` if the turn is answered but the database has lost it."""
        given = [
            {"seq": part.seq, "chat_id": part.chat_id, "request": part.request, "second": part.second,
             "owner_id": owner_id}
            for part in parts
        ]  # fmt: skip
        return await self._list(
            StoredPart, "deliver", turn_id=turn.turn_id, fence=turn.fence, bot_id=bot_id, parts=given,
            answered=turn.status == "answered",
        )  # fmt: skip

    async def preview(self, turn: ClaimedTurn, bot_id: int, chat_id: int, request: Request) -> StoredPart:
        """Stores a streaming preview that is a real message as part 1, marked as sending."""
        return await self._mark("preview", turn, bot_id=bot_id, chat_id=chat_id, request=request)

    async def echo(self, turn: ClaimedTurn, heard: int, request: Request) -> StoredPart:
        """Stores the transcript of a recording as a separate part, once, marked as sending."""
        return await self._mark("echo", turn, heard=heard, request=request)

    async def store_redrawn(self, bot_id: int, chat_id: int, message_id: int, request: Request) -> bool:
        """Records what one of the bot's messages shows now: `{text, entities, reply_markup}`, as far as each changed.
        Returns False if the message may be one that is still looked for by its text; it must not change yet."""
        found = await self._call("redrawn", bot_id=bot_id, chat_id=chat_id, message_id=message_id, request=request)
        return bool(found)

    async def start_sending(self, turn: ClaimedTurn, results: Sequence[PartResult], seq: int) -> StoredPart:
        """Stores the results of parts and marks the next one, `seq`, as sending. Returns it."""
        return await self._mark("sending", turn, results=[asdict(one) for one in results], seq=seq)

    async def restart_sending(self, turn: ClaimedTurn, seq: int) -> StoredPart:
        """Marks a part as sending again, because its message in the chat is of no use."""
        return await self._mark("sending_anew", turn, seq=seq)

    async def replace_sending(self, turn: ClaimedTurn, seq: int, request: Request) -> StoredPart:
        """Stores a replacement for a part and marks it as sending."""
        return await self._mark("sending_instead", turn, seq=seq, request=request)

    async def store_sent(self, turn: ClaimedTurn, results: Sequence[PartResult], done: bool) -> Delivered:
        """Stores the results of parts; closes the turn if `done`."""
        return await self._fetch(
            Delivered, "sent", turn_id=turn.turn_id, fence=turn.fence, results=[asdict(one) for one in results],
            done=done,
        )  # fmt: skip

    async def stop_delivery(self, turn: ClaimedTurn, results: Sequence[PartResult], request: Request) -> StoredPart:
        """Drops the unsent parts; `request` becomes the last part, marked as sending."""
        return await self._mark("stop_delivery", turn, results=[asdict(one) for one in results], request=request)

    async def _mark(self, function: str, turn: ClaimedTurn, **arguments: object) -> StoredPart:
        """Calls a function that marks one part of a turn and returns it."""
        return await self._fetch(StoredPart, function, turn_id=turn.turn_id, fence=turn.fence, **arguments)

    async def regroup(self, bot_id: int, before: int, now: int, turn_id: int | None = None) -> None:
        """Moves a group that became a supergroup to its new id, with what `turn_id` is sending there."""
        await self._call("regroup", bot_id=bot_id, before=before, now=now, turn_id=turn_id)

    async def list_known_ids(self, bot_id: int, chat_id: int, above: int, limit: int) -> RecordedIds:
        """Returns the recorded message ids in (above, above + limit], and those near the chat's own."""
        return await self._fetch(RecordedIds, "known_ids", bot_id=bot_id, chat_id=chat_id, above=above, limit=limit)


class OutboxCalls(Calls):
    """Messages that answer no update."""

    async def enqueue(self, bot_id: int, messages: Sequence[Message]) -> int:
        """Queues messages, each once per key. Returns how many are new."""
        return int(await self._call("enqueue", bot_id=bot_id, messages=[one.as_json() for one in messages]))

    async def announcement(self, turn_id: int) -> Announcement | None:
        """Returns what to announce under a turn's answer; None: nothing."""
        return await self._find(Announcement, "announcement", turn_id=turn_id)

    async def record_announced(self, turn_id: int, seq: int | None, request: Request | None) -> None:
        """Records an announcement. `seq`: the part of the answer that now shows `request`; None: there was nothing to
        announce."""
        await self._call("announced", turn_id=turn_id, seq=seq, request=request)

    async def announce_anew(self, turn: ClaimedTurn, part: Part, changes: Sequence[int]) -> None:
        """Stores the message in which `turn` announces these changes, so that they are not announced again."""
        await self._call(
            "announce_anew", turn_id=turn.turn_id, fence=turn.fence, chat_id=part.chat_id, request=part.request,
            changes=list(changes),
        )  # fmt: skip
