"""Addresses of messages in Telegram."""

from __future__ import annotations

from relay.memory.rows.memories import Posted
from relay.surfaces.chat.reply import Json

SUPERGROUP = -1_000_000_000_000
"""Ids below are supergroups', the only chats whose messages have addresses."""


def link_to(posted: Posted | Json | None, topic_id: int) -> str:
    """The address of a message in a chat; empty where Telegram has none."""
    if isinstance(posted, dict):
        posted = Posted(posted["chat_id"], posted.get("message_id"))
    if not posted or not posted.message_id or posted.chat_id >= SUPERGROUP:
        return ""
    topic = f"{topic_id}/" if topic_id else ""
    return f"https://t.me/c/{SUPERGROUP - posted.chat_id}/{topic}{posted.message_id}"
