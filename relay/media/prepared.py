"""Files made ready for the model, kept in memory for a while. Nothing of them is on the disk."""

from __future__ import annotations

import asyncio
import base64
from dataclasses import dataclass

from relay.core.models import Block
from relay.media.cache import Cache

MOST = 16 * 2**20
"""Characters of base64 that are kept."""
PIECE = 3 * 2**16
"""Bytes that are turned into base64 at a time: nothing else runs meanwhile, also not in another thread."""
PDF = "application/pdf"


@dataclass(frozen=True, slots=True)
class Prepared:
    """A picture as the model sees it, or a document."""

    data: str
    """In base64, as it is sent."""
    mime: str
    width: int = 0
    height: int = 0
    frames: int = 1
    """Of how many pictures the animation is made of which this shows some."""
    preview: bool = False
    """Only the small picture that Telegram made of the file."""

    @property
    def bytes(self) -> int:
        """How many it is made of."""
        return len(self.data) // 4 * 3 - self.data[-2:].count("=")

    def as_sent(self) -> Block:
        """As Anthropic's API takes it."""
        source = {"type": "base64", "media_type": self.mime, "data": self.data}
        return {"type": "document" if self.mime == PDF else "image", "source": source}


async def in_base64(content: bytes) -> str:
    """As it is sent. It is made in a thread, in pieces, so that others are served meanwhile."""

    def made() -> str:
        pieces = range(0, len(content), PIECE)
        return b"".join(base64.b64encode(content[start : start + PIECE]) for start in pieces).decode()

    return await asyncio.to_thread(made)


def new_cache(most: int = MOST) -> Cache[Prepared]:
    """`most`: characters of base64."""
    return Cache(most, lambda prepared: len(prepared.data))
