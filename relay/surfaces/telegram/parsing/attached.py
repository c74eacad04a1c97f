"""Finds the file of a Telegram message. Pure."""

from __future__ import annotations

from relay.core.models import Attachment
from relay.surfaces.telegram.parsing.contents import MediaFile
from relay.surfaces.telegram.parsing.objects import Message

KINDS = ("voice", "audio", "video_note", "animation", "video", "photo", "sticker", "document")
"""Kinds of files, in order of precedence: an animation also has a `document`."""
NAME_LENGTH = 120


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
    """Cleans a file name: one line, without directories."""
    text = "".join(c for c in value if c.isprintable())
    return text.replace("\\", "/").rsplit("/", 1)[-1].strip()[:NAME_LENGTH]
