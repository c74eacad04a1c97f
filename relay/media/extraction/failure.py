"""The reason why a file cannot be used."""

from __future__ import annotations

NO_SOUND = "There's no sound in it."
LOCKED = "It's protected by a password. Please send a copy without one."


class Unusable(Exception):
    """A file cannot be used. The text is a sentence for the person who sent it."""
