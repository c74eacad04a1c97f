"""The cost of showing files to the model, in tokens and bytes. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from relay.core.models import Block
from relay.media.extraction import image_tokens

DOCUMENT_BYTES = 5 * 2**20
"""The most bytes of all documents shown whole, together."""
PICTURE_BYTES = 1_000_000
"""The most bytes of a prepared picture."""
PAGE_TOKENS = 2_500
"""The tokens of a PDF page, which the model reads as a picture and as text: 1,500 to 3,000."""
PICTURES = ("photo", "sticker", "animation")


def is_image(block: Block) -> bool:
    """Tests whether a stored block is a picture, even if its message was edited since."""
    if block["type"] != "attachment":
        return bool(block["type"] == "image")
    file = block["file"]
    return file["kind"] in PICTURES or str(file.get("mime")).startswith("image/")


def tokens_of(block: Block) -> int:
    """Returns an estimate of the tokens of a stored picture or document."""
    if block["type"] == "document":
        return pages_of(block) * PAGE_TOKENS
    width, height = (number(block.get(side)) or number(block["file"].get(side)) for side in ("width", "height"))
    return min(image_tokens.patches(width, height), image_tokens.MOST) or image_tokens.MOST


def pages_of(block: Block) -> int:
    """Returns a stored document's number of pages, at least one."""
    return max(1, number(block.get("pages")))


def bytes_of(block: Block) -> int:
    """Returns the bytes of a stored picture or document; the maximum if unknown."""
    if block["type"] == "document":
        return number(block["file"].get("size")) or DOCUMENT_BYTES
    return number(block.get("bytes")) or PICTURE_BYTES


def number(value: Any) -> int:
    """Returns a stored whole number, at least 0; 0 for anything else, which may come from an import."""
    return int(value) if is_number(value) else 0


def is_number(value: Any) -> bool:
    """Tests whether a value is a whole number, at least 0."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53


def first_kept(weights: Sequence[int], most: int) -> int:
    """Returns the index of the first of the newest weights that fit together. Drops the oldest in steps of a quarter of
    the limit, so that the beginning of a prompt stays the same from turn to turn, and cached."""
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
