"""The file that a Telegram message carries. Pure."""

from __future__ import annotations

from typing import Any

from relay.models import Attachment

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
                name=_name(found.get("file_name")),
                mime=str(found.get("mime_type") or "")[:NAME_LENGTH].lower(),
                size=_number(found.get("file_size")),
                seconds=_number(found.get("duration")),
                width=_number(found.get("width") or found.get("length")),
                height=_number(found.get("height") or found.get("length")),
            )
    return None


def _pixels(size: Json) -> int:
    return _number(size.get("width")) * _number(size.get("height"))


def _number(value: Any) -> int:
    return value if isinstance(value, int) and 0 <= value < 2**53 else 0


def _name(value: Any) -> str:
    """A name on one line, without what could lead out of a folder."""
    text = "".join(c for c in value if c.isprintable()) if isinstance(value, str) else ""
    return text.replace("\\", "/").rsplit("/", 1)[-1].strip()[:NAME_LENGTH]
