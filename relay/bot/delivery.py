"""Stored replies on their way to Telegram: each part once, whatever is lost between."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import structlog

from relay.errors import (
    ChatGone,
    DeliveryUncertain,
    MessengerError,
    MessengerRefused,
    MessengerThrottled,
    MessengerUnavailable,
)
from relay.memory.store import Store
from relay.models import Claimed
from relay.ports import Messenger

log = structlog.get_logger()

Json = dict[str, Any]
RANGE = 100
"""How many message ids above the floor a lost part is looked for in."""
BEYOND = 24
"""How many ids above the highest known one: others may have been sent at the same time and not been recorded."""
PROBE = {"inline_keyboard": [[{"text": "…", "callback_data": "n"}]]}
SETTLE_SECONDS = 1.0
"""How long a request whose response was lost may still be carried out."""


class Delivery:
    """Sends parts in order and marks them."""

    def __init__(self, store: Store, messenger: Messenger, bot_id: int) -> None:
        self._store = store
        self._messenger = messenger
        self._bot_id = bot_id

    async def deliver(self, turn: Claimed, parts: list[Json]) -> tuple[bool, bool]:
        """Delivers a turn's reply and closes the turn. Returns whether its lane has more to do, and a summary is due.

        A part that a predecessor left as being sent is looked for before it is sent again.
        """
        rows = await self._store.deliver(turn, self._bot_id, parts)
        results: list[Json] = []
        for row in rows:
            if row["status"] in ("sent", "failed"):
                continue
            if row["status"] == "waiting":
                row |= await self._store.sending(turn, results, row["seq"])
                results = []
            results.append(await self._put(turn, row))
        return await self._store.sent(turn, results, True)

    async def _put(self, turn: Claimed, row: Json) -> Json:
        """Brings one part into the chat. Returns what became of it, as `relay_sent` takes it."""
        try:
            message_id = row["telegram_message_id"]
            if message_id is None and row["uncertain"]:
                message_id = await self._find(row)
                if message_id is None:
                    row |= await self._store.sending(turn, [], row["seq"])
            if message_id is None:
                message_id = await self._send(row)
            else:
                message_id = await self._finalize(row, message_id)
        except MessengerError as error:
            log.warning("part not delivered", delivery=row["id"], error=str(error))
            return {"seq": row["seq"], "status": "failed", "error": str(error)}
        return {"seq": row["seq"], "status": "sent", "telegram_message_id": message_id}

    async def _send(self, row: Json) -> int:
        """Sends a part until it certainly is in the chat. Raises when Telegram refuses it for good."""
        request = dict(row["request"])
        pause = 0.5
        while True:
            try:
                posted = await self._messenger.call("sendMessage", **request)
                return int(posted["message_id"])
            except MessengerThrottled as error:
                await asyncio.sleep(error.retry_after)
            except MessengerUnavailable:
                await asyncio.sleep(pause + random.uniform(0, pause))  # noqa: S311 — jitter
                pause = min(30.0, pause * 2)
            except DeliveryUncertain:
                await asyncio.sleep(SETTLE_SECONDS)
                found = await self._find(row)
                if found is not None:
                    return await self._finalize(row, found)
            except ChatGone:
                raise
            except MessengerRefused as error:
                if not request.pop("entities", None):
                    raise
                log.warning("entities refused", delivery=row["id"], error=error.reason)

    async def _finalize(self, row: Json, message_id: int) -> int:
        """Gives a message that is in the chat (a preview, or a part found again) the part's final text and buttons."""
        keys = ("chat_id", "text", "entities", "link_preview_options", "reply_markup")
        request = {key: row["request"][key] for key in keys if key in row["request"]}
        try:
            await self._insist("editMessageText", **request, message_id=message_id)
        except MessengerRefused as error:
            if "not modified" in error.reason.lower():
                return message_id
            if "not found" in error.reason.lower() or "can't be edited" in error.reason.lower():
                return await self._send(row)
            raise
        return message_id

    async def _find(self, row: Json) -> int | None:
        """Looks for a part that may be in the chat, by editing the buttons of unrecorded ids above its floor.

        A bot cannot read a chat; but an edit tells apart an id that is absent, one that is somebody else's and one of
        ours, and returns ours with its text. The final edit sets the right buttons again.
        """
        chat_id, floor = row["request"]["chat_id"], row["floor_message_id"]
        known, highest = await self._store.known_ids(self._bot_id, chat_id, floor, RANGE)
        for message_id in range(floor + 1, min(floor + RANGE, max(highest, floor) + BEYOND) + 1):
            if message_id not in known and await self._is_part(row, message_id):
                log.info("lost part found", delivery=row["id"], message_id=message_id)
                return message_id
        conclusive = max(highest, floor) + BEYOND <= floor + RANGE
        log.warning("part sent again", delivery=row["id"], conclusive=conclusive)
        return None

    async def _is_part(self, row: Json, message_id: int) -> bool:
        chat_id = row["request"]["chat_id"]
        try:
            found = await self._insist(
                "editMessageReplyMarkup", chat_id=chat_id, message_id=message_id, reply_markup=PROBE
            )
        except MessengerRefused as error:
            return "not modified" in error.reason.lower()
        if not isinstance(found, dict) or found.get("text") == row["sending_text"]:
            return True
        await self._insist("editMessageReplyMarkup", chat_id=chat_id, message_id=message_id)
        return False

    async def _insist(self, method: str, **parameters: Any) -> Any:
        """A call that may be repeated, until Telegram answers it."""
        pause = 0.5
        while True:
            try:
                return await self._messenger.call(method, **parameters)
            except MessengerThrottled as error:
                await asyncio.sleep(error.retry_after)
            except (MessengerUnavailable, DeliveryUncertain):
                await asyncio.sleep(pause)
                pause = min(30.0, pause * 2)
