"""Messages sent while the database is unreachable: outside of the outbox, once, without guarantees."""

from __future__ import annotations

import structlog

from relay.core.errors import MessengerError
from relay.core.ports import Messenger

log = structlog.get_logger()


async def say_unstored(messenger: Messenger, chat_id: int, text: str, topic_id: int = 0, silent: bool = True) -> bool:
    """Sends a plain text to a chat. Returns whether it certainly arrived."""
    topic = {"message_thread_id": topic_id} if topic_id else {}
    try:
        await messenger.call("sendMessage", chat_id=chat_id, **topic, text=text, disable_notification=silent)
    except MessengerError as error:
        log.warning("not said", chat_id=chat_id, error=type(error).__name__)
        return False
    return True
