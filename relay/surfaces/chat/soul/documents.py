"""Reads a text from the message that a command replies to, or from a document."""

from relay.core.errors import CommandRefused, FileTooLarge, MessengerError
from relay.core.text import shorten
from relay.surfaces.chat.context import ChatContext, Document

MOST_BYTES = 64 * 1024
ENDINGS = (".md", ".markdown", ".txt")


class Unreadable(CommandRefused):
    """A text cannot be read."""


async def text_given(call: ChatContext) -> tuple[str, str] | None:
    """Returns a text and its source: the document sent with a command, else what the command replies to (the quoted
    part, a document, or its text). None if there is neither. Raises `Unreadable`."""
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
    raise Unreadable("That message has no text.")


async def _read(call: ChatContext, document: Document) -> tuple[str, str]:
    if not document.name.lower().endswith(ENDINGS) and document.mime not in ("text/plain", "text/markdown"):
        raise Unreadable("I can only read .md and .txt documents here.")
    if document.size > MOST_BYTES:
        raise Unreadable(TOO_LARGE)
    try:
        content = await call.messenger.fetch(document.file_id, MOST_BYTES)
    except FileTooLarge:
        raise Unreadable(TOO_LARGE) from None
    except MessengerError as error:
        raise Unreadable(f"I couldn't download that document. Please send it again. ({error})") from None
    return _decode(content), f"the document {shorten(document.name, 60)}" if document.name else "a document"


TOO_LARGE = f"That document is too large. The limit is {MOST_BYTES // 1024} KB."


def _decode(content: bytes) -> str:
    """Decodes a document's text."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise Unreadable("That document isn't UTF-8 text. Please save it as UTF-8 and send it again.")
    text = text.replace("\r\n", "\n").strip()
    if not text:
        raise Unreadable("That document is empty.")
    return text
