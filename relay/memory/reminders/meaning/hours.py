"""Finds which time of day is meant. Pure."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta

from relay.memory.reminders.languages.language import AFTERNOON, MORNING, NOON
from relay.memory.reminders.meaning.found import Open
from relay.memory.reminders.reading.parts import Reading


def clock_of(reading: Reading, now: datetime) -> time | Open | None:
    """Returns the time of day that was said; None: none was. The end of a day is the beginning of the next one, see
    `place_time`."""
    if reading.hour is None:
        return None
    hour, minute = reading.hour, reading.minute
    if hour == 24 and minute == 0:
        midnight_of_a_day = reading.days not in (None, 0) or reading.weekdays or reading.day or reading.slashed
        return (
            Open("At the beginning of that day, or at its end? Write the day with 0:00 or 23:59.")
            if midnight_of_a_day and not reading.exact
            else time(0, 0, fold=1)
        )
    if not reading.exact and hour in range(1, 7) and not reading.part:
        return Open(f"In the morning or in the afternoon? Write {time(hour, minute):%H:%M} or {hour + 12}:{minute:02}.")
    if not reading.part or hour > 12:
        return (
            Open("That hour isn't in the morning. Use the 24-hour clock: 9:00 or 21:00.")
            if reading.part == MORNING and hour > 12
            else time(hour, minute)
        )
    return of_part(reading, hour, minute, now)


def of_part(reading: Reading, hour: int, minute: int, now: datetime) -> time | Open:
    """Returns an hour up to 12 in a part of the day: 8 in the evening is 20:00; tonight at 2 is tomorrow's 2:00."""
    unclear = Open("Which hour do you mean? Use the 24-hour clock: 9:00 or 21:00.")
    if reading.part == MORNING:
        return time(hour, minute)
    if reading.part == NOON:
        return time(hour, minute) if hour in (11, 12) else time(hour + 12, minute) if hour in (1, 2, 3) else unclear
    if hour in (0, 12):
        return unclear
    if reading.part == AFTERNOON or hour > 4:
        return time(hour + 12, minute)
    if reading.days == 0:
        return time(hour, minute, fold=int(now.hour > hour))
    return time(hour, minute) if reading.every else unclear


def place_time(day: date, clock: time) -> datetime:
    """Returns a local time. `fold` marks an hour after the end of that day."""
    return datetime.combine(day + timedelta(days=clock.fold), clock.replace(fold=0))
