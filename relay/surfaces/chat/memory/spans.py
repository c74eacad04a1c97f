"""Parses times and durations as people write them. Pure."""

from __future__ import annotations

import re
from datetime import UTC, datetime, time, timedelta

from relay.core.errors import OutOfRange

FOR = re.compile(r"(?:for )?(\d{1,4}) ?(m|min|minutes?|h|hours?|d|days?|w|weeks?)", re.IGNORECASE)
UNTIL = re.compile(r"(?:until )?(?:(\d{4}-\d{1,2}-\d{1,2}|tomorrow|today))?(?: ?(\d{1,2})[:.](\d{2}))?", re.IGNORECASE)
MINUTES = {"m": 1, "h": 60, "d": 24 * 60, "w": 7 * 24 * 60}
DAYS = "dw"
HOW = "Write {0} 2h (or 30m, 3d, 1w), or {0} until 2026-12-24 (or tomorrow, or 18:00)."


def pause_end(text: str, now: datetime, command: str) -> datetime:
    """Parses the end of a pause. `command`: what begins one. Raises `OutOfRange` unless it is a time after now."""
    end = parse_until(text, now)
    if end is None:
        raise OutOfRange(HOW.format(command))
    return end


def parse_until(text: str, now: datetime) -> datetime | None:
    """Parses a moment after `now`, in its time zone; None if the text names none."""
    text = " ".join(text.split())
    if (span := FOR.fullmatch(text)) is not None:
        return add_span(now, int(span[1]), span[2][0].lower()) if int(span[1]) else None
    named = UNTIL.fullmatch(text)
    if named is None or not (named[1] or named[2]):
        return None
    try:
        date = _date(named[1], now)
        clock = time(int(named[2]), int(named[3])) if named[2] else time()
        found = datetime.combine(date, clock, now.tzinfo)
    except ValueError:
        return None
    # The hour may come twice when summer time ends. In one zone, Python compares what clocks show.
    choices = [found, found.replace(fold=1), *([] if named[1] else [found + timedelta(days=1)])]
    return next((one for one in choices if one.astimezone(UTC) > now.astimezone(UTC)), None)


def add_span(now: datetime, amount: int, unit: str) -> datetime:
    """Returns the moment after a span: of minutes and hours, as time passes; of days and weeks, at this time of day."""
    span = timedelta(minutes=amount * MINUTES[unit])
    return now + span if unit in DAYS else (now.astimezone(UTC) + span).astimezone(now.tzinfo)


def _date(name: str | None, now: datetime) -> datetime:
    if name is None or name.lower() == "today":
        return now
    if name.lower() == "tomorrow":
        return now + timedelta(days=1)
    return datetime(*(int(part) for part in name.split("-")))  # type: ignore[arg-type]
