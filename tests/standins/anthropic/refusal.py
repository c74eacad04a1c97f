"""The error for requests that the API refuses."""


class BadRequestError(Exception):
    """The request is refused with this message."""
