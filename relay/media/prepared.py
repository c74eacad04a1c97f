"""Files prepared for the model, cached in memory only."""

import asyncio
import base64

from relay.core.frozen import frozen
from relay.core.models import Block
from relay.media.cache import Cache

MOST = 16 * 2**20
"""How many characters of base64 the cache holds."""
PIECE = 3 * 2**16
"""How many bytes are converted to base64 at a time. Nothing else runs meanwhile, not even another thread."""
PDF = "application/pdf"


@frozen
class PreparedFile:
    """A picture as the model sees it, or a document."""

    data: str
    """Base64, as it is sent."""
    mime: str
    width: int = 0
    height: int = 0
    frames: int = 1
    """How many frames the animation has."""
    pages: int = 1
    """How many pages the file has, of which this is the first."""
    preview: bool = False
    """It is only Telegram's small preview of the file."""

    @property
    def bytes(self) -> int:
        """The size in bytes."""
        return len(self.data) // 4 * 3 - self.data[-2:].count("=")

    def to_block(self) -> Block:
        """Returns the block for Anthropic's API."""
        source = {"type": "base64", "media_type": self.mime, "data": self.data}
        return {"type": "document" if self.mime == PDF else "image", "source": source}


async def encode_base64(content: bytes) -> str:
    """Returns content as base64. Works in a thread and in pieces, so that other work continues."""

    def made() -> str:
        pieces = range(0, len(content), PIECE)
        return b"".join(base64.b64encode(content[start : start + PIECE]) for start in pieces).decode()

    return await asyncio.to_thread(made)


def new_cache(most: int = MOST) -> Cache[PreparedFile]:
    """Returns a new cache. `most`: how many characters of base64 it holds."""
    return Cache(most, lambda prepared: len(prepared.data))
