"""The file that a Telegram message carries. Pure."""

from __future__ import annotations

from relay.core.models import Attachment
from relay.surfaces.telegram.parsing.contents import MediaFile
from relay.surfaces.telegram.parsing.objects import Message

KINDS = ("voice", "audio", "video_note", "animation", "video", "photo", "sticker", "document")
"""An animation comes with a `document` of its own, so it is looked for first."""
NAME_LENGTH = 120


def attachment_of(message: Message) -> Attachment | None:
    """The file of a message: of a photo, its largest size."""
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
    """Whether a message carries a file that cannot be fetched."""
    return any(getattr(message, kind) for kind in KINDS) and attachment_of(message) is None


def largest(sizes: tuple[MediaFile, ...]) -> MediaFile | None:
    """The size of a photo with the most pixels."""
    return max(sizes, key=lambda size: size.width * size.height, default=None)


def _sticker_mime(sticker: MediaFile) -> str:
    """The type of a sticker's file, which Telegram tells in words of its own."""
    if sticker.is_animated:
        return "application/x-tgsticker"
    return "video/webm" if sticker.is_video else "image/webp"


def _name(value: str) -> str:
    """A name on one line, without what could lead out of a folder."""
    text = "".join(c for c in value if c.isprintable())
    return text.replace("\\", "/").rsplit("/", 1)[-1].strip()[:NAME_LENGTH]
