"""Parts whose response was lost: they may be in the chat, so they are looked for before they are sent again.

A bot cannot read a chat. But an edit of an id's buttons tells apart an id that is absent, one that is somebody else's
and one of ours, and returns ours with its text or its file.
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
"""How many message ids above the floor a lost part is looked for in; known ones cost nothing."""
RANGE = 100
"""How many ids are looked at."""
BEYOND = 24
"""How many ids above the highest known one: others may have been sent at the same time and not been recorded."""
NOT_OURS = ("not found", "can't be edited", "message_id_invalid", "message_author_required")
"""How Telegram says that there is no message of ours at an id."""


class Search:
    """Looks for lost parts."""

    def __init__(self, store: Store, messenger: Messenger, bot_id: int) -> None:
        self._store = store
        self._messenger = messenger
        self._bot_id = bot_id

    async def find(self, row: StoredPart) -> int | None:
        """The id of a part that is in the chat; it has a button of ours then, until it gets its final edit.

        None when it is not found; the log says whether it certainly is not there. Raises `ChatMigrated`.
        """
        candidates, certain = await self._candidates(row)
        for message_id in candidates:
            try:
                if await self._became_known(row, message_id):
                    continue
                if await self._is_part(row, message_id):
                    log.info("lost part found", part=row.id, message_id=message_id)
                    return message_id
            except ChatMigrated:
                raise
            except MessengerError as error:
                certain = False
                log.info("a look for a lost part told nothing", part=row.id, error=str(error))
                if isinstance(error, ChatGone) or not isinstance(error, MessengerRefused):
                    break  # the next look would tell nothing either
        log.warning("part sent again", part=row.id, conclusive=certain)
        return None

    async def _candidates(self, row: StoredPart) -> tuple[list[int], bool]:
        """The ids that may be the part's, and whether it can be no other.

        Private chats share one counter of ids; but some servers count in each chat for itself, and there the part is
        near what is known of its own chat.
        """
        chat_id, floor = row.request["chat_id"], row.floor_message_id or 0
        ids = await self._store.known_ids(self._bot_id, chat_id, floor, SPAN)
        last = max(ids.highest, floor) + BEYOND
        above = [number for number in range(floor + 1, min(floor + SPAN, last) + 1) if number not in ids.known]
        return [*above[:RANGE], *ids.near], last <= floor + SPAN and len(above) <= RANGE

    async def _became_known(self, row: StoredPart, message_id: int) -> bool:
        """Whether it is another message, sent since the search began: a look would take its buttons away."""
        ids = await self._store.known_ids(self._bot_id, row.request["chat_id"], message_id - 1, 1)
        return message_id in ids.known

    async def _is_part(self, row: StoredPart, message_id: int) -> bool:
        """Whether a message is the part. Raises when the answer does not tell."""
        at = {"chat_id": row.request["chat_id"], "message_id": message_id}
        try:
            found = await self._touched(at, probe(row.id))
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

    async def _touched(self, at: Request, mark: Request) -> Any:
        """What an edit of a message's buttons returns. One that changes nothing returns nothing: an earlier look was
        broken off and left its button there, or another look has just taken away what this one was to."""
        for given in [{**at, "reply_markup": mark}, at] * 2:
            try:
                return await call_until_answered(self._messenger, "editMessageReplyMarkup", **given)
            except MessengerRefused as error:
                if "not modified" not in error.reason.lower():
                    raise
        return None


def probe(part: int) -> Request:
    """The button that a look for a part leaves for a moment, and no other look does. It does nothing."""
    return inline_keyboard([[Button("…", f"n:{part}")]])
