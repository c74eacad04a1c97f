"""Converts a command's message for chat handlers. Pure."""

from __future__ import annotations

from relay.surfaces.chat.context import CommandMessage, Document, RepliedMessage
from relay.surfaces.telegram.parsing.contents import MediaFile
from relay.surfaces.telegram.parsing.message_parser import bare_text_of, quote_from, text_of
from relay.surfaces.telegram.parsing.objects import Message


def parse_command_message(message: Message) -> CommandMessage:
    """Converts a message with a command, an answer to a question, or the message above a pressed button."""
    return CommandMessage(
        message_id=message.message_id,
        text=bare_text_of(message),
        sent_at=message.date,
        document=_parse_document(message.document),
        quote=_parse_quote(message).strip(),
        replied=_parse_replied(message),
        rows=message.buttons,
        forum=message.chat.is_forum,
        chat_title=message.chat.title,
    )


def _parse_quote(message: Message) -> str:
    target, quote = message.reply_to_message, message.quote
    if quote is None or not quote.is_manual:
        return ""
    return quote_from(target, quote) if target else quote.text


def _parse_replied(message: Message) -> RepliedMessage | None:
    """Converts the message that this one replies to. Ignores a topic's first message, which Telegram also names."""
    target, elsewhere = message.reply_to_message, message.external_reply
    if target and not target.forum_topic_created:
        return RepliedMessage(
            message_id=target.message_id,
            text=text_of(target).strip(),
            author_id=target.sender_id,
            sent_at=target.date,
            document=_parse_document(target.document),
        )
    return RepliedMessage(0, "", None, 0, _parse_document(elsewhere.document)) if elsewhere and not target else None


def _parse_document(found: MediaFile | None) -> Document | None:
    return Document(found.file_id, found.file_name, found.mime_type, found.file_size) if found else None
