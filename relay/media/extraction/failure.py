"""Why a file cannot be used."""

NO_SOUND = "There is no sound in it."
LOCKED = "It is protected by a password. Please send a copy without one."


class Unusable(Exception):
    """Carries a sentence for whoever sent the file."""
