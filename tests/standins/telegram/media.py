"""Media objects inside messages."""

from __future__ import annotations

import io

from PIL import Image

from tests.standins.telegram.values import Json, Upload
from tests.standins.telegram.world import World

FOLDERS = {
    "voice": "voice",
    "photo": "photos",
    "document": "documents",
    "audio": "music",
    "video": "videos",
    "video_note": "video_notes",
    "animation": "animations",
    "sticker": "stickers",
}
_DEFAULTS = {
    "voice": ("audio.oga", "audio/ogg"),
    "photo": ("photo.jpg", "image/jpeg"),
    "document": ("document.txt", "text/plain"),
    "audio": ("audio.mp3", "audio/mpeg"),
    "video": ("video.mp4", "video/mp4"),
    "video_note": ("note.mp4", "video/mp4"),
    "animation": ("animation.mp4", "video/mp4"),
    "sticker": ("sticker.webp", "image/webp"),
}
PHOTO_SIDES = (90, 320, 800, 1280)
"""The long sides in which Telegram stores a photo. It makes none larger than the original."""
THUMBNAIL = 320


def as_upload(kind: str, value: Upload | bytes | bool) -> Upload:
    """An upload from a test's argument: an upload, its bytes, or just ``True``."""
    if isinstance(value, Upload):
        return value
    name, mime_type = _DEFAULTS[kind]
    return Upload(value if isinstance(value, bytes) else b"\x00" * 64, name, mime_type)


def media_object(world: World, kind: str, upload: Upload) -> Json | list[Json]:
    """Store the upload and describe it: an object, or the sizes of a photo."""
    if kind == "photo":
        return _photo(world, upload)
    result = world.add_file(upload, FOLDERS[kind]).json()
    if kind == "sticker":
        return result | _sticker(world, upload)
    if kind == "video_note":
        return {**result, "duration": upload.duration, "length": 384, **_thumbnail(world, upload)}
    result["mime_type"] = upload.mime_type or _DEFAULTS[kind][1]
    if kind in ("document", "audio", "video", "animation"):
        result["file_name"] = upload.name
    if kind in ("voice", "audio", "video", "animation"):
        result["duration"] = upload.duration
    if kind in ("video", "animation"):
        result.update(width=640, height=360)
    return result | _thumbnail(world, upload)


def _photo(world: World, upload: Upload) -> list[Json]:
    """The sizes of a photo. Telegram converts photos to upright JPEGs with nothing but the pixels. Data that isn't a
    picture is kept unchanged and gets some size."""
    try:
        image = Image.open(io.BytesIO(upload.data)).convert("RGB")
    except OSError:
        file = world.add_file(upload, FOLDERS["photo"])
        small = world.add_file(Upload(upload.data, upload.name), FOLDERS["photo"])
        return [{**small.json(), "width": 90, "height": 60}, {**file.json(), "width": 1280, "height": 853}]
    sides = sorted({min(side, max(image.size)) for side in PHOTO_SIDES})
    return [_size(world, image, side, FOLDERS["photo"], upload.name) for side in sides]


def _size(world: World, image: Image.Image, side: int, folder: str, name: str) -> Json:
    """A picture in one size, as its own JPEG."""
    copy, content = image.copy(), io.BytesIO()
    copy.thumbnail((side, side))
    copy.save(content, "JPEG", quality=87)
    file = world.add_file(Upload(content.getvalue(), name, "image/jpeg"), folder)
    return {**file.json(), "width": copy.width, "height": copy.height}


def _thumbnail(world: World, upload: Upload) -> Json:
    """The thumbnail that Telegram makes of a file, if the test gives one."""
    if upload.thumbnail is None:
        return {}
    image = Image.open(io.BytesIO(upload.thumbnail)).convert("RGB")
    thumbnail = _size(world, image, THUMBNAIL, "thumbnails", "thumb.jpg")
    return {"thumbnail": thumbnail, "thumb": thumbnail}


def _sticker(world: World, upload: Upload) -> Json:
    """A sticker has no MIME type. Its extension tells whether it is drawn (.tgs), a video (.webm) or still (.webp)."""
    told = {"width": 512, "height": 512, "type": "regular", "emoji": "😀", "set_name": "Faces"}
    kind = {"is_animated": upload.name.endswith(".tgs"), "is_video": upload.name.endswith(".webm")}
    return told | kind | _thumbnail(world, upload)


def sound_type(data: bytes) -> str | None:
    """The MIME type of a file that sendVoice accepts; None for anything else."""
    if data.startswith(b"OggS"):
        return "audio/ogg"
    if data.startswith(b"ID3") or (data[:1] == b"\xff" and data[1:2] >= b"\xe2"):
        return "audio/mpeg"
    return "audio/mp4" if data[4:8] == b"ftyp" else None
