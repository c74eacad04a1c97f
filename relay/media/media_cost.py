"""What files that are shown to the model cost: tokens, as its maker counts them, and bytes. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from relay.core.models import Block
from relay.media.extraction import image_tokens

DOCUMENT_BYTES = 5 * 2**20
"""Of documents that are shown as they are, together."""
PICTURE_BYTES = 1_000_000
"""As many as a picture that was made ready has at most."""
PAGE_TOKENS = 2_500
"""A page of a PDF is read as a picture and as text: 1,500 to 3,000 tokens."""
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
    width, height = (number(block.get(side)) or number(block["file"].get(side)) for side in ("width", "height"))
    return min(image_tokens.patches(width, height), image_tokens.MOST) or image_tokens.MOST


def pages_of(block: Block) -> int:
    """How many pages a stored document has; at least one."""
    return max(1, number(block.get("pages")))


def bytes_of(block: Block) -> int:
    """How many bytes of a stored picture or document are sent; the most it may be when that is not known."""
    if block["type"] == "document":
        return number(block["file"].get("size")) or DOCUMENT_BYTES
    return number(block.get("bytes")) or PICTURE_BYTES


def number(value: Any) -> int:
    """A whole number from 0 on, as what is stored should hold; 0 for anything else, which may have been imported."""
    return int(value) if is_number(value) else 0


def is_number(value: Any) -> bool:
    """Whether it is a whole number from 0 on."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53


def first_kept(weights: Sequence[int], most: int) -> int:
    """From which on the newest of some weights fit, when the oldest go in steps of a quarter of what may be: so the
    beginning of a prompt stays the same from turn to turn, and cached."""
    surplus = sum(weights) - most
    if surplus <= 0:
        return 0
    step = max(1, most // 4)
    surplus = -(-surplus // step) * step
    for place, weight in enumerate(weights):
        if surplus <= 0:
            return place
        surplus -= weight
    return len(weights)
