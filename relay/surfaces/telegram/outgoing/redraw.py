"""Edits messages in chats. While an edit is under way, the record shows both texts, so that an erasure finds either."""

from __future__ import annotations

import asyncio
import contextlib
import itertools

from relay.core.errors import MessengerRefused
from relay.core.ports import Messenger
from relay.memory.rows.delivery import Request
from relay.memory.store import Store
from relay.surfaces.telegram.outgoing.insist import repeat_until_answered

SEARCH_SECONDS = 20.0
"""How long an edit waits while its message is looked for, because its response was lost."""
SEARCH_EVERY = 0.1


async def start_edit(
    store: Store, messenger: Messenger, bot_id: int, chat_id: int, message_id: int, shown: Request
) -> None:
    """Edits a message once; the caller records it. `shown`: `{text, entities, reply_markup}`, as far as each changes.
    Raises `MessengerError`."""
    await _start(store, bot_id, chat_id, message_id, shown)
    await _edit(messenger, chat_id, message_id, shown)


async def redraw(
    store: Store,
    messenger: Messenger,
    bot_id: int,
    chat_id: int,
    message_id: int,
    shown: Request,
    seconds: float | None = None,
) -> None:
    """Edits a message and records it. Repeats that until Telegram answers, unless meanwhile something is erased from
    the message or another edit of it begins. Raises `MessengerRefused`, and `TimeoutError` after `seconds` of that."""
    tries = itertools.count()

    async def attempt() -> bool:
        if next(tries) and not await store.may_redraw_still(bot_id, chat_id, message_id, shown):
            return False
        await _edit(messenger, chat_id, message_id, shown)
        return True

    await _start(store, bot_id, chat_id, message_id, shown)
    async with asyncio.timeout(seconds):
        edited = await repeat_until_answered(attempt)
    if edited:
        await store.store_redrawn(bot_id, chat_id, message_id, shown)


async def _start(store: Store, bot_id: int, chat_id: int, message_id: int, shown: Request) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(SEARCH_SECONDS):
            while not await store.start_redrawing(bot_id, chat_id, message_id, shown):  # noqa: ASYNC110  another process finds it
                await asyncio.sleep(SEARCH_EVERY)


async def _edit(messenger: Messenger, chat_id: int, message_id: int, shown: Request) -> None:
    method = "editMessageText" if "text" in shown else "editMessageReplyMarkup"
    try:
        await messenger.call(method, **{**shown, "chat_id": chat_id, "message_id": message_id})
    except MessengerRefused as error:
        if "not modified" not in error.reason.lower():
            raise
