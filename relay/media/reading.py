"""What is in a file that somebody sent: as blocks for the model and the record, and in words."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from relay.core import metrics
from relay.core.errors import MediaRefused
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
"""What people record in the chat: their own words. What another recording says may be anybody's."""


@dataclass(frozen=True, slots=True)
class Read:
    """What a file turned out to hold."""

    blocks: list[Block]
    """As they are stored with the message: each holds the `file` (the attachment) it comes from, none its bytes."""
    text: str
    """What the record says of it in words, and what is found by search: what was spoken, or that there is a photo."""
    documents: list[dict[str, Any]] = field(default_factory=list)
    """Its text, where that is kept in parts: see `Incoming.documents`."""
    notice: str = ""
    """What of it was not used, in a sentence for whoever sent it."""
    cause: str = ""
    """The same for people who run Relay, where that says more."""

    def notice_to(self, operator: bool) -> str:
        """What is said of it to whoever sent it; empty: nothing. `operator`: they run Relay."""
        return (self.cause if operator else "") or self.notice


class Kind(Protocol):
    """Reads one kind of file."""

    async def read(self, attachment: Attachment) -> Read:
        """Raises `MediaRefused`."""
        ...


class Reader:
    """Reads files of all kinds."""

    def __init__(self, sounds: Kind, pictures: Kind, documents: Kind) -> None:
        self._kinds: dict[str, Kind] = {
            **dict.fromkeys(("voice", "audio", "video_note", "video"), sounds),
            **dict.fromkeys(("photo", "animation", "sticker"), pictures),
            "document": documents,
        }

    async def read(self, attachment: Attachment) -> Read:
        """What is in a file; one that cannot be used says so in `notice`, and to the model."""
        with metrics.reading(attachment.kind) as told:
            try:
                return await self._kinds[attachment.kind].read(attachment)
            except MediaRefused as error:
                told("refused")
                return refused(attachment, error)


def refused(attachment: Attachment, error: MediaRefused) -> Read:
    """A file that cannot be used. The model, too, is told no more than people who do not run Relay."""
    what = f"{NAMES[attachment.kind]} {attachment.name}".strip()
    told = f"(a {what}, which could not be opened: {error.plain})"
    block = {"type": "text", "text": told, "untrusted": "file", "unread": True, "file": asdict(attachment)}
    line = f"⚠️ I could not use your {what}."
    return Read([block], "", notice=f"{line} {error.plain}", cause=f"{line} {error}")
