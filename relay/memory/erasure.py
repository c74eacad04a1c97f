"""Erasing to the end, in tables and chats: what a person let go, and sessions off the record that are over."""

from __future__ import annotations

import asyncio

import structlog

from relay.core.errors import ChatGone, MessengerError, MessengerRefused, MessengerThrottled
from relay.core.ports import MediaStore, Messenger
from relay.media.files import preview_id
from relay.memory.calls.turn import IDLE_HOURS
from relay.memory.rows.upkeep.erasure import ErasureStep, Retraction
from relay.memory.store import Store

log = structlog.get_logger()

PAUSE = 0.5
MOST_PAUSES = 240
"""So often another process's step is waited for."""
AT_ONCE = 50
"""Messages of ours that are asked for in one call."""
ERASED = "🔥 Erased."
"""What stands in the place of a message that Telegram does not delete any more."""


async def remove_files(store: Store, keeper: MediaStore) -> None:
    """Removes the kept copies of files of what was erased; what cannot be removed now is tried again later."""
    gone = await store.files_gone()
    while gone:
        copies = [*gone, *(preview_id(unique_id) for unique_id in gone)]
        if not await keeper.remove(copies):
            return
        gone = await store.files_gone(gone)


async def erased(store: Store, erasure_id: int) -> ErasureStep | None:
    """Takes an erasure that was begun to its end: `{erasure_id, done, counts, theirs, waiting}`.

    None when another process is still at it after two minutes; it is finished then without us.
    """
    for _ in range(MOST_PAUSES):
        step = await store.erase_step(erasure_id)
        while step is not None and not step.done:
            step = await store.erase_step(erasure_id)
        if step is not None:
            return step
        await asyncio.sleep(PAUSE)
    return None


async def retract(store: Store, messenger: Messenger, bot_id: int, erasure_id: int | None = None) -> None:
    """Deletes our messages that repeat what was erased, or edits them where something of them stays. While Telegram is
    away they wait for the next time."""
    while rows := await store.retractions(bot_id, erasure_id, AT_ONCE):
        for row in rows:
            try:
                outcome = await _take_back(messenger, row)
            except MessengerThrottled as error:
                await asyncio.sleep(error.retry_after)
                break
            except MessengerError as error:
                log.info("messages wait to be taken back", error=str(error))
                return
            await store.retracted(bot_id, row.chat_id, row.message_id, outcome)


async def _take_back(messenger: Messenger, row: Retraction) -> str:
    """Deletes or edits one message: what became of it. Raises what may pass."""
    at = {"chat_id": row.chat_id, "message_id": row.message_id}
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


async def sweep(store: Store, keeper: MediaStore, messenger: Messenger, bot_id: int) -> None:
    """Ends and erases sessions off the record, forgets what nobody confirmed, and takes up what could not be done
    before: removing kept files, and our messages in the chats."""
    left = await store.sweep_private(IDLE_HOURS)
    while left > (left := await store.sweep_private(IDLE_HOURS)) > 0:
        pass
    await remove_files(store, keeper)
    await retract(store, messenger, bot_id)
