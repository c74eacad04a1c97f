"""Files of Telegram messages. Pure."""

from __future__ import annotations

import unicodedata

from relay.core.models import Attachment
from relay.media.reading import NAMES
from relay.surfaces.telegram.parsing.contents import Contents, MediaFile

KINDS = ("voice", "audio", "video_note", "animation", "video", "photo", "sticker", "document")
"""Kinds of files, in order of precedence: an animation also has a `document`."""
NAME_LENGTH = 120


def file_in_words(message: Contents) -> str:
    """Describes a message's file; empty if it has none."""
    attachment = attachment_of(message)
    return f"({NAMES[attachment.kind]} {attachment.name}".rstrip() + ")" if attachment else ""


def attachment_of(message: Contents) -> Attachment | None:
    """Returns the file of a message; of a photo, its largest size."""
    for kind in KINDS:
        found: MediaFile | None = getattr(message, kind) if kind != "photo" else largest(message.photo)
        if found and found.file_id:
            return Attachment(
                kind=kind,
                file_id=found.file_id,
                unique_id=found.file_unique_id or found.file_id,
                name=_name(found.emoji if kind == "sticker" else title_of(found) or found.file_name),
                mime=_sticker_mime(found) if kind == "sticker" else found.mime_type[:NAME_LENGTH].lower(),
                size=found.file_size,
                seconds=found.duration,
                width=found.width or found.length,
                height=found.height or found.length,
                preview=found.thumbnail.file_id if found.thumbnail else "",
            )
    return None


def title_of(found: MediaFile) -> str:
    """Returns a piece of music's performer and title; empty for other files."""
    if not found.title:
        return ""
    return " – ".join(filter(None, (found.performer, found.title))).replace("/", "-").replace("\\", "-")


def is_broken(message: Contents) -> bool:
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
    """Cleans a file name: one line, without directories. A Mac writes ü as two characters, which no search finds."""
    text = "".join(c for c in unicodedata.normalize("NFC", value) if c.isprintable())
    return text.replace("\\", "/").rsplit("/", 1)[-1].strip()[:NAME_LENGTH]
