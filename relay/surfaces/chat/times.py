"""Times as people read them."""

from __future__ import annotations

from datetime import datetime, tzinfo


def moment(at: str, zone: tzinfo) -> str:
    """An ISO 8601 time in a zone, to the minute."""
    return f"{datetime.fromisoformat(at).astimezone(zone):%Y-%m-%d %H:%M}"


def day(at: str, zone: tzinfo) -> str:
    """The date of an ISO 8601 time in a zone."""
    return f"{datetime.fromisoformat(at).astimezone(zone):%Y-%m-%d}"
