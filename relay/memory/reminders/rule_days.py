"""Tests whether a rule has any day within a span. Pure.

`dateutil` searches for a rule's first time up to the year 9999, which takes seconds or minutes if there is none. So the
days of a rule are tested first, at most those of the span.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta

from relay.core.frozen import frozen

CODES = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
STEPS = {"MINUTELY": timedelta(minutes=1), "HOURLY": timedelta(hours=1)}
DAY_BY_DAY = frozenset(("DAILY", *STEPS))
"""Frequencies whose periods have at most one day."""
WEEKDAY = re.compile(r"([+-]?\d{1,2})?(MO|TU|WE|TH|FR|SA|SU)")


@frozen
class RuleDays:
    """Which days a rule chooses in each of its periods; an empty part chooses all of them."""

    freq: str
    months: frozenset[int]
    month_days: frozenset[int]
    weekdays: frozenset[int]
    places: frozenset[tuple[int, int]]
    """The place of a weekday within the month or year, and the weekday: (-1, 4) is the last Friday."""
    positions: Sequence[int]

    def fits(self, day: date) -> bool:
        """Tests whether the rule chooses a day, before `positions`."""
        if self.months and day.month not in self.months:
            return False
        if self.month_days and day.day not in self.month_days and -days_left(day) not in self.month_days:
            return False
        if self.weekdays and day.weekday() not in self.weekdays:
            return False
        return not self.places or any((place, day.weekday()) in self.places for place in self.places_of(day))

    def places_of(self, day: date) -> tuple[int, int]:
        """Returns the place of a day among the same weekdays of its month or year, from the beginning and the end."""
        at, left = day.day, days_left(day)
        if self.freq == "YEARLY" and not self.months:
            at, left = day.timetuple().tm_yday, (date(day.year + 1, 1, 1) - day).days
        return (at - 1) // 7 + 1, -((left - 1) // 7 + 1)

    def choose(self, period: Sequence[date]) -> Sequence[date]:
        """Returns the days of a period that the rule chooses."""
        found = [day for day in period if self.fits(day)]
        if not self.positions or not found:
            return found
        chosen = (at - (at > 0) for at in self.positions)
        return [found[at] for at in chosen if -len(found) <= at < len(found)]


def comes(parts: Mapping[str, str], start: datetime, span: timedelta) -> bool:
    """Tests whether a rule that starts at a local time has a time within a span, without regard to UNTIL. Raises
    `ValueError` if a part can't be read."""
    days, interval = read_days(parts, start), int(parts.get("INTERVAL", "1"))
    if days.positions and days.freq in DAY_BY_DAY and not {1, -1} & set(days.positions):
        return False
    step = STEPS[days.freq] * interval if days.freq in STEPS else None
    return any(
        day >= start.date() and (step is None or on_grid(day, start, step))
        for period in periods(days.freq, interval, start.date(), (start + span).date())
        for day in days.choose(period)
    )


def read_days(parts: Mapping[str, str], start: datetime) -> RuleDays:
    """Reads which days a rule chooses. If it names none, these are its start's. Raises `ValueError`."""
    freq = parts["FREQ"]
    months, month_days = frozenset(numbers(parts, "BYMONTH")), frozenset(numbers(parts, "BYMONTHDAY"))
    found = [WEEKDAY.fullmatch(one) for one in parts.get("BYDAY", "").split(",") if one]
    named = [(int(match[1] or 0), CODES.index(match[2])) for match in found if match is not None]
    placed = freq in ("MONTHLY", "YEARLY")
    most = 53 if freq == "YEARLY" and not months else 5  # dateutil fails at higher places
    if len(named) < len(found) or (placed and any(abs(place) > most for place, _ in named)):
        raise ValueError("BYDAY lists days such as MO or -1FR")
    weekdays = frozenset(day for place, day in named if not (place and placed))
    if not named and not month_days:
        if freq == "YEARLY":
            months = months or frozenset((start.month,))
        month_days = frozenset((start.day,)) if placed else month_days
        weekdays = frozenset((start.weekday(),)) if freq == "WEEKLY" else weekdays
    places = frozenset(one for one in named if one[0] and placed)
    return RuleDays(freq, months, month_days, weekdays, places, numbers(parts, "BYSETPOS"))


def numbers(parts: Mapping[str, str], name: str) -> list[int]:
    """Returns the numbers of a part of a rule. Raises `ValueError`."""
    return [int(one) for one in parts.get(name, "").split(",") if one]


def periods(freq: str, interval: int, first: date, last: date) -> Iterator[list[date]]:
    """Yields the days of each period of a rule, up to the one that contains `last`. The first week begins at `first`.
    Each day is a period of its own if the rule counts hours or minutes."""
    begin = first
    if freq == "MONTHLY":
        begin = first.replace(day=1)
    elif freq == "YEARLY":
        begin = first.replace(month=1, day=1)
    while begin <= last:
        if freq == "YEARLY":
            end, following = date(begin.year + 1, 1, 1), date(begin.year + interval, 1, 1)
        elif freq == "MONTHLY":
            end, following = months_later(begin, 1), months_later(begin, interval)
        elif freq == "WEEKLY":
            end = begin + timedelta(days=7 - begin.weekday())
            following = end + timedelta(days=7 * (interval - 1))
        else:
            end = begin + timedelta(days=1)
            following = end if freq in STEPS else begin + timedelta(days=interval)
        yield [date.fromordinal(day) for day in range(begin.toordinal(), end.toordinal())]
        begin = following


def days_left(day: date) -> int:
    """Returns the number of days from a day to the end of its month, both included."""
    return monthrange(day.year, day.month)[1] - day.day + 1


def months_later(day: date, months: int) -> date:
    """Returns the first day of the month some months later."""
    at = day.month - 1 + months
    return date(day.year + at // 12, at % 12 + 1, 1)


def on_grid(day: date, start: datetime, step: timedelta) -> bool:
    """Tests whether a rule that comes after each step has a time on a day."""
    steps = max(0, -((start - datetime.combine(day, time())) // step))
    return (start + steps * step).date() == day
