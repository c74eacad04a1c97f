"""What somebody said in Telegram messages: their text, media and origin, as blocks. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from relay.core.models import Block, ReplyTo
from relay.core.prompt_markup import plain_name, without_unseen
from relay.media.reading import NAMES
from relay.surfaces.telegram.parsing.attached import KINDS, attachment_of
from relay.surfaces.telegram.parsing.special_messages import TOLD, thing_of

PASTE_LENGTH = 4000
"""Telegram splits a longer text into messages of about 4,096; a part this long may have a sequel."""
HEARD = "🎤"
"""How it begins when we tell what was heard in a recording."""
UNKNOWN = "⚠️ I cannot tell what this is. Please send it in another way, or tell me in words."
Json = dict[str, Any]


def text_of(message: Json) -> str:
    """What a message says: its text or its caption."""
    text = message.get("text") or message.get("caption") or ""
    return text if isinstance(text, str) else ""


def words_of(message: Json) -> str:
    """What a message says, with what it carries that is no file told in words."""
    thing = thing_of(message)
    return "\n".join(words for words in (thing.words if thing else "", text_of(message)) if words.strip())


def file_in_words(message: Json) -> str:
    """What kind of file a message carries; empty for none."""
    attachment = attachment_of(message)
    return f"({NAMES[attachment.kind]} {attachment.name}".rstrip() + ")" if attachment else ""


def says_something(message: Json) -> bool:
    """Whether a message holds anything that somebody may want an answer to."""
    return bool(text_of(message).strip()) or any(message.get(kind) for kind in (*KINDS, *TOLD))


def refusals_of(message: Json) -> list[str]:
    """The honest lines about what a message carries and nobody can use."""
    if thing := thing_of(message):
        return [thing.refusal] if thing.refusal else []
    broken = attachment_of(message) is None and any(message.get(kind) for kind in KINDS)
    return [UNKNOWN] if broken else []


def is_forward(message: Json) -> bool:
    return bool(message.get("forward_origin") or message.get("forward_date"))


def is_foreign(message: Json) -> bool:
    """Whether somebody else wrote what a message says: it is a forward, or the text of an inline bot."""
    return is_forward(message) or bool(message.get("via_bot"))


def name_of(user: Json) -> str:
    """A person's name as Telegram shows it, without signs that nobody sees."""
    names = [without_unseen(part) for part in (user.get("first_name"), user.get("last_name")) if isinstance(part, str)]
    return " ".join(" ".join(names).split()) or str(user.get("username") or "somebody")


def origin_of(message: Json) -> str:
    """Who wrote a forwarded message first."""
    origin = message.get("forward_origin") or {}
    for key in ("sender_user", "sender_chat", "chat"):
        if isinstance(origin.get(key), dict):
            return str(origin[key].get("title") or name_of(origin[key]))
    return str(origin.get("sender_user_name") or "somebody")


def blocks_of(message: Json, user_id: int) -> list[Block]:
    """What somebody said in one message, as blocks; what others wrote is marked as theirs."""
    text, mark = text_of(message), foreign_mark(message, user_id)
    attachment, thing = attachment_of(message), thing_of(message)
    blocks: list[Block] = []
    if attachment:
        blocks.append({"type": "attachment", "file": asdict(attachment), **mark})
    elif thing:
        unread = {"unread": True} if thing.refusal else {}
        theirs = mark or ({"untrusted": thing.kind} if thing.untrusted else {})
        blocks.append({"type": "text", "text": thing.words, **theirs, **unread})
    if text.strip():
        theirs = mark or ({} if message.get("text") else {"untrusted": "caption"})
        blocks.append({"type": "text", "text": text, **theirs})
    return blocks


def replied_file(message: Json, user_id: int, bot_id: int) -> list[Block]:
    """The file of the message that this one replies to, as a block of this one: what is asked is asked about it. Only
    of the same chat; and what the bot itself sent is in the conversation already."""
    target = message.get("reply_to_message")
    author = target.get("from") or {} if isinstance(target, dict) else {}
    if not isinstance(target, dict) or author.get("id") == bot_id:
        return []
    if (target.get("chat") or {}).get("id") != message["chat"]["id"]:
        return []
    attachment = attachment_of(target)
    if attachment is None:
        return []
    mark = foreign_mark(target, user_id)
    if not mark and author.get("id") != user_id:
        mark = {"untrusted": "reply", "from": name_of(author)}
    return [{"type": "attachment", "file": asdict(attachment), "replied": True, **mark}]


def foreign_mark(message: Json, user_id: int) -> Json:
    """What marks a block of a message as somebody else's: its kind and who it is from. Empty for the sender's own."""
    if is_forward(message) and (message.get("forward_origin") or {}).get("sender_user", {}).get("id") != user_id:
        return {"untrusted": "forward", "from": origin_of(message)}
    if isinstance(message.get("via_bot"), dict):
        return {"untrusted": "bot", "from": name_of(message["via_bot"])}
    return {}


def parts_of(messages: Sequence[Json], user_id: int, bot_id: int = 0) -> list[Json]:
    """What each message of one turn says: `{text, blocks, sequel}`. sequel: it only goes on with the one before."""
    parts: list[Json] = []
    for before, message in zip([None, *messages], messages, strict=False):
        replied = replied_file(message, user_id, bot_id)
        parts.append(
            {
                "text": words_of(message).strip(),
                "blocks": [*replied, *blocks_of(message, user_id)],
                "sequel": before is not None and not replied and is_sequel(before, message),
            }
        )
    return parts


def joined_blocks(messages: Sequence[Json], user_id: int, bot_id: int = 0) -> list[Block]:
    """All parts of one turn in order. Parts of a paste that Telegram split are one block again."""
    blocks: list[Block] = []
    for part in parts_of(messages, user_id, bot_id):
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
        return ReplyTo(0, str(quote.get("text") or ""), "", False, plain_name(origin))
    if not isinstance(target, dict) or "forum_topic_created" in target:
        return None
    author = target.get("from") or {}
    ours, thing = author.get("id") == bot_id, thing_of(target)
    return ReplyTo(
        telegram_message_id=int(target.get("message_id") or 0),
        text=words_of(target) or file_in_words(target),
        quote=str(quote.get("text") or "") if quote.get("is_manual") else "",
        own=(ours or author.get("id") == user_id) and not is_foreign(target) and not (thing and thing.untrusted),
        by="you" if ours else plain_name(name_of(author)),
    )


def said_at(message: Json) -> datetime:
    """When a message was sent."""
    try:
        return datetime.fromtimestamp(int(message["date"]), UTC)
    except (KeyError, TypeError, ValueError, OverflowError, OSError):
        return datetime.now(UTC)
