"""Parses times and durations as people write them. Pure."""

import re
from datetime import datetime, time, timedelta

FOR = re.compile(r"(?:for )?(\d{1,4}) ?(m|min|minutes?|h|hours?|d|days?|w|weeks?)", re.IGNORECASE)
UNTIL = re.compile(r"(?:until )?(?:(\d{4}-\d{1,2}-\d{1,2}|tomorrow|today))?(?: ?(\d{1,2})[:.](\d{2}))?", re.IGNORECASE)
MINUTES = {"m": 1, "h": 60, "d": 24 * 60, "w": 7 * 24 * 60}
HOW = "Write /memory pause 2h (or 30m, 3d, 1w), or /memory pause until 2026-12-24 (or tomorrow, or 18:00)."


def parse_until(text: str, now: datetime) -> datetime | None:
    """Parses a moment after `now`, in its time zone; None if the text names none."""
    text = " ".join(text.split())
    if (span := FOR.fullmatch(text)) is not None:
        return now + timedelta(minutes=int(span[1]) * MINUTES[span[2][0].lower()]) if int(span[1]) else None
    named = UNTIL.fullmatch(text)
    if named is None or not (named[1] or named[2]):
        return None
    try:
        date = _date(named[1], now)
        clock = time(int(named[2]), int(named[3])) if named[2] else time()
        found = datetime.combine(date, clock, now.tzinfo)
    except ValueError:
        return None
    if not named[1] and found <= now:
        found += timedelta(days=1)
    return found if found > now else None


def _date(name: str | None, now: datetime) -> datetime:
    if name is None or name.lower() == "today":
        return now
    if name.lower() == "tomorrow":
        return now + timedelta(days=1)
    return datetime(*(int(part) for part in name.split("-")))  # type: ignore[arg-type]
