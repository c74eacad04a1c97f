"""Telegram's updates as they come: which are for us, in which lane, and what somebody said in them. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from relay.memory.redact import redacted
from relay.models import Block, ReplyTo

ALLOWED_UPDATES = ("message", "callback_query", "my_chat_member", "stopped_message_generation")

ALBUM_SECONDS = 0.5
PASTE_SECONDS = 1.0
PASTE_LENGTH = 4000
"""Telegram splits a longer text into messages of about 4,096; a part this long may have a sequel."""

IN_LANE = frozenset({"new", "retry"})
"""Commands that keep their place among the messages; all others act at once."""
IN_LANE_BUTTONS = ("r:", "w:")

COMMAND = re.compile(r"^/([A-Za-z0-9_]{1,32})(?:@([A-Za-z0-9_]+))?(?:\s+(.*))?$", re.DOTALL)
EDIT_PROMPT = "✎ #"
"""How our question for a new wording begins."""
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
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Bot:
    """Who the bot is on Telegram."""

    id: int
    username: str


@dataclass(frozen=True, slots=True)
class Command:
    """`/name rest`, addressed to us."""

    name: str
    rest: str


def chat_of(update: Json) -> Json | None:
    """The chat that an update of a kind we handle belongs to."""
    for kind in ("message", "stopped_message_generation", "my_chat_member"):
        if isinstance(update.get(kind), dict):
            chat = update[kind].get("chat")
            return chat if isinstance(chat, dict) and isinstance(chat.get("id"), int) else None
    query = update.get("callback_query")
    message = query.get("message") if isinstance(query, dict) else None
    return message["chat"] if isinstance(message, dict) and isinstance(message.get("chat"), dict) else None


def topic_of(message: Json) -> int:
    """The topic of a message; 0 outside topics. A reply inside General carries a thread id that is none.

    1 is General in a forum; in a private chat it is a topic like any other.
    """
    topic, chat = message.get("message_thread_id"), message.get("chat") or {}
    general = 0 if chat.get("type") == "private" else 1
    return topic if message.get("is_topic_message") and isinstance(topic, int) and topic > general else 0


def sender_of(update: Json) -> int:
    """The user who caused an update; 0 when nobody known did."""
    for kind in ("message", "callback_query", "my_chat_member"):
        if isinstance(update.get(kind), dict):
            sender = update[kind].get("from")
            return sender["id"] if isinstance(sender, dict) and isinstance(sender.get("id"), int) else 0
    stopped = update.get("stopped_message_generation")
    chat = stopped.get("chat") if isinstance(stopped, dict) else None
    return chat["id"] if isinstance(chat, dict) and chat.get("type") == "private" else 0


def text_of(message: Json) -> str:
    """What a message says: its text or its caption."""
    text = message.get("text") or message.get("caption") or ""
    return text if isinstance(text, str) else ""


def command_of(message: Json, bot: Bot) -> Command | None:
    """The command that a message is, when it is one for us."""
    if is_foreign(message):
        return None
    match = COMMAND.match(text_of(message)) if "text" in message else None
    if not match or (match[2] and match[2].lower() != bot.username.lower()):
        return None
    return Command(match[1].lower(), (match[3] or "").strip())


def may_be_edit(message: Json, bot: Bot) -> bool:
    """Whether a message may reword a memory: it replies to what looks like our edit prompt. The database knows."""
    target = message.get("reply_to_message") or {}
    if "text" not in message or is_foreign(message) or command_of(message, bot):
        return False
    return (target.get("from") or {}).get("id") == bot.id and text_of(target).startswith(EDIT_PROMPT)


def media_of(message: Json) -> str:
    """What kind of media a message carries, in words; empty for none."""
    return next((words for kind, words in MEDIA.items() if message.get(kind)), "")


def is_forward(message: Json) -> bool:
    return bool(message.get("forward_origin") or message.get("forward_date"))


def is_foreign(message: Json) -> bool:
    """Whether somebody else wrote what a message says: it is a forward, or the text of an inline bot."""
    return is_forward(message) or bool(message.get("via_bot"))


def addressed(message: Json, bot: Bot) -> bool:
    """Whether a group message is for the bot: it mentions it, replies to it or commands it."""
    reply = message.get("reply_to_message") or {}
    if (reply.get("from") or {}).get("id") == bot.id and "forum_topic_created" not in reply:
        return True
    if command_of(message, bot):
        return True
    if not bot.username:
        return False
    return bool(re.search(rf"@{re.escape(bot.username)}\b", text_of(message), re.IGNORECASE))


def hold_of(message: Json) -> float:
    """Seconds to wait for what may belong to a message."""
    if message.get("media_group_id"):
        return ALBUM_SECONDS
    return PASTE_SECONDS if len(message.get("text") or "") >= PASTE_LENGTH else 0.0


def sort_update(update: Json, bot: Bot, allowed: frozenset[int], group_open: bool) -> Json:
    """An update as the queue takes it: its kind (turn, control or ignored), lane, user and how long it waits.

    `group_open`: every message of its group may be for the bot; whether it is shows later, so the event log gets none
    of its text. Of a stranger's update nothing is kept but its number, and no event tells of it.
    """
    chat, user_id = chat_of(update), sender_of(update)
    known = user_id if user_id in allowed else None
    row: Json = {"update_id": update["update_id"], "kind": "ignored", "user_id": known}
    kind = kind_of(update, chat, user_id, bot, allowed, group_open)
    if kind == "ignored" or chat is None:
        return row | ({"event": "ignored"} if known else {})
    message = update.get("message") or (update.get("callback_query") or {}).get("message") or {}
    if "stopped_message_generation" in update:
        topic = update["stopped_message_generation"].get("message_thread_id") or 0
    else:
        topic = topic_of(message)
    row |= {"kind": kind, "chat_id": chat["id"], "topic_id": topic, "payload": update, "redacted": redacted(update)}
    if "message" in update:
        row |= {
            "telegram_message_id": message.get("message_id"),
            "hold": hold_of(message),
            "mergeable": kind == "turn" and command_of(message, bot) is None and not may_be_edit(message, bot),
        }
        if chat["type"] != "private" and not addressed(message, bot):
            row["redacted"] = {"message_id": message.get("message_id")}
    return row


def kind_of(update: Json, chat: Json | None, user_id: int, bot: Bot, allowed: frozenset[int], group_open: bool) -> str:
    """turn, control or ignored."""
    if chat is None or user_id not in allowed or chat.get("type") not in ("private", "group", "supergroup"):
        return "ignored"
    if "stopped_message_generation" in update:
        return "control"
    if "callback_query" in update:
        data = update["callback_query"].get("data")
        return "turn" if isinstance(data, str) and data.startswith(IN_LANE_BUTTONS) else "control"
    message = update.get("message")
    if not isinstance(message, dict) or not (text_of(message).strip() or media_of(message)):
        return "ignored"
    if (message.get("from") or {}).get("is_bot"):
        return "ignored"
    if "text" in message and (match := COMMAND.match(text_of(message))) and not is_foreign(message):
        if match[2] and match[2].lower() != bot.username.lower():
            return "ignored"
        return "turn" if match[1].lower() in IN_LANE else "control"
    return "turn" if chat["type"] == "private" or group_open or addressed(message, bot) else "ignored"


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
    text, media = text_of(message), media_of(message)
    blocks: list[Block] = []
    if media:
        blocks.append(
            {"type": "text", "text": f"(sent one of: {media}; you cannot open these yet, say so if it matters)"}
        )
    if not text.strip():
        return blocks
    if is_forward(message) and (message.get("forward_origin") or {}).get("sender_user", {}).get("id") != user_id:
        return [*blocks, {"type": "text", "text": text, "untrusted": "forward", "from": origin_of(message)}]
    if isinstance(message.get("via_bot"), dict):
        return [*blocks, {"type": "text", "text": text, "untrusted": "bot", "from": name_of(message["via_bot"])}]
    if media:
        return [*blocks, {"type": "text", "text": text, "untrusted": "caption"}]
    return [{"type": "text", "text": text}]


def joined_blocks(messages: Sequence[Json], user_id: int) -> list[Block]:
    """All parts of one turn in order. Parts of a paste that Telegram split are one block again."""
    blocks: list[Block] = []
    for before, message in zip([None, *messages], messages, strict=False):
        own = blocks_of(message, user_id)
        if before and blocks and own and is_sequel(before, message):
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


def reply_of(message: Json, bot: Bot, user_id: int) -> ReplyTo | None:
    """What a message is a reply to; a topic's first service message does not count."""
    target = message.get("reply_to_message")
    quote = message.get("quote") or {}
    if isinstance(message.get("external_reply"), dict):
        origin = origin_of({"forward_origin": message["external_reply"].get("origin")})
        return ReplyTo(0, str(quote.get("text") or ""), "", False, origin)
    if not isinstance(target, dict) or "forum_topic_created" in target:
        return None
    author = target.get("from") or {}
    ours = author.get("id") == bot.id
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
