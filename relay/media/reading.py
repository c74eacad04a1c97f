"""Reads people's files and describes them: as blocks for the model and the record, and in words."""

from __future__ import annotations

from dataclasses import asdict, field
from typing import Any, Protocol

from relay.core import metrics
from relay.core.errors import MediaRefused
from relay.core.frozen import frozen
from relay.core.models import Attachment, Block

NAMES = {
    "voice": "voice note",
    "audio": "recording",
    "video_note": "video note",
    "video": "video",
    "photo": "photo",
    "animation": "animation",
    "sticker": "sticker",
    "document": "file",
}
SPOKEN = ("voice", "video_note")
"""Kinds that are recorded in the chat, so they are the sender's own words. Other recordings may be anyone's."""


@frozen
class FileContents:
    """The contents of a file."""

    blocks: list[Block]
    """Stored with the message. Each has the `file` (the attachment) but no content."""
    text: str
    """The file in words, for the record and for search: a transcript, or that there is a photo."""
    documents: list[dict[str, Any]] = field(default_factory=list)
    """The file's text if that is stored in parts: see `Incoming.documents`."""
    notice: str = ""
    """A sentence for the sender about what was not used."""
    cause: str = ""
    """The same with more detail, for people who run Relay."""

    def notice_to(self, operator: bool) -> str:
        """Returns the notice for the sender; empty: none. `operator`: they run Relay."""
        return (self.cause if operator else "") or self.notice


class Kind(Protocol):
    """Reads one kind of file."""

    async def read(self, attachment: Attachment) -> FileContents:
        """Reads a file. Raises `MediaRefused` if it can't be used."""
        ...


class Reader:
    """Reads files of all kinds."""

    def __init__(self, sounds: Kind, pictures: Kind, documents: Kind) -> None:
        self._kinds: dict[str, Kind] = {
            **dict.fromkeys(("voice", "audio", "video_note", "video"), sounds),
            **dict.fromkeys(("photo", "animation", "sticker"), pictures),
            "document": documents,
        }

    async def read(self, attachment: Attachment) -> FileContents:
        """Reads a file. If it can't be used, says so in `notice` and to the model."""
        with metrics.count_file(attachment.kind) as told:
            try:
                return await self._kinds[attachment.kind].read(attachment)
            except MediaRefused as error:
                told("refused")
                return report_refusal(attachment, error)


def report_refusal(attachment: Attachment, error: MediaRefused) -> FileContents:
    """Returns the result for an unusable file. The model gets no more than people who don't run Relay."""
    what = f"{NAMES[attachment.kind]} {attachment.name}".strip()
    told = f"(a {what}, which could not be opened: {error.plain})"
    block = {"type": "text", "text": told, "untrusted": "file", "unread": True, "file": asdict(attachment)}
    line = f"⚠️ I couldn't use your {what}."
    return FileContents([block], "", notice=f"{line} {error.plain}", cause=f"{line} {error}")
