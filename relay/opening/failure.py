"""Why a file cannot be used."""


class Unusable(Exception):
    """A sentence for whoever sent the file."""
