"""Texts that come from elsewhere: the message that a command replies to, or a text document."""

from __future__ import annotations

from typing import Any

from relay.core.errors import FileTooLarge, MessengerError, RelayError
from relay.core.text import escape_markdown, shorten
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.reply import Json

MOST_BYTES = 64 * 1024
ENDINGS = (".md", ".markdown", ".txt")


class Unreadable(RelayError):
    """A text cannot be had; the sentence says why."""


async def text_given(call: ChatContext) -> tuple[str, str] | None:
    """A text and where it is from: the document sent with a command, else what the command replies to (the part that
    was quoted, a document, or its text). None when there is neither. Raises `Unreadable`."""
    own = call.message
    if document := own.get("document"):
        return await _document(call, document)
    quote = own.get("quote") or {}
    if quote.get("is_manual") and str(quote.get("text") or "").strip():
        return str(quote["text"]).strip(), "a message"
    target: Json = own.get("reply_to_message") or own.get("external_reply") or {}
    if document := target.get("document"):
        return await _document(call, document)
    text = str(target.get("text") or target.get("caption") or "").strip()
    if text:
        return text, "a message"
    if target and not target.get("forum_topic_created"):
        raise Unreadable("There is no text in that message.")
    return None


async def _document(call: ChatContext, document: Json) -> tuple[str, str]:
    name = str(document.get("file_name") or "")
    if not name.lower().endswith(ENDINGS) and document.get("mime_type") not in ("text/plain", "text/markdown"):
        raise Unreadable("I take text from .md and .txt documents only.")
    if _number(document.get("file_size")) > MOST_BYTES:
        raise Unreadable(TOO_LARGE)
    try:
        content = await call.services.messenger.fetch(str(document.get("file_id")), MOST_BYTES)
    except FileTooLarge:
        raise Unreadable(TOO_LARGE) from None
    except MessengerError as error:
        raise Unreadable(
            f"I could not download that document, please send it again. ({escape_markdown(str(error))})"
        ) from None
    return _decoded(content), f"the document {shorten(name, 60)}" if name else "a document"


TOO_LARGE = f"That document is too large: I take {MOST_BYTES // 1024} KB at most."


def _decoded(content: bytes) -> str:
    """A document's text."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise Unreadable("That document is not text in UTF-8. Save it as such and send it again.")
    text = text.replace("\r\n", "\n").strip()
    if not text:
        raise Unreadable("That document is empty.")
    return text


def _number(value: Any) -> int:
    return value if isinstance(value, int) else 0
