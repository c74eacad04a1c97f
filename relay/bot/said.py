"""What somebody said in Telegram messages: their text, media and origin, as blocks. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from relay.bot.attached import attachment_of
from relay.models import Block, ReplyTo

PASTE_LENGTH = 4000
"""Telegram splits a longer text into messages of about 4,096; a part this long may have a sequel."""
MEDIA = {
    "voice": "voice notes",
    "audio": "audio files",
    "video_note": "video notes",
    "video": "videos",
    "photo": "photos",
    "document": "documents",
    "sticker": "stickers",
    "animation": "animations",
    "location": "places",
    "venue": "places",
    "contact": "contacts",
    "poll": "polls",
    "dice": "dice",
    "story": "stories",
    "checklist": "checklists",
}
HEARD = "🎤"
"""How it begins when we tell what was heard in a recording."""
Json = dict[str, Any]


def text_of(message: Json) -> str:
    """What a message says: its text or its caption."""
    text = message.get("text") or message.get("caption") or ""
    return text if isinstance(text, str) else ""


def media_of(message: Json) -> str:
    """What kind of media a message carries, in words; empty for none."""
    return next((words for kind, words in MEDIA.items() if message.get(kind)), "")


def is_forward(message: Json) -> bool:
    return bool(message.get("forward_origin") or message.get("forward_date"))


def is_foreign(message: Json) -> bool:
    """Whether somebody else wrote what a message says: it is a forward, or the text of an inline bot."""
    return is_forward(message) or bool(message.get("via_bot"))


def name_of(user: Json) -> str:
    """A person's name as Telegram shows it."""
    names = [part for part in (user.get("first_name"), user.get("last_name")) if isinstance(part, str)]
    return " ".join(names).strip() or str(user.get("username") or "somebody")


def origin_of(message: Json) -> str:
    """Who wrote a forwarded message first."""
    origin = message.get("forward_origin") or {}
    for key in ("sender_user", "sender_chat", "chat"):
        if isinstance(origin.get(key), dict):
            return str(origin[key].get("title") or name_of(origin[key]))
    return str(origin.get("sender_user_name") or "somebody")


def blocks_of(message: Json, user_id: int) -> list[Block]:
    """What somebody said in one message, as blocks; what others wrote is marked as theirs."""
    text, media, mark = text_of(message), media_of(message), foreign_mark(message, user_id)
    blocks: list[Block] = []
    if attachment := attachment_of(message):
        blocks.append({"type": "attachment", "file": asdict(attachment), **mark})
    elif media:
        blocks.append(
            {"type": "text", "text": f"(sent one of: {media}; you cannot open these yet, say so if it matters)"}
        )
    if text.strip():
        blocks.append({"type": "text", "text": text, **(mark or ({"untrusted": "caption"} if media else {}))})
    return blocks


def foreign_mark(message: Json, user_id: int) -> Json:
    """What marks a block of a message as somebody else's: its kind and who it is from. Empty for the sender's own."""
    if is_forward(message) and (message.get("forward_origin") or {}).get("sender_user", {}).get("id") != user_id:
        return {"untrusted": "forward", "from": origin_of(message)}
    if isinstance(message.get("via_bot"), dict):
        return {"untrusted": "bot", "from": name_of(message["via_bot"])}
    return {}


def parts_of(messages: Sequence[Json], user_id: int) -> list[Json]:
    """What each message of one turn says: `{text, blocks, sequel}`. sequel: it only goes on with the one before."""
    return [
        {
            "text": text_of(message).strip(),
            "blocks": blocks_of(message, user_id),
            "sequel": before is not None and is_sequel(before, message),
        }
        for before, message in zip([None, *messages], messages, strict=False)
    ]


def joined_blocks(messages: Sequence[Json], user_id: int) -> list[Block]:
    """All parts of one turn in order. Parts of a paste that Telegram split are one block again."""
    blocks: list[Block] = []
    for part in parts_of(messages, user_id):
        own = part["blocks"]
        if part["sequel"] and blocks and own:
            blocks[-1] = {**blocks[-1], "text": blocks[-1]["text"] + own[0]["text"]}
            blocks.extend(own[1:])
        else:
            blocks.extend(own)
    return blocks


def is_sequel(before: Json, message: Json) -> bool:
    """Whether two messages are one text that Telegram split."""
    return (
        len(before.get("text") or "") >= PASTE_LENGTH
        and "text" in message
        and not is_foreign(before)
        and not is_foreign(message)
        and 0 < message["message_id"] - before["message_id"] <= 2
    )


def reply_of(message: Json, bot_id: int, user_id: int) -> ReplyTo | None:
    """What a message is a reply to; a topic's first service message does not count."""
    target = message.get("reply_to_message")
    quote = message.get("quote") or {}
    if isinstance(message.get("external_reply"), dict):
        origin = origin_of({"forward_origin": message["external_reply"].get("origin")})
        return ReplyTo(0, str(quote.get("text") or ""), "", False, origin)
    if not isinstance(target, dict) or "forum_topic_created" in target:
        return None
    author = target.get("from") or {}
    ours = author.get("id") == bot_id
    return ReplyTo(
        telegram_message_id=int(target.get("message_id") or 0),
        text=text_of(target),
        quote=str(quote.get("text") or "") if quote.get("is_manual") else "",
        own=(ours or author.get("id") == user_id) and not is_foreign(target),
        by="you" if ours else name_of(author),
    )


def said_at(message: Json) -> datetime:
    """When a message was sent."""
    try:
        return datetime.fromtimestamp(int(message["date"]), UTC)
    except (KeyError, TypeError, ValueError, OverflowError, OSError):
        return datetime.now(UTC)
