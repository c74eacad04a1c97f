"""Times as people read and write them."""

from __future__ import annotations

from datetime import datetime, tzinfo

from relay.commands.reminders.quiet import read_end
from relay.core.errors import OutOfRange
from relay.memory.reminders.phrases import Understood

HOW = "Write {0} 2h (or 30m, 3d, 1w), or {0} until 2026-12-24 (or tomorrow, or 18:00)."


def moment(at: datetime, zone: tzinfo) -> str:
    """Formats an aware time in a zone, to the minute."""
    return f"{at.astimezone(zone):%Y-%m-%d %H:%M}"


def day(at: datetime, zone: tzinfo) -> str:
    """Formats the date of an aware time in a zone."""
    return f"{at.astimezone(zone):%Y-%m-%d}"


def pause_end(words: str, now: datetime, zone: tzinfo, command: str) -> datetime:
    """Reads the end of a pause. `command`: what begins one. Raises `OutOfRange` unless it is a time after now."""
    for phrase in (words, f"{words} 0:00"):  # a day without an hour is its beginning
        said = read_end(phrase, now, zone)
        if isinstance(said, Understood) and not (said.rule or said.text) and (phrase == words or not said.bare):
            return said.start
    raise OutOfRange(HOW.format(command))
