"""What files that are shown to the model cost: tokens, as its maker counts them, and bytes. Pure."""

from __future__ import annotations

from relay.models import Block

PATCH = 28
PATCHES = 1568
PAGE_TOKENS = 2_500
"""A page of a PDF is read as a picture and as text: 1,500 to 3,000 tokens."""
USUAL_BYTES = 300_000
PICTURES = ("photo", "sticker", "animation")


def is_image(block: Block) -> bool:
    """Whether a stored block is a picture: one that was looked at, or one whose message was edited since."""
    if block["type"] != "attachment":
        return bool(block["type"] == "image")
    file = block["file"]
    return file["kind"] in PICTURES or str(file.get("mime")).startswith("image/")


def tokens_of(block: Block) -> int:
    """About how many tokens a stored picture or document takes when it is shown."""
    if block["type"] == "document":
        return pages_of(block) * PAGE_TOKENS
    width, height = (int(block.get(side) or block["file"].get(side) or 0) for side in ("width", "height"))
    patches = -(-width // PATCH) * -(-height // PATCH)
    return min(patches, PATCHES) or PATCHES


def pages_of(block: Block) -> int:
    """How many pages a stored document has; at least one."""
    return max(1, int(block.get("pages") or 1))


def bytes_of(block: Block) -> int:
    """How many bytes of a stored picture or document are sent, about."""
    known = block["file"].get("size") if block["type"] == "document" else block.get("bytes")
    return int(known or USUAL_BYTES)
