"""Converts Telegram messages to blocks: their text, media and origin. Pure."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime

from relay.core.models import Block, InputPart, ReplyTo
from relay.core.prompt_markup import clean_name, cut_to_tokens, remove_invisible
from relay.core.text import utf16_offsets
from relay.memory.contexts.markers import remove_markers
from relay.surfaces.telegram.parsing.attachments import attachment_of, file_in_words, is_broken
from relay.surfaces.telegram.parsing.contents import Contents
from relay.surfaces.telegram.parsing.links import Entity, with_links
from relay.surfaces.telegram.parsing.objects import Chat, Message, MessageOrigin, TextQuote, User
from relay.surfaces.telegram.parsing.special_messages import thing_of

PASTE_LENGTH, TEXT_LENGTH = 4000, 4096
"""Telegram splits texts longer than the second of these (in UTF-16 code units). One as long as the first may continue
in the next message."""
SPLIT_SECONDS = 5
"""How long after a part of such a text the next one may be sent."""
HEARD = "🎤"
"""The beginning of messages with a transcript."""
UNKNOWN = "⚠️ I can't tell what this is. Please send it another way, or describe it."
QUOTE_TOKENS = 500


def bare_text_of(message: Message) -> str:
    """Returns a message's text or caption as it is shown, in which commands and mentions are looked for."""
    return message.text or message.caption


def text_of(message: Message, start: int = 0) -> str:
    """Returns a message's text or caption, with the addresses of its links; or its end from an index of the bare text
    on."""
    return with_links(bare_text_of(message), entities_of(message), start)


def entities_of(message: Message) -> Sequence[Entity]:
    return message.entities if message.text else message.caption_entities


def words_of(message: Message) -> str:
    """Returns a message's text, after a description of contents such as a place or a poll."""
    thing = thing_of(message)
    return "\n".join(words for words in (thing.words if thing else "", text_of(message)) if words.strip())


def contents_in_words(message: Contents) -> str:
    """Describes what a message contains besides text; empty if it is only text."""
    thing = thing_of(message)
    return thing.words if thing else file_in_words(message)


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


def author_of(message: Message) -> str:
    """Names the author of a message: of a forward, who wrote it first; of an anonymous admin's or a channel's message,
    the chat."""
    if message.forward_origin:
        return origin_of(message.forward_origin)
    chat = message.sender_chat
    return chat.title or name_of(chat) if chat else name_of(message.sender)


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
    """Returns a block with the file of the message that this one replies to, since the question is about it. Not with
    what the bot said aloud: it said that in words too."""
    target, elsewhere = message.reply_to_message, message.external_reply
    if elsewhere:
        attachment, mark = attachment_of(elsewhere), mark_reply(origin_of(elsewhere.origin))
    elif target and target.chat.id == message.chat.id:
        attachment, mark = attachment_of(target), foreign_mark(target, user_id)
        if target.sender_id == bot_id and attachment and attachment.kind not in ("photo", "document"):
            return []
        if not mark and target.sender_id not in (user_id, bot_id):
            mark = mark_reply(author_of(target))
    else:
        return []
    return [{"type": "attachment", "file": asdict(attachment), "replied": True, **mark}] if attachment else []


def mark_reply(author: str) -> dict[str, str]:
    """Returns the mark of a block with the file of another person's message."""
    return {"untrusted": "reply", "from": author}


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
    quotes = quote_targets(messages, user_id, bot_id)
    for before, message, quote in zip([None, *messages], messages, quotes, strict=False):
        replied = [*quote, *find_replied_file(message, user_id, bot_id)]
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


def is_full(message: Message) -> bool:
    """Tests whether a text is so long that Telegram may have split it. A rich message may be longer, and is whole."""
    return PASTE_LENGTH <= utf16_offsets(message.text)[-1] <= TEXT_LENGTH


def is_sequel(before: Message, message: Message) -> bool:
    """Tests whether two messages are one text that Telegram split."""
    return (
        is_full(before)
        and bool(message.text)
        and not is_foreign(before)
        and not is_foreign(message)
        and 0 < message.message_id - before.message_id <= 2
        and 0 <= message.date - before.date <= SPLIT_SECONDS
    )


def find_reply(messages: Sequence[Message], user_id: int, bot_id: int) -> ReplyTo | None:
    """Returns what a turn's messages reply to. None: nothing, or several messages, which `parts_of` quotes."""
    targets = {reply for message in messages if (reply := reply_of(message, bot_id, user_id))}
    return targets.pop() if len(targets) == 1 else None


def quote_targets(messages: Sequence[Message], user_id: int, bot_id: int) -> list[list[Block]]:
    """Returns, for each message of a turn, a block that quotes what it replies to, if that differs within the turn."""
    replies = [reply_of(message, bot_id, user_id) for message in messages]
    if len({*replies} - {None}) < 2:
        return [[] for _ in messages]
    changed = [reply if reply != before else None for before, reply in zip([None, *replies], replies, strict=False)]
    return [[quote_block(reply)] if reply else [] for reply in changed]


def quote_block(reply: ReplyTo) -> Block:
    """Quotes what the next message of a turn replies to. It is marked as untrusted, as Relay may have quoted others."""
    by = " by you" if reply.by == "you" else ""
    head = f"(the next message replies to {'this part of ' if reply.quote else ''}a message{by}:)"
    text = cut_to_tokens(remove_markers(reply.quote or reply.text), QUOTE_TOKENS)
    author = {} if by else {"from": reply.by}
    return {"type": "text", "text": f"{head}\n{text}", "untrusted": "quote", **author, "replied": True}


def quote_from(target: Message, quote: TextQuote) -> str:
    """Returns the quoted part of a message, with the links that are whole in it. Telegram quotes without them."""
    text = bare_text_of(target)
    start = bisect_left(utf16_offsets(text), quote.position)
    end = start + len(quote.text)
    return with_links(text[:end], entities_of(target), start) if text[start:end] == quote.text else quote.text


def reply_of(message: Message, bot_id: int, user_id: int) -> ReplyTo | None:
    """Returns what a message replies to. A topic's first service message doesn't count."""
    target, quote, elsewhere = message.reply_to_message, message.quote, message.external_reply
    if elsewhere:
        text = "\n".join(filter(None, (contents_in_words(elsewhere), quote.text if quote else "")))
        return ReplyTo(0, text, "", False, clean_name(origin_of(elsewhere.origin)))
    if target is None or target.forum_topic_created:
        return None
    ours, thing = target.sender_id == bot_id, thing_of(target)
    return ReplyTo(
        telegram_message_id=target.message_id,
        text=words_of(target) or file_in_words(target),
        quote=quote_from(target, quote) if quote and quote.is_manual else "",
        own=(ours or target.sender_id == user_id) and not is_foreign(target) and not (thing and thing.untrusted),
        by="you" if ours else clean_name(author_of(target)),
    )


def find_date(message: Message) -> datetime:
    """Returns the time when a message was sent; the present time if its date can't be one of Telegram's."""
    return datetime.fromtimestamp(message.date, UTC) if 0 < message.date < 2**32 else datetime.now(UTC)
