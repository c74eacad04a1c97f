"""Finds which day is meant. Pure."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta

from relay.memory.reminders.languages.language import DAY, MONTH, WEEK, YEAR
from relay.memory.reminders.meaning.found import Open
from relay.memory.reminders.reading.parts import Reading


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
        if day <= month_days(of_year, at % 12 + 1) and (one := date(of_year, at % 12 + 1, day)) >= today:
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
    return local.replace(year=year, month=month, day=min(local.day, month_days(year, month)))


def month_days(year: int, month: int) -> int:
    """Returns the number of days in a month."""
    return ((date(year + month // 12, month % 12 + 1, 1)) - date(year, month, 1)).days
