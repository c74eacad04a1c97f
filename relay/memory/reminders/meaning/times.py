"""What a phrase leaves open, and the days and hours that its words mean. Pure."""

from __future__ import annotations

from calendar import monthrange
from datetime import UTC, date, datetime, time, timedelta

from relay.core.frozen import frozen
from relay.memory.reminders.languages.language import AFTERNOON, DAY, MONTH, MORNING, NIGHT, NOON, WEEK, YEAR
from relay.memory.reminders.reading.parts import Reading

WHICH_HOURS = "At which hours? Write: every 2 hours from 9 to 18, from 22 to 6, or around the clock."
ONE_TIME = "Please give one time for each reminder, or one rule: every day 8:00 and 20:00."
FARTHEST = timedelta(days=20 * 366)


@frozen
class Moment:
    """The only time, or the first with its rule."""

    start: datetime
    rule: str = ""
    local: datetime | None = None
    """The local time that was said, if the clocks may skip it."""


@frozen
class Open:
    """What is left open, as a question to the person."""

    question: str
    lacking: bool = False
    """Only the day or the hour is missing."""


def is_ahead(found: datetime, now: datetime) -> bool:
    """Tests whether a moment is in the future. In one zone, Python compares what clocks show, which may be the same
    twice."""
    return found.astimezone(UTC) > now.astimezone(UTC)


def bound_moment(found: datetime, now: datetime, rule: str = "", local: datetime | None = None) -> Moment | Open:
    """Returns a moment, unless it is too far in the future."""
    if found - now > FARTHEST:
        return Open("That's more than 20 years away. Please choose an earlier time.")
    return Moment(found, rule, local)


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
    if not reading.exact and hour == 0 and minute and not reading.part:  # halb eins
        return Open(f"In the night or at noon? Write {time(hour, minute):%H:%M} or 12:{minute:02}.")
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
        hour = 12 if hour == 0 and not reading.exact else hour  # mittags um halb eins
        return time(hour, minute) if hour in (11, 12) else time(hour + 12, minute) if hour in (1, 2, 3) else unclear
    if hour in (0, 12) or (reading.part == NIGHT and hour == 5):
        return unclear
    if reading.part == AFTERNOON or hour > 4:
        return time(hour + 12, minute)
    if reading.days == 0:
        return time(hour, minute, fold=int(now.hour > hour))
    # At 2 at night and every night at 2 are clear. The night of Friday may end on Saturday.
    clear = reading.has_only_hour or (reading.every and not reading.has_day)
    return time(hour, minute) if clear else unclear


def place_time(day: date, clock: time) -> datetime:
    """Returns a local time. `fold` marks an hour after the end of that day."""
    return datetime.combine(day + timedelta(days=clock.fold), clock.replace(fold=0))


def days_of(reading: Reading, now: datetime) -> list[date] | Open | None:
    """Returns the days that may be meant, in order; None: no day was said."""
    today = now.date()
    if reading.days is not None:
        return [today + timedelta(days=reading.days + 7 * reading.weeks)]
    if reading.weekdays:
        return weekday_of(reading, today)
    if reading.slashed is not None:
        one, two = reading.slashed
        if one <= 12 and two <= 12 and one != two:
            return Open("Which one is the month? Write the date as 2026-12-24, or 24 December.")
        day, month = (two, one) if two > 12 else (one, two)
        return dates(reading.year, month, day, today)
    if reading.day is not None and reading.next_unit == MONTH and reading.month is None:
        following = step(datetime.combine(today.replace(day=1), time()), 1, MONTH)
        return [date(following.year, following.month, reading.day)]
    if reading.day is not None:
        return dates(reading.year, reading.month, reading.day, today)
    if reading.next_unit:
        return Open("Which day? Write, for example: next week friday 9:00.", lacking=True)
    return None


def weekday_of(reading: Reading, today: date) -> list[date] | Open:
    """Returns the days that a day of the week may mean: the coming one, one of next week, or the one of a date."""
    if len(reading.weekdays) > 1:
        return Open("Which day? For more than one, write: every monday and friday 8:00.")
    [weekday] = reading.weekdays
    if reading.day is not None:
        [found, *_] = dates(reading.year, reading.month, reading.day, today)
        if found.weekday() == weekday:
            return [found]
        return Open("That date is a different day of the week. Write only the date, or only the day.")
    coming = today + timedelta(days=(weekday - today.weekday()) % 7)
    if reading.next_unit == WEEK:
        return [today + timedelta(days=7 - today.weekday() + weekday)]
    if reading.next_unit:
        return Open("Which day? Write the date, for example: 2026-12-24 18:00.")
    if reading.weeks:
        return [coming + timedelta(days=7 * reading.weeks)]
    # On Wednesday, next Monday is the coming one, but next Friday may be one of two.
    if reading.following and (weekday >= today.weekday() or coming - today < timedelta(days=3)):
        first = coming if coming > today else coming + timedelta(days=7)
        second = first + timedelta(days=7)
        return Open(f"Which one: {first:%Y-%m-%d} or {second:%Y-%m-%d}? Write the date, or the day without “next”.")
    return [coming, coming + timedelta(days=7)]


def dates(year: int | None, month: int | None, day: int, today: date) -> list[date]:
    """Returns the dates that may be meant: of the year if one was said, else the next ones of this month or year."""
    if year is not None and month is not None:
        return [date(year, month, day)]
    if not 1 <= day <= 31 or (month is not None and not 1 <= month <= 12):
        raise ValueError(day)
    found = []
    for ahead in range(60 if month is None else 9):
        at = today.month - 1 + ahead if month is None else month - 1
        of_year = today.year + (at // 12 if month is None else ahead)
        if day <= monthrange(of_year, at % 12 + 1)[1] and (one := date(of_year, at % 12 + 1, day)) >= today:
            found.append(one)
    if not found:
        raise ValueError(day)
    return found[:2]


def step(local: datetime, amount: int, unit: str) -> datetime:
    """Returns a local time some days, weeks, months or years later. If a month is too short, its last day is used."""
    if unit in (DAY, WEEK):
        return local + timedelta(days=amount * (7 if unit == WEEK else 1))
    months = local.month - 1 + amount * (12 if unit == YEAR else 1)
    year, month = local.year + months // 12, months % 12 + 1
    return local.replace(year=year, month=month, day=min(local.day, monthrange(year, month)[1]))
