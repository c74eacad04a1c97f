"""Converts Telegram messages to blocks: their text, media and origin. Pure."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime

from relay.core.models import Attachment, Block, InputPart, ReplyTo
from relay.core.prompt_markup import clean_name, remove_invisible
from relay.media.reading import NAMES
from relay.surfaces.telegram.parsing.contents import MediaFile
from relay.surfaces.telegram.parsing.objects import Chat, Message, MessageOrigin, User
from relay.surfaces.telegram.parsing.special_messages import thing_of

PASTE_LENGTH = 4000
"""Telegram splits longer texts into messages of about 4,096 characters. One this long may continue in the next."""
HEARD = "🎤"
"""The beginning of messages with a transcript."""
UNKNOWN = "⚠️ I can't tell what this is. Please send it another way, or describe it."
KINDS = ("voice", "audio", "video_note", "animation", "video", "photo", "sticker", "document")
"""Kinds of files, in order of precedence: an animation also has a `document`."""
NAME_LENGTH = 120


def text_of(message: Message) -> str:
    """Returns a message's text or caption."""
    return message.text or message.caption


def words_of(message: Message) -> str:
    """Returns a message's text, after a description of contents such as a place or a poll."""
    thing = thing_of(message)
    return "\n".join(words for words in (thing.words if thing else "", text_of(message)) if words.strip())


def file_in_words(message: Message) -> str:
    """Describes a message's file; empty if it has none."""
    attachment = attachment_of(message)
    return f"({NAMES[attachment.kind]} {attachment.name}".rstrip() + ")" if attachment else ""


def says_something(message: Message) -> bool:
    """Tests whether a message contains anything to answer."""
    return bool(words_of(message).strip()) or attachment_of(message) is not None or is_broken(message)


def refusals_of(message: Message) -> list[str]:
    """Returns the lines that say which contents of a message can't be used."""
    if thing := thing_of(message):
        return [thing.refusal] if thing.refusal else []
    return [UNKNOWN] if is_broken(message) else []


def is_forward(message: Message) -> bool:
    return bool(message.forward_origin or message.forward_date)


def is_foreign(message: Message) -> bool:
    """Tests whether someone else wrote a message: it is forwarded, or by an inline bot."""
    return is_forward(message) or message.via_bot is not None


def name_of(user: User | Chat | None) -> str:
    """Returns a person's name as Telegram shows it, without invisible characters."""
    user = user or User()
    names = " ".join(remove_invisible(part) for part in (user.first_name, user.last_name))
    return " ".join(names.split()) or user.username or "somebody"


def origin_of(origin: MessageOrigin | None) -> str:
    """Names the author of a forwarded message."""
    origin = origin or MessageOrigin()
    if origin.sender_user:
        return name_of(origin.sender_user)
    if chat := origin.sender_chat or origin.chat:
        return chat.title or name_of(chat)
    return origin.sender_user_name or "somebody"


def blocks_of(message: Message, user_id: int) -> list[Block]:
    """Converts one message to blocks. Marks other people's words."""
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
        theirs = mark or ({} if message.text else {"untrusted": "caption"})
        blocks.append({"type": "text", "text": text, **theirs})
    return blocks


def find_replied_file(message: Message, user_id: int, bot_id: int) -> list[Block]:
    """Returns a block with the file of the message that this one replies to, since the question is about it. Only in
    the same chat; the bot's own files are already in the conversation."""
    target = message.reply_to_message
    if target is None or target.sender_id == bot_id or target.chat.id != message.chat.id:
        return []
    attachment = attachment_of(target)
    if attachment is None:
        return []
    mark = foreign_mark(target, user_id)
    if not mark and target.sender_id != user_id:
        mark = {"untrusted": "reply", "from": name_of(target.sender)}
    return [{"type": "attachment", "file": asdict(attachment), "replied": True, **mark}]


def foreign_mark(message: Message, user_id: int) -> dict[str, str]:
    """Returns the mark of a block with other people's words: its kind and author. Empty for the sender's own words."""
    if is_forward(message):
        origin = message.forward_origin
        own = origin is not None and origin.sender_user is not None and origin.sender_user.id == user_id
        if not own:
            return {"untrusted": "forward", "from": origin_of(origin)}
    if message.via_bot:
        return {"untrusted": "bot", "from": name_of(message.via_bot)}
    return {}


