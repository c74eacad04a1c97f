"""Combines the parts of a phrase into the moment or rule that they mean. Pure."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta, tzinfo

from relay.memory.reminders.languages.language import HOUR, MINUTE, Language
from relay.memory.reminders.meaning.days import days_of, step
from relay.memory.reminders.meaning.found import Moment, Open, bound_moment, is_ahead
from relay.memory.reminders.meaning.hours import clock_of, place_time
from relay.memory.reminders.meaning.rules import again
from relay.memory.reminders.reading.parts import Reading
from relay.memory.reminders.recurrence import BadRule, localize


def resolve(reading: Reading, language: Language, now: datetime, zone: tzinfo) -> Moment | Open:
    """Returns what a phrase means now, in a time zone."""
    now = now.astimezone(zone)
    try:
        if reading.clashes:
            return Open(
                "The second one of each month, or every other week? Write: every 2 weeks monday 8:00, or every "
                "second monday of the month 8:00."
            )
        if reading.amount is not None and not reading.every:
            return later(reading, language, now, zone)
        clock = clock_of(reading, now)
        if isinstance(clock, Open):
            return clock
        if reading.every:
            return again(reading, language, clock, now, zone)
        return once(reading, language, clock, now, zone)
    except BadRule as error:
        return Open(str(error))
    except (ValueError, OverflowError):
        return Open(f"That day or hour doesn't exist. Write, for example: {language.example}, or 2026-12-24 18:00.")


def later(reading: Reading, language: Language, now: datetime, zone: tzinfo) -> Moment | Open:
    """Returns the moment some minutes or hours from now; for days, weeks, months and years, at this time of day."""
    amount = reading.amount or 0
    if amount < 1:
        return Open("It must be at least a minute from now: in 1 minute.")
    if reading.has_day:
        return Open(f"On which day? Write either the day or how long from now: {language.example}.")
    if reading.unit in (MINUTE, HOUR):
        span = timedelta(minutes=amount) if reading.unit == MINUTE else timedelta(hours=amount)
        return bound_moment((now.astimezone(UTC) + span).astimezone(zone), now)
    local = step(now.replace(tzinfo=None), amount, reading.unit)
    clock = clock_of(reading, now)
    if isinstance(clock, Open):
        return clock
    local = place_time(local.date(), clock) if clock else local
    return bound_moment(localize(local, zone), now)


def once(reading: Reading, language: Language, clock: time | None, now: datetime, zone: tzinfo) -> Moment | Open:
    """Returns the only time that is meant."""
    days = days_of(reading, now)
    if isinstance(days, Open):
        return days
    if clock is None:
        return Open(f"At what time? Write it after the day: {language.example}.", lacking=True)
    if days is None:
        return today_or_tomorrow(reading, clock, now, zone)
    found = [at for day in days if is_ahead(at := localize(place_time(day, clock), zone), now)]
    if not found:
        return Open("That time has passed. Write one in the future, for example: tomorrow 9:00.")
    if reading.weekdays and not reading.this and reading.day is None and found[0].date() == now.date():
        return Open(f"Today or next week? Write: today {clock:%H:%M}, or {found[1]:%Y-%m-%d %H:%M}.")
    return bound_moment(found[0], now)


def today_or_tomorrow(reading: Reading, clock: time, now: datetime, zone: tzinfo) -> Moment | Open:
    """Returns the next moment with this time of day. If an hour up to 12 may mean two times, that is left open."""
    if not reading.exact and clock.hour in range(1, 13) and not reading.part:
        evening = clock.replace(hour=clock.hour % 12 + 12)
        return Open(f"In the morning or in the evening? Write {clock:%H:%M} or {evening:%H:%M}.")
    if reading.habit:
        return Open(f"Once, or every day? Write: today {clock:%H:%M}, or every day {clock:%H:%M}.")
    for day in (now.date(), now.date() + timedelta(days=1)):
        found = localize(place_time(day, clock), zone)
        if is_ahead(found, now):
            return Moment(found)
    return Moment(localize(place_time(now.date() + timedelta(days=2), clock), zone))
