"""The message that asks for something, as chat handlers get it. Pure."""

from __future__ import annotations

from typing import Any

from relay.surfaces.chat.context import Document, RepliedMessage, Said
from relay.surfaces.telegram.parsing.message_parser import text_of

Json = dict[str, Any]


def said_in(message: Json) -> Said:
    """The message that gives a command or answers a question, or the one under which a button was pressed."""
    quote, chat = _object(message.get("quote")), _object(message.get("chat"))
    rows = _object(message.get("reply_markup")).get("inline_keyboard") or []
    return Said(
        message_id=_number(message.get("message_id")),
        text=text_of(message),
        sent_at=_number(message.get("date")),
        document=_document(message),
        quote=str(quote.get("text") or "").strip() if quote.get("is_manual") else "",
        replied=_replied(message),
        buttons=tuple(str(one.get("callback_data") or "") for row in rows for one in row),
        forum=bool(chat.get("is_forum")),
        chat_title=str(chat.get("title") or ""),
    )


def _replied(message: Json) -> RepliedMessage | None:
    """The message that is replied to. In a topic, Telegram also names the message that began it: that is no reply."""
    target = _object(message.get("reply_to_message") or message.get("external_reply"))
    if not target or "forum_topic_created" in target:
        return None
    author = _object(target.get("from"))
    return RepliedMessage(
        message_id=_number(target.get("message_id")) if "reply_to_message" in message else 0,
        text=text_of(target).strip(),
        author_id=_number(author.get("id")) or None,
        sent_at=_number(target.get("date")),
        document=_document(target),
    )


def _document(message: Json) -> Document | None:
    found = message.get("document")
    if not isinstance(found, dict):
        return None
    return Document(
        file_id=str(found.get("file_id") or ""),
        name=str(found.get("file_name") or ""),
        mime=str(found.get("mime_type") or ""),
        size=_number(found.get("file_size")),
    )


def _object(value: Any) -> Json:
    return value if isinstance(value, dict) else {}


def _number(value: Any) -> int:
    return value if isinstance(value, int) else 0