def parts_of(messages: Sequence[Message], user_id: int, bot_id: int = 0) -> list[InputPart]:
    """Converts each message of a turn."""
    parts: list[InputPart] = []
    for before, message in zip([None, *messages], messages, strict=False):
        replied = find_replied_file(message, user_id, bot_id)
        parts.append(
            InputPart(
                words_of(message).strip(),
                [*replied, *blocks_of(message, user_id)],
                before is not None and not replied and is_sequel(before, message),
            )
        )
    return parts


def join_blocks(messages: Sequence[Message], user_id: int, bot_id: int = 0) -> list[Block]:
    """Returns the blocks of a turn in order, and joins the parts of a text that Telegram split."""
    blocks: list[Block] = []
    for part in parts_of(messages, user_id, bot_id):
        own = part.blocks
        if part.sequel and blocks and own:
            blocks[-1] = {**blocks[-1], "text": blocks[-1]["text"] + own[0]["text"]}
            blocks.extend(own[1:])
        else:
            blocks.extend(own)
    return blocks


def is_sequel(before: Message, message: Message) -> bool:
    """Tests whether two messages are one text that Telegram split."""
    return (
        len(before.text) >= PASTE_LENGTH
        and bool(message.text)
        and not is_foreign(before)
        and not is_foreign(message)
        and 0 < message.message_id - before.message_id <= 2
    )


def reply_of(message: Message, bot_id: int, user_id: int) -> ReplyTo | None:
    """Returns what a message replies to. A topic's first service message doesn't count."""
    target, quote = message.reply_to_message, message.quote
    if message.external_reply:
        return ReplyTo(0, quote.text if quote else "", "", False, clean_name(origin_of(message.external_reply.origin)))
    if target is None or target.forum_topic_created:
        return None
    ours, thing = target.sender_id == bot_id, thing_of(target)
    author = origin_of(target.forward_origin) if target.forward_origin else name_of(target.sender)
    return ReplyTo(
        telegram_message_id=target.message_id,
        text=words_of(target) or file_in_words(target),
        quote=quote.text if quote and quote.is_manual else "",
        own=(ours or target.sender_id == user_id) and not is_foreign(target) and not (thing and thing.untrusted),
        by="you" if ours else clean_name(author),
    )


def find_date(message: Message) -> datetime:
    """Returns the time when a message was sent."""
    try:
        return datetime.fromtimestamp(message.date, UTC) if message.date else datetime.now(UTC)
    except (ValueError, OverflowError, OSError):
        return datetime.now(UTC)


def attachment_of(message: Message) -> Attachment | None:
    """Returns the file of a message; of a photo, its largest size."""
    for kind in KINDS:
        found: MediaFile | None = getattr(message, kind) if kind != "photo" else largest(message.photo)
        if found and found.file_id:
            return Attachment(
                kind=kind,
                file_id=found.file_id,
                unique_id=found.file_unique_id or found.file_id,
                name=_name(found.emoji if kind == "sticker" else found.file_name),
                mime=_sticker_mime(found) if kind == "sticker" else found.mime_type[:NAME_LENGTH].lower(),
                size=found.file_size,
                seconds=found.duration,
                width=found.width or found.length,
                height=found.height or found.length,
                preview=found.thumbnail.file_id if found.thumbnail else "",
            )
    return None


def is_broken(message: Message) -> bool:
    """Tests whether a message has a file that can't be downloaded."""
    return any(getattr(message, kind) for kind in KINDS) and attachment_of(message) is None


def largest(sizes: tuple[MediaFile, ...]) -> MediaFile | None:
    """Returns the size of a photo with the most pixels."""
    return max(sizes, key=lambda size: size.width * size.height, default=None)


def _sticker_mime(sticker: MediaFile) -> str:
    """Returns the MIME type of a sticker's file, which Telegram gives as flags."""
    if sticker.is_animated:
        return "application/x-tgsticker"
    return "video/webm" if sticker.is_video else "image/webp"


def _name(value: str) -> str:
    """Cleans a file name: one line, without directories. A Mac writes ü as two characters, which no search finds."""
    text = "".join(c for c in unicodedata.normalize("NFC", value) if c.isprintable())
    return text.replace("\\", "/").rsplit("/", 1)[-1].strip()[:NAME_LENGTH]
