"""Looks for parts whose response was lost, before they are sent again: they may be in the chat.

A bot cannot read a chat. But editing the buttons of a message id tells whether the id is absent, someone else's or the
bot's own, and returns the bot's own message with its text or file.
"""

from __future__ import annotations

import contextlib
from typing import Any

import structlog

from relay.core.errors import ChatGone, ChatMigrated, MessengerError, MessengerRefused
from relay.core.models import Button
from relay.core.ports import Messenger
from relay.memory.rows.delivery import Request, StoredPart
from relay.memory.store import Store
from relay.surfaces.telegram.outgoing.files import shows
from relay.surfaces.telegram.outgoing.insist import call_until_answered
from relay.surfaces.telegram.outgoing.requests import inline_keyboard

log = structlog.get_logger()

SPAN = 2_000
"""How many message ids above the floor to search; known ids cost nothing."""
RANGE = 100
"""How many ids to check."""
BEYOND = 24
"""How many ids above the highest known one to search: other messages may have been sent but not recorded."""
NOT_OURS = ("not found", "can't be edited", "message_id_invalid", "message_author_required")
"""Telegram's errors for an id that is not a message of the bot."""


class Search:
    """Looks for lost parts."""

    def __init__(self, store: Store, messenger: Messenger, bot_id: int) -> None:
        self._store = store
        self._messenger = messenger
        self._bot_id = bot_id

    async def find(self, row: StoredPart) -> int | None:
        """Returns the id of a part that is in the chat. It then has a probe button until its final edit.

        None if it is not found; the log says whether that is certain. Raises `ChatMigrated`.
        """
        candidates, certain = await self._candidates(row)
        for message_id in candidates:
            try:
                known = await self._store.list_known_ids(self._bot_id, row.request["chat_id"], message_id - 1, 1)
                if message_id in known.known:  # sent since the search began; a probe would remove its buttons
                    continue
                if await self._is_part(row, message_id):
                    log.info("lost part found", part=row.id, message_id=message_id)
                    return message_id
            except ChatMigrated:
                raise
            except MessengerError as error:
                certain = False
                log.info("inconclusive search for a lost part", part=row.id, error=str(error))
                if isinstance(error, ChatGone) or not isinstance(error, MessengerRefused):
                    break  # the next id would be inconclusive too
        log.warning("part sent again", part=row.id, conclusive=certain)
        return None

    async def _candidates(self, row: StoredPart) -> tuple[list[int], bool]:
        """Returns the possible ids of a part, and whether the list is complete.

        Private chats share one counter of ids. But some servers count in each chat separately, where the part is near
        the known ids of its own chat.
        """
        chat_id, floor = row.request["chat_id"], row.floor_message_id or 0
        ids = await self._store.list_known_ids(self._bot_id, chat_id, floor, SPAN)
        last = max(ids.highest, floor) + BEYOND
        above = [number for number in range(floor + 1, min(floor + SPAN, last) + 1) if number not in ids.known]
        return [*above[:RANGE], *ids.near], last <= floor + SPAN and len(above) <= RANGE

    async def _is_part(self, row: StoredPart, message_id: int) -> bool:
        """Whether a message is the part. Raises `MessengerError` if Telegram's answer does not tell."""
        at = {"chat_id": row.request["chat_id"], "message_id": message_id}
        try:
            found = await self._touch(at, probe(row.id))
        except MessengerRefused as error:
            if not isinstance(error, ChatGone) and any(words in error.reason.lower() for words in NOT_OURS):
                return False
            raise
        if not isinstance(found, dict):
            raise MessengerError("no edit returned the message")
        if shows(found, row.request, str(row.sending_text)):
            return True
        with contextlib.suppress(MessengerRefused):
            await call_until_answered(self._messenger, "editMessageReplyMarkup", **at)
        return False

    async def _touch(self, at: Request, mark: Request) -> Any:
        """Edits a message's buttons and returns the message. An edit that changes nothing returns nothing, because
        another search left its button there or has just removed it; so it tries both edits twice."""
        for given in [{**at, "reply_markup": mark}, at] * 2:
            try:
                return await call_until_answered(self._messenger, "editMessageReplyMarkup", **given)
            except MessengerRefused as error:
                if "not modified" not in error.reason.lower():
                    raise
        return None


def probe(part: int) -> Request:
    """Returns the button that the search for this part leaves for a moment. It does nothing."""
    return inline_keyboard([[Button("…", f"n:{part}")]])
