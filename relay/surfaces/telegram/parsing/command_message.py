"""The message that asks for something, as chat handlers get it. Pure."""

from __future__ import annotations

from relay.surfaces.chat.context import Document, RepliedMessage, Said
from relay.surfaces.telegram.parsing.contents import MediaFile
from relay.surfaces.telegram.parsing.message_parser import text_of
from relay.surfaces.telegram.parsing.objects import Message


def said_in(message: Message) -> Said:
    """The message that gives a command or answers a question, or the one under which a button was pressed."""
    return Said(
        message_id=message.message_id,
        text=text_of(message),
        sent_at=message.date,
        document=_document(message.document),
        quote=message.quote.text.strip() if message.quote and message.quote.is_manual else "",
        replied=_replied(message),
        rows=message.buttons,
        forum=message.chat.is_forum,
        chat_title=message.chat.title,
    )


def _replied(message: Message) -> RepliedMessage | None:
    """The message that is replied to. In a topic, Telegram also names the message that began it: that is no reply."""
    target, elsewhere = message.reply_to_message, message.external_reply
    if target and not target.forum_topic_created:
        return RepliedMessage(
            message_id=target.message_id,
            text=text_of(target).strip(),
            author_id=target.sender_id,
            sent_at=target.date,
            document=_document(target.document),
        )
    return RepliedMessage(0, "", None, 0, _document(elsewhere.document)) if elsewhere and not target else None


def _document(found: MediaFile | None) -> Document | None:
    return Document(found.file_id, found.file_name, found.mime_type, found.file_size) if found else None
