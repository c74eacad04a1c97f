"""Pictures: photos, stickers, animations, and files that are one."""

from __future__ import annotations

from dataclasses import asdict, replace

from relay.core.errors import MediaRefused
from relay.core.models import Attachment, Block
from relay.core.ports import FileExtractor
from relay.media.cache import Cache
from relay.media.files import Files, still_of
from relay.media.prepared import Prepared, in_base64
from relay.media.reading import NAMES, Read

SIGNS = {"photo": "📷", "sticker": "🏷", "animation": "🎞"}
STILL = 300_000
"""Bytes: more than Telegram's own small pictures have."""
NO_PREVIEW = "It is a moving picture, and Telegram gave me no still one of it. Send a screenshot of it."


class Pictures:
    """Looks at pictures."""

    def __init__(self, files: Files, opener: FileExtractor, max_pixels: int, cache: Cache[Prepared]) -> None:
        self._files = files
        self._opener = opener
        self._max_pixels = max_pixels
        self._cache = cache

    async def read(self, attachment: Attachment) -> Read:
        """See `reading.Kind`."""
        made = await self.prepared(attachment)
        block: Block = {
            "type": "image",
            "untrusted": "image",
            "file": asdict(attachment),
            "width": made.width,
            "height": made.height,
            "bytes": made.bytes,
        }
        block |= {"frames": made.frames} if made.frames > 1 else {}
        block |= {"preview": True} if made.preview else {}
        return Read([block], in_words(attachment))

    async def prepared(self, attachment: Attachment) -> Prepared:
        """A picture as the model sees it, from memory if it was looked at lately. Raises `MediaRefused`."""
        made = self._cache.get(attachment.unique_id)
        if made is None:
            made = await self._made(attachment)
            self._cache.put(attachment.unique_id, made)
        return made

    async def _made(self, attachment: Attachment) -> Prepared:
        """Fetches a picture and opens it; of what moves or is of an unknown kind, what Telegram made of it."""
        if not moves(attachment):
            try:
                return await self._opened(attachment)
            except MediaRefused:
                if not attachment.preview:
                    raise
        if not attachment.preview:
            raise MediaRefused(NO_PREVIEW)
        still = replace(
            attachment, file_id=attachment.preview, unique_id=still_of(attachment.unique_id), mime="", size=STILL
        )
        return replace(await self._opened(still), preview=True)

    async def _opened(self, attachment: Attachment) -> Prepared:
        async with self._files.held(attachment) as content:
            told, (made,) = await self._opener.open("picture", content, max_pixels=self._max_pixels)
        return Prepared(await in_base64(made), told["mime"], told["width"], told["height"], told["frames"])


def moves(attachment: Attachment) -> bool:
    """Whether a file is known to be a film or an animated drawing, which is not opened here."""
    return attachment.mime.startswith(("video/", "application/"))


def in_words(attachment: Attachment) -> str:
    """What the record says of a picture."""
    what = f"{NAMES[attachment.kind]} {attachment.name}".strip() if attachment.kind != "document" else attachment.name
    return f"{SIGNS.get(attachment.kind, '🖼')} {what or 'picture'}"
