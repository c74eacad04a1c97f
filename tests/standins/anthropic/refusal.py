"""What the API does not take."""


class BadRequestError(Exception):
    """The request is refused with this message."""
