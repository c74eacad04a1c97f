"""Finds time zones by common names. Pure."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo, available_timezones


def zones_named(words: str) -> list[str]:
    """Returns the IANA zones that match words: full name or city, ignoring case."""
    name = "_".join(words.strip().lower().split())
    known = _zones()
    if name in known:
        return [known[name]]
    found = sorted(zone for key, zone in known.items() if key.rsplit("/", 1)[-1] == name)
    return found if len({_offsets(zone) for zone in found}) > 1 else sorted(found, key=len)[:1]


def _offsets(zone: str) -> tuple[timedelta | None, ...]:
    """Returns a zone's offsets through a year. Names of one place (Asia/Istanbul, Europe/Istanbul) have the same
    offsets."""
    return tuple(datetime(2026, month, 1, tzinfo=ZoneInfo(zone)).utcoffset() for month in range(1, 13))


@cache
def _zones() -> dict[str, str]:
    """Returns all zones by lower-case name."""
    return {zone.lower(): zone for zone in available_timezones() if zone not in ("Factory", "localtime")}
