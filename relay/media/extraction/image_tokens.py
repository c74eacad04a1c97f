"""The tokens of a picture, as Anthropic counts them: one for each patch of 28 × 28 pixels, up to a maximum."""

SIDE = 28
MOST = 1568


def patches(width: int, height: int) -> int:
    """Returns the number of patches of a picture, given its size in pixels."""
    return -(-width // SIDE) * -(-height // SIDE)
