"""Media objects inside messages."""

from __future__ import annotations

from tests.standins.telegram.values import Json, Upload
from tests.standins.telegram.world import World

FOLDERS = {
    "voice": "voice",
    "photo": "photos",
    "document": "documents",
    "audio": "music",
    "video": "videos",
    "video_note": "video_notes",
}
_DEFAULTS = {
    "voice": ("audio.oga", "audio/ogg"),
    "photo": ("photo.jpg", "image/jpeg"),
    "document": ("document.txt", "text/plain"),
    "audio": ("audio.mp3", "audio/mpeg"),
    "video": ("video.mp4", "video/mp4"),
    "video_note": ("note.mp4", "video/mp4"),
}


def as_upload(kind: str, value: Upload | bytes | bool) -> Upload:
    """An upload from what a test gave: one, its bytes, or just ``True``."""
    if isinstance(value, Upload):
        return value
    name, mime_type = _DEFAULTS[kind]
    return Upload(value if isinstance(value, bytes) else b"\x00" * 64, name, mime_type)


def media_object(world: World, kind: str, upload: Upload) -> Json | list[Json]:
    """Keep the upload and describe it: an object, or the sizes of a photo."""
    file = world.add_file(upload, FOLDERS[kind])
    result = file.json()
    if kind == "photo":
        small = world.add_file(Upload(upload.data, upload.name), FOLDERS[kind])
        return [{**small.json(), "width": 90, "height": 60}, {**result, "width": 1280, "height": 853}]
    if kind == "video_note":
        return {**result, "duration": upload.duration, "length": 384}
    result["mime_type"] = upload.mime_type or _DEFAULTS[kind][1]
    if kind in ("document", "audio", "video"):
        result["file_name"] = upload.name
    if kind in ("voice", "audio", "video"):
        result["duration"] = upload.duration
    if kind == "video":
        result.update(width=640, height=360)
    return result


def sound_type(data: bytes) -> str | None:
    """The MIME type of what sendVoice takes; None for anything else."""
    if data.startswith(b"OggS"):
        return "audio/ogg"
    if data.startswith(b"ID3") or (data[:1] == b"\xff" and data[1:2] >= b"\xe2"):
        return "audio/mpeg"
    return "audio/mp4" if data[4:8] == b"ftyp" else None
