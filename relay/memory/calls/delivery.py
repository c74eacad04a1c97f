"""Messages on their way to a chat."""

from __future__ import annotations

from collections.abc import Sequence

from relay.memory.calls.base import Calls, rpc
from relay.memory.claims import ClaimedTurn
from relay.memory.rows.delivery import (
    Announcement,
    Delivered,
    Message,
    Part,
    PartResult,
    RecordedIds,
    Request,
    ShownChanges,
    StoredPart,
)


class DeliveryCalls(Calls):
    """Replies and their delivery, and messages that answer no update."""

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

    @rpc()
    async def preview(self, turn: ClaimedTurn, bot_id: int, chat_id: int, request: Request) -> StoredPart:
        """Stores a streaming preview that is a real message as part 1, marked as sending."""

    @rpc()
    async def echo(self, turn: ClaimedTurn, heard: int, request: Request) -> StoredPart:
        """Stores the transcript of a recording as a separate part, once, marked as sending."""

    @rpc("redrawing")
    async def start_redrawing(self, bot_id: int, chat_id: int, message_id: int, request: Request) -> bool:
        """Records what one of the bot's messages may show from now on, next to what it showed. Returns False if the
        message may be one that is still looked for by its text; it must not change yet."""

    @rpc("redrawing_still")
    async def may_redraw_still(self, bot_id: int, chat_id: int, message_id: int, request: Request) -> bool:
        """Whether an edit that was started and has failed may be tried again: since then, nothing was erased from the
        message, and no other edit was started."""

    @rpc("redrawn")
    async def store_redrawn(self, bot_id: int, chat_id: int, message_id: int, request: Request) -> None:
        """Records what one of the bot's messages shows: `{text, entities, reply_markup}`, as far as each changed. Skips
        it if something was erased from the message since the edit was started."""

    @rpc("sending")
    async def start_sending(self, turn: ClaimedTurn, results: Sequence[PartResult], seq: int) -> StoredPart:
        """Stores the results of parts and marks the next one, `seq`, as sending. Returns it."""

    @rpc("sending_anew")
    async def restart_sending(self, turn: ClaimedTurn, seq: int) -> StoredPart:
        """Marks a part as sending again, because its message in the chat is of no use."""

    @rpc("sending_instead")
    async def replace_sending(self, turn: ClaimedTurn, seq: int, request: Request) -> StoredPart:
        """Stores a replacement for a part and marks it as sending."""

    @rpc("sent")
    async def store_sent(self, turn: ClaimedTurn, results: Sequence[PartResult], done: bool) -> Delivered:
        """Stores the results of parts; closes the turn if `done`."""

    @rpc()
    async def stop_delivery(self, turn: ClaimedTurn, results: Sequence[PartResult], request: Request) -> StoredPart:
        """Drops the unsent parts; `request` becomes the last part, marked as sending."""

    @rpc()
    async def regroup(self, bot_id: int, before: int, now: int, turn_id: int | None = None) -> None:
        """Moves a group that became a supergroup to its new id, with what `turn_id` is sending there."""

    @rpc("known_ids")
    async def list_known_ids(self, bot_id: int, chat_id: int, above: int, limit: int) -> RecordedIds:
        """Returns the recorded message ids in (above, above + limit], and those near the chat's own."""

    @rpc()
    async def enqueue(self, bot_id: int, messages: Sequence[Message]) -> int:
        """Queues messages, each once per key. Returns how many are new."""

    @rpc()
    async def announcement(self, turn_id: int) -> Announcement | None:
        """Returns what to announce under a turn's answer; None: nothing."""

    @rpc("announced")
    async def record_announced(self, turn_id: int, seq: int | None, request: Request | None) -> None:
        """Records an announcement. `seq`: the part of the answer that now shows `request`; None: there was nothing to
        announce."""

    @rpc()
    async def shown_changes(self, turn_id: int) -> ShownChanges | None:
        """Returns what has become of what a turn changed and set, and the messages that tell of it."""

    @rpc()
    async def announce_anew(self, turn: ClaimedTurn, chat_id: int, request: Request, changes: Sequence[int]) -> None:
        """Stores the message in which `turn` announces these changes, so that they are not announced again."""
