"""Completes erasures in tables and chats, including off-the-record sessions that have ended."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import structlog

from relay.core.errors import ChatGone, MessengerError, MessengerRefused, MessengerThrottled
from relay.core.ports import MediaStore, Messenger
from relay.media.files import preview_id
from relay.memory.calls.turn import IDLE_HOURS
from relay.memory.rows.upkeep.erasure import ErasureStep, Retraction
from relay.memory.store import Store

log = structlog.get_logger()

PAUSE = 0.5
LONGEST_WAIT = 120.0
"""How many seconds to wait for an erasure while another process works on it, or while turns that may show what was
erased are in progress."""
AT_ONCE = 50
"""How many messages are requested in one call."""
ERASED = "🔥 Erased."
"""Replaces a message that Telegram no longer deletes."""


async def remove_files(store: Store, media_store: MediaStore) -> None:
    """Deletes stored copies of erased files; failures are retried later."""
    gone = await store.files_gone()
    while gone:
        copies = [*gone, *(preview_id(unique_id) for unique_id in gone)]
        if not await media_store.remove(copies):
            return
        gone = await store.files_gone(gone)


async def finish_erasure(store: Store, erasure_id: int, seconds: float = LONGEST_WAIT) -> ErasureStep | None:
    """Completes an erasure that was started. None if it still has to wait after `seconds`; its job finishes it."""
    for _ in range(int(seconds / PAUSE)):
        step = await store.erase_step(erasure_id)
        while step is not None and not step.done:
            step = await store.erase_step(erasure_id)
        if step is not None:
            return step
        await asyncio.sleep(PAUSE)
    return None


async def retract(store: Store, messenger: Messenger, bot_id: int, erasure_id: int | None = None) -> None:
    """Deletes the bot's messages that repeat erased words, or edits them if something remains. While Telegram is
    unreachable they wait."""
    while rows := await store.retractions(bot_id, erasure_id, AT_ONCE):
        for row in rows:
            try:
                outcome = await _take_back(messenger, row)
            except MessengerThrottled as error:
                await asyncio.sleep(error.retry_after)
                break
            except MessengerError as error:
                log.info("messages are waiting to be deleted", error=str(error))
                return
            await store.record_retraction(bot_id, row.chat_id, row.message_id, outcome)


async def _take_back(messenger: Messenger, row: Retraction) -> str:
    """Deletes or edits one message and returns the outcome. Raises transient errors."""
    at = {"chat_id": row.chat_id, "message_id": row.message_id}
    if row.request is not None and "name" in row.request:
        topic = {"chat_id": row.chat_id, "message_thread_id": -row.message_id}
        with suppress(MessengerRefused):  # the topic is gone
            await messenger.call("editForumTopic", **topic, **row.request)
        return "edited"
    if row.request is None:
        try:
            await messenger.call("deleteMessage", **at)
            return "deleted"
        except ChatGone:
            return "left"
        except MessengerRefused as error:
            if "not found" in error.reason.lower():
                return "deleted"
    stays = row.request or {"text": ERASED, "entities": []}
    try:
        await messenger.call("editMessageText", **at, **stays, link_preview_options={"is_disabled": True})
    except MessengerRefused as error:
        reason = error.reason.lower()
        if "not found" in reason:
            return "deleted"
        return "edited" if "not modified" in reason else "left"
    return "edited"


async def sweep(store: Store, media_store: MediaStore, messenger: Messenger, bot_id: int) -> None:
    """Ends and erases off-the-record sessions, drops unconfirmed previews, and retries deleting stored files and
    messages."""
    left = await store.sweep_private(IDLE_HOURS)
    while left > (left := await store.sweep_private(IDLE_HOURS)) > 0:
        pass
    await remove_files(store, media_store)
    await retract(store, messenger, bot_id)
