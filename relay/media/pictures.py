"""Pictures: photos, stickers, animations, and files with pictures."""

from __future__ import annotations

from dataclasses import asdict, replace

from relay.core.errors import MediaRefused
from relay.core.models import Attachment, Block
from relay.core.ports import FileExtractor
from relay.media.cache import Cache
from relay.media.files import Files, preview_id
from relay.media.prepared import PreparedFile, encode_base64
from relay.media.reading import NAMES, FileContents

SIGNS = {"photo": "📷", "sticker": "🏷", "animation": "🎞"}
STILL = 300_000
"""The size that is assumed for a preview, in bytes: more than Telegram's own have."""
FIRST = "I see the first of its {pages} pages. Send it as a PDF to show me all of them."
NO_PREVIEW = "It's an animation, and Telegram sent no still picture of it. Please send a screenshot."


class Pictures:
    """Reads pictures."""

    def __init__(self, files: Files, extractor: FileExtractor, max_pixels: int, cache: Cache[PreparedFile]) -> None:
        self._files = files
        self._extractor = extractor
        self._max_pixels = max_pixels
        self._cache = cache

    async def read(self, attachment: Attachment) -> FileContents:
        made = await self.prepare(attachment)
        block: Block = {"type": "image", "untrusted": "image", "file": asdict(attachment)}
        block |= {"width": made.width, "height": made.height, "bytes": made.bytes}
        block |= {"frames": made.frames} if made.frames > 1 else {}
        block |= {"preview": True} if made.preview else {}
        notice = f"{describe_picture(attachment)}: {FIRST.format(pages=made.pages)}" if made.pages > 1 else ""
        return FileContents([block], describe_picture(attachment), notice=notice)

    async def prepare(self, attachment: Attachment) -> PreparedFile:
        """Returns a picture as the model sees it, from the cache if possible. Raises `MediaRefused`."""
        made = self._cache.get(attachment.unique_id)
        if made is None:
            made = await self._make(attachment)
            self._cache.put(attachment.unique_id, made)
        return made

    async def _make(self, attachment: Attachment) -> PreparedFile:
        """Fetches and opens a picture. For videos and unknown formats, uses Telegram's preview."""
        if not moves(attachment):
            try:
                return await self._open(attachment)
            except MediaRefused:
                if not attachment.preview:
                    raise
        if not attachment.preview:
            raise MediaRefused(NO_PREVIEW)
        still = replace(
            attachment, file_id=attachment.preview, unique_id=preview_id(attachment.unique_id), mime="", size=STILL
        )
        return replace(await self._open(still), preview=True)

    async def _open(self, attachment: Attachment) -> PreparedFile:
        async with self._files.open(attachment) as content:
            told, (made,) = await self._extractor.open("picture", content, max_pixels=self._max_pixels)
        return PreparedFile(await encode_base64(made), **told)


def moves(attachment: Attachment) -> bool:
    """Tests whether a file is a video or an animated drawing, which can't be opened here."""
    return attachment.mime.startswith("video/") or attachment.mime == "application/x-tgsticker"


def describe_picture(attachment: Attachment) -> str:
    """Describes a picture in words, for the record."""
    what = f"{NAMES[attachment.kind]} {attachment.name}".strip() if attachment.kind != "document" else attachment.name
    return f"{SIGNS.get(attachment.kind, '🖼')} {what or 'picture'}"
