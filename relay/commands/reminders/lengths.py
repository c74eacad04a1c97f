"""Bounds phrases before they are read."""

from __future__ import annotations

from relay.core.errors import OutOfRange
from relay.core.limits import PHRASE_LENGTH


def check_phrase(phrase: str) -> None:
    """Raises `OutOfRange` for a phrase that is too long to be read. Call it before reading: nothing else runs
    meanwhile."""
    if len(phrase) > PHRASE_LENGTH:
        raise OutOfRange(f"That's {len(phrase)} characters; I can read at most {PHRASE_LENGTH} at a time.")
