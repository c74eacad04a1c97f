"""Texts that come from elsewhere: the message that a command replies to, or a text document."""

from __future__ import annotations

from relay.core.errors import CommandRefused, FileTooLarge, MessengerError
from relay.core.text import shorten
from relay.surfaces.chat.context import ChatContext, Document

MOST_BYTES = 64 * 1024
ENDINGS = (".md", ".markdown", ".txt")


class Unreadable(CommandRefused):
    """A text cannot be had; the sentence says why."""


async def text_given(call: ChatContext) -> tuple[str, str] | None:
    """A text and where it is from: the document sent with a command, else what the command replies to (the part that
    was quoted, a document, or its text). None when there is neither. Raises `Unreadable`."""
    said, replied = call.said, call.said.replied
    if said.document:
        return await _read(call, said.document)
    if said.quote:
        return said.quote, "a message"
    if replied is None:
        return None
    if replied.document:
        return await _read(call, replied.document)
    if replied.text:
        return replied.text, "a message"
    raise Unreadable("There is no text in that message.")


async def _read(call: ChatContext, document: Document) -> tuple[str, str]:
    if not document.name.lower().endswith(ENDINGS) and document.mime not in ("text/plain", "text/markdown"):
        raise Unreadable("I take text from .md and .txt documents only.")
    if document.size > MOST_BYTES:
        raise Unreadable(TOO_LARGE)
    try:
        content = await call.messenger.fetch(document.file_id, MOST_BYTES)
    except FileTooLarge:
        raise Unreadable(TOO_LARGE) from None
    except MessengerError as error:
        raise Unreadable(f"I could not download that document, please send it again. ({error})") from None
    return _decoded(content), f"the document {shorten(document.name, 60)}" if document.name else "a document"


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
