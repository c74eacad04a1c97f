"""Links to messages in Telegram."""

from relay.memory.rows.memories import Posted
from relay.memory.rows.upkeep.erasure import MessageLeft

SUPERGROUP = -1_000_000_000_000
"""Ids below are supergroups', the only chats whose messages have links."""


def link_to(posted: Posted | MessageLeft | None, topic_id: int | None) -> str:
    """Returns a link to a message; empty if Telegram has none."""
    if not posted or not posted.message_id or posted.chat_id >= SUPERGROUP:
        return ""
    topic = f"{topic_id}/" if topic_id else ""
    return f"https://t.me/c/{SUPERGROUP - posted.chat_id}/{topic}{posted.message_id}"
