"""The file that a Telegram message carries. Pure."""

from __future__ import annotations

from typing import Any

from relay.core.models import Attachment

Json = dict[str, Any]
KINDS = ("voice", "audio", "video_note", "animation", "video", "photo", "sticker", "document")
"""An animation comes with a `document` of its own, so it stands before."""
NAME_LENGTH = 120


def attachment_of(message: Json) -> Attachment | None:
    """The file of a message: of a photo, its largest size."""
    for kind in KINDS:
        found = message.get(kind)
        if kind == "photo" and isinstance(found, list):
            found = max((one for one in found if isinstance(one, dict)), key=_pixels, default=None)
        if isinstance(found, dict) and isinstance(found.get("file_id"), str):
            return Attachment(
                kind=kind,
                file_id=found["file_id"],
                unique_id=str(found.get("file_unique_id") or found["file_id"]),
                name=_name(found.get("emoji") if kind == "sticker" else found.get("file_name")),
                mime=_sticker_mime(found) if kind == "sticker" else _mime(found.get("mime_type")),
                size=_number(found.get("file_size")),
                seconds=_number(found.get("duration")),
                width=_number(found.get("width") or found.get("length")),
                height=_number(found.get("height") or found.get("length")),
                preview=_preview(found.get("thumbnail")),
            )
    return None


def _pixels(size: Json) -> int:
    return _number(size.get("width")) * _number(size.get("height"))


def _mime(value: Any) -> str:
    return value[:NAME_LENGTH].lower() if isinstance(value, str) else ""


def _sticker_mime(sticker: Json) -> str:
    """Of what type a sticker is; Telegram tells it in words of its own."""
    if sticker.get("is_animated"):
        return "application/x-tgsticker"
    return "video/webm" if sticker.get("is_video") else "image/webp"


def _preview(thumbnail: Any) -> str:
    found = thumbnail.get("file_id") if isinstance(thumbnail, dict) else None
    return found if isinstance(found, str) else ""


def _number(value: Any) -> int:
    return value if isinstance(value, int) and 0 <= value < 2**53 else 0


def _name(value: Any) -> str:
    """A name on one line, without what could lead out of a folder."""
    text = "".join(c for c in value if c.isprintable()) if isinstance(value, str) else ""
    return text.replace("\\", "/").rsplit("/", 1)[-1].strip()[:NAME_LENGTH]
