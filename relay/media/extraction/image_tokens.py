"""What a picture costs, as its maker counts: a token for each patch of 28 × 28 pixels, and no more than so many."""

from __future__ import annotations

SIDE = 28
MOST = 1568


def patches(width: int, height: int) -> int:
    """Of how many a picture consists, in pixels."""
    return -(-width // SIDE) * -(-height // SIDE)
