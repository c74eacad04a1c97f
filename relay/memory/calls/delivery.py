"""Replies on their way."""

from __future__ import annotations

from relay.memory.calls.base import Calls, Json
from relay.memory.claims import ClaimedTurn


class DeliveryCalls(Calls):
    """The parts of a reply, each marked as it goes."""

    async def deliver(self, turn: ClaimedTurn, bot_id: int, parts: list[Json]) -> list[Json]:
        """Stores a reply's parts (once) and marks the first as being sent. Returns all of them. Raises `TurnUndone`
        where the turn is answered, but the database does not know it any more."""
        rows = await self._call(
            "deliver", turn_id=turn.turn_id, fence=turn.fence, bot_id=bot_id, parts=parts,
            answered=turn.status == "answered",
        )  # fmt: skip
        return list(rows)

    async def preview(self, turn: ClaimedTurn, bot_id: int, chat_id: int, request: Json) -> Json:
        """Stores a streaming preview that is a real message, as part 1, marked as being sent."""
        result: Json = await self._call(
            "preview", turn_id=turn.turn_id, fence=turn.fence, bot_id=bot_id, chat_id=chat_id, request=request
        )
        return result

    async def echo(self, turn: ClaimedTurn, heard: int, request: Json) -> Json:
        """Stores what was heard in a Telegram message as a part of its own, once, marked as being sent. Returns it;
        `uncertain`: it was being sent before."""
        result: Json = await self._call("echo", turn_id=turn.turn_id, fence=turn.fence, heard=heard, request=request)
        return result

    async def redrawn(self, bot_id: int, chat_id: int, message_id: int, request: Json) -> None:
        """Takes down what one of our messages shows now: `{text, entities, reply_markup}`, as far as each changed."""
        await self._call("redrawn", bot_id=bot_id, chat_id=chat_id, message_id=message_id, request=request)

    async def sending(self, turn: ClaimedTurn, results: list[Json], seq: int) -> Json:
        """Marks parts by their results and the next one, `seq`, as being sent. Returns that one."""
        result: Json = await self._call("sending", turn_id=turn.turn_id, fence=turn.fence, results=results, seq=seq)
        return result

    async def sending_anew(self, turn: ClaimedTurn, seq: int) -> Json:
        """Marks a part as being sent anew: its message in the chat is of no use. Returns it."""
        result: Json = await self._call("sending_anew", turn_id=turn.turn_id, fence=turn.fence, seq=seq)
        return result

    async def sending_instead(self, turn: ClaimedTurn, seq: int, request: Json) -> Json:
        """Stores what takes a voice note's place, and marks it as being sent. Returns that part."""
        result: Json = await self._call(
            "sending_instead", turn_id=turn.turn_id, fence=turn.fence, seq=seq, request=request
        )
        return result

    async def sent(self, turn: ClaimedTurn, results: list[Json], done: bool) -> tuple[bool, tuple[str, ...]]:
        """Marks parts by their results; closes the turn when `done`.

        Returns whether the lane has more to do, and which jobs have something to do.
        """
        result = await self._call("sent", turn_id=turn.turn_id, fence=turn.fence, results=results, done=done)
        return bool(result["more"]), tuple(result["owed"])

    async def stop_delivery(self, turn: ClaimedTurn, results: list[Json], request: Json) -> Json:
        """Gives up the parts that were not sent; `request` becomes the last, marked as being sent. Returns that one."""
        result: Json = await self._call(
            "stop_delivery", turn_id=turn.turn_id, fence=turn.fence, results=results, request=request
        )
        return result

    async def regroup(self, bot_id: int, before: int, now: int, turn_id: int | None = None) -> None:
        """Moves a group that became a supergroup to its new id, and what of `turn_id` is being sent there."""
        await self._call("regroup", bot_id=bot_id, before=before, now=now, turn_id=turn_id)

    async def known_ids(self, bot_id: int, chat_id: int, above: int, limit: int) -> tuple[set[int], int, list[int]]:
        """The recorded message ids in (above, above + limit], the highest known one, and unrecorded ones near those
        of the chat itself."""
        result = await self._call("known_ids", bot_id=bot_id, chat_id=chat_id, above=above, limit=limit)
        return set(result["known"]), int(result["highest"]), list(result["near"])
