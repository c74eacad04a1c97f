"""Times as people read them."""

from datetime import datetime, tzinfo


def moment(at: datetime | str, zone: tzinfo) -> str:
    """Formats a time (aware, or as ISO 8601) in a zone, to the minute."""
    return f"{local(at, zone):%Y-%m-%d %H:%M}"


def day(at: datetime | str, zone: tzinfo) -> str:
    """Formats the date of a time (aware, or as ISO 8601) in a zone."""
    return f"{local(at, zone):%Y-%m-%d}"


def local(at: datetime | str, zone: tzinfo) -> datetime:
    """Converts a time (aware, or as ISO 8601) to a zone."""
    return (datetime.fromisoformat(at) if isinstance(at, str) else at).astimezone(zone)
