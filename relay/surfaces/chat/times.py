"""Times as people read them."""

from __future__ import annotations

from datetime import datetime, tzinfo


def moment(at: datetime, zone: tzinfo) -> str:
    """Formats an aware time in a zone, to the minute."""
    return f"{at.astimezone(zone):%Y-%m-%d %H:%M}"


def day(at: datetime, zone: tzinfo) -> str:
    """Formats the date of an aware time in a zone."""
    return f"{at.astimezone(zone):%Y-%m-%d}"
