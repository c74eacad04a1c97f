"""Combines the parts of a phrase into the moment or rule that they mean. Pure."""

from __future__ import annotations

from calendar import monthrange
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from relay.memory.reminders.languages.language import DAY, HOUR, MINUTE, MONTH, WEEK, YEAR, Language
from relay.memory.reminders.meaning.times import (
    ONE_TIME,
    WHICH_HOURS,
    Moment,
    Open,
    bound_moment,
    clock_of,
    days_of,
    is_ahead,
    place_time,
    step,
)
from relay.memory.reminders.reading.parts import Reading
from relay.memory.reminders.recurrence import BadRule, localize, localize_ahead, next_times, read_rule
from relay.memory.reminders.rule_days import CODES

FEBRUARY, SHORTEST = 2, 28
"""The shortest month, and the days that each month has."""
NIGHT_ENDS = 4
"""The hour until which some people still say tomorrow for the day that has begun."""
FREQUENCY = {MINUTE: "MINUTELY", HOUR: "HOURLY", DAY: "DAILY", WEEK: "WEEKLY", MONTH: "MONTHLY", YEAR: "YEARLY"}


def again(reading: Reading, language: Language, clock: time | None, now: datetime, zone: tzinfo) -> Moment | Open:
    """Returns a rule with its first occurrence."""
    amount, unit = reading.amount or 1, reading.unit
    if reading.amount is not None and reading.amount < 1:
        raise BadRule("How often? Write, for example: every 2 weeks monday 8:00.")
    if unit not in (MINUTE, HOUR) and not fits_day(reading, amount):
        return Open("How often, and on which day? Write, for example: every monday 8:00, every month on the 1st 9:00.")
    if unit in (MINUTE, HOUR):
        on_days = reading.window and len(reading.weekdays) > 1  # from 9 to 18 on weekdays
        if clock is not None or (reading.has_day and not on_days) or (unit == MINUTE and reading.of_hour is not None):
            return Open("Every how many days, and at what time? Write: every day 8:00.")
        if reading.part:
            return Open(WHICH_HOURS)
        if reading.window and unit == MINUTE and 60 % amount:
            return Open("Which minutes of each hour? Write a number that divides it: every 30 minutes from 9 to 18.")
        begin = first_step(reading, amount, now)
    elif clock is None:
        every = "every" if language.code == "en" else "jeden"
        return Open(f"At what time? Write it after the day: {every} {language.example}.", lacking=True)
    elif reading.hours and reading.part:
        return Open(ONE_TIME)
    else:
        begin = place_time(now.date(), clock.replace(hour=reading.hours[0]) if reading.hours else clock)
    keep_day(reading, begin.date())
    if reading.hours and any("BYSETPOS" in part for part in list_days(reading)):
        return Open("Some months lack that day, so give one hour only. Write: every month on the 28th 8:00 and 20:00.")
    hours = list_hours(reading, amount)
    if reading.window and unit == HOUR and amount > 1:
        amount, unit = 1, DAY  # the hours say it
    parts = [f"FREQ={FREQUENCY[unit]}", *hours, *list_days(reading)]
    interval = [f"INTERVAL={amount}"] if amount > 1 else []
    # The interval counts from the first day: every 2 weeks on Monday begins on the coming Monday.
    within = interval if unit in (MINUTE, HOUR) else []
    # That day is the one that was said: every 4 years on 29 February begins in a leap year.
    opening = [parts[0], *hours, *list_days(reading, exact=amount > 1)]
    found = next_times(read_rule(";".join([*opening, *within]), begin), zone, now)
    if found is None:
        return Open("That day never comes. Write, for example: every monday 8:00 until 2030-12-31.")
    first, local = found
    if reading.year not in (None, local.year):
        return Open("From when? Write the rule without a year: every year on december 24 18:00.")
    until = ends(reading, local, now)
    if isinstance(until, Open):
        return until
    rule = ";".join([parts[0], *interval, *parts[1:], *until])
    read_rule(rule, local)
    return bound_moment(first, now, rule, local)


def fits_day(reading: Reading, amount: int) -> bool:
    """Tests whether a rhythm of days or more can have its day: every 14 days on Monday, but not monthly on Monday."""
    if reading.days is not None or reading.slashed or reading.following or reading.next_unit or reading.weeks:
        return False
    if reading.month:
        return reading.unit == YEAR
    if reading.day or reading.ordinal:
        return reading.unit == MONTH
    if reading.weekdays and reading.unit == DAY:
        return amount % 7 == 0 or (amount == 1 and len(reading.weekdays) > 1)
    return not reading.weekdays or reading.unit == WEEK


def first_step(reading: Reading, amount: int, now: datetime) -> datetime:
    """Returns the first local time of a rule of minutes or hours: after one step, at the next minute `of_hour`, or the
    beginning of its window today."""
    local = now.replace(tzinfo=None, second=0, microsecond=0)
    if reading.window is not None:
        hour, minute = divmod(reading.window[0], 60)
        begun = local.replace(hour=hour, minute=minute if reading.of_hour is None else reading.of_hour)
        return begun - timedelta(days=int(reading.window[0] > reading.window[1]))  # last night
    if reading.of_hour is None:
        return local + timedelta(minutes=amount * (60 if reading.unit == HOUR else 1))
    return local.replace(minute=reading.of_hour) + timedelta(hours=int(local.minute >= reading.of_hour))


def list_hours(reading: Reading, amount: int) -> list[str]:
    """Returns the part of a rule that chooses hours. The last hour of a window counts if the rule comes in it."""
    hours = reading.hours
    if reading.window is not None:
        first, last = reading.window
        minute = first % 60 if reading.of_hour is None else reading.of_hour
        last += 24 * 60 * int(first > last)  # over midnight
        late = last if reading.unit == HOUR else last - 1
        steps = range(first // 60, (late - minute) // 60 + 1, amount if reading.unit == HOUR else 1)
        hours = tuple(sorted({hour % 24 for hour in steps}))
    return [f"BYHOUR={','.join(map(str, hours))}"] if hours else []


def keep_day(reading: Reading, begin: date) -> None:
    """Sets the day of a rule of months or years that names none, if some months don't have its first day."""
    if reading.has_day or begin.day <= SHORTEST:
        return
    if reading.unit == MONTH or (reading.unit == YEAR and begin.month == FEBRUARY):
        reading.day, reading.month = begin.day, begin.month if reading.unit == YEAR else None


def list_days(reading: Reading, exact: bool = False) -> list[str]:
    """Returns the parts of a rule that choose days. A 31st is the last day of a shorter month, unless `exact`."""
    if reading.ordinal is not None:
        return [f"BYDAY={reading.ordinal}{CODES[reading.weekdays[0]]}"]
    if reading.weekdays:
        return [f"BYDAY={','.join(CODES[day] for day in reading.weekdays)}"]
    if reading.day is None:
        return []
    if reading.day == -1:
        return ["BYMONTHDAY=-1"]
    parts = [f"BYMONTH={reading.month}"] if reading.month else []
    longest = 31 if reading.month is None else monthrange(2024, reading.month)[1]
    if not 1 <= reading.day <= longest:
        raise ValueError(reading.day)
    shortest = SHORTEST if reading.month in (None, FEBRUARY) else longest
    if exact or reading.day <= shortest:
        return [*parts, f"BYMONTHDAY={reading.day}"]
    return [*parts, "BYMONTHDAY=" + ",".join(map(str, range(shortest, reading.day + 1))), "BYSETPOS=-1"]


def ends(reading: Reading, local: datetime, now: datetime) -> list[str] | Open:
    """Returns the parts that end a rule with this first local time."""
    if reading.times is not None:
        if not 1 <= reading.times <= 1000:
            raise BadRule("It can repeat 1 to 1000 times.")
        return [f"COUNT={reading.times}"]
    if reading.lasts is not None:
        amount, unit = reading.lasts
        minutes = {MINUTE: amount, HOUR: amount * 60}.get(unit)
        end = local + timedelta(minutes=minutes) if minutes is not None else step(local, amount, unit)
        return [f"UNTIL={end - timedelta(seconds=1):%Y%m%dT%H%M%S}"]
    if reading.until is None:
        return []
    if reading.until.hour is not None:
        clock = clock_of(reading.until, now)
        if reading.unit not in (MINUTE, HOUR) or not isinstance(clock, time) or not reading.until.exact:
            return Open("Until which day? Write, for example: every day 8:00 until 2030-12-31.")
        end = place_time(now.date(), clock)
    else:
        days = days_of(reading.until, now)
        if isinstance(days, Open) or days is None:
            return days or []
        end = datetime.combine(days[0], time(23, 59, 59))
    if end < local:
        return Open("It would end before it starts. Write a later end, for example: until 2030-12-31.")
    return [f"UNTIL={end:%Y%m%dT%H%M%S}"]


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
    if clock is None and reading.part:
        return Open(f"At what time? Write it after the day: {language.example}.", lacking=True)
    local = place_time(local.date(), clock) if clock else local
    return bound_moment(localize(local, zone), now)


def once(reading: Reading, language: Language, clock: time | None, now: datetime, zone: tzinfo) -> Moment | Open:
    """Returns the only time that is meant."""
    days = days_of(reading, now)
    if isinstance(days, Open):
        return days
    if reading.hours:
        return Open(ONE_TIME)
    if clock is None:
        return Open(f"At what time? Write it after the day: {language.example}.", lacking=True)
    if days is None:
        return today_or_tomorrow(reading, clock, now, zone)
    found = [at for day in days if is_ahead(at := localize_ahead(place_time(day, clock), zone, now), now)]
    if not found:
        return Open("That time has passed. Write one in the future, for example: tomorrow 9:00.")
    sooner = place_time(days[0] - timedelta(days=1), clock)
    if reading.days and now.hour < NIGHT_ENDS and is_ahead(localize_ahead(sooner, zone, now), now):
        # Before they sleep, people may mean the coming day by tomorrow.
        return Open(f"Midnight has passed. Which day? Write: {sooner:%Y-%m-%d %H:%M}, or {found[0]:%Y-%m-%d %H:%M}.")
    if reading.month and not reading.year and days[0] == now.date() != found[0].date():
        return Open(f"That time has passed today. Write one in the future, for example: {found[0]:%Y-%m-%d %H:%M}.")
    if reading.weekdays and reading.day is None and found[0].date() == now.date():
        return Open(f"Today or next week? Write: today {clock:%H:%M}, or {found[1]:%Y-%m-%d %H:%M}.")
    return bound_moment(found[0], now)


def today_or_tomorrow(reading: Reading, clock: time, now: datetime, zone: tzinfo) -> Moment | Open:
    """Returns the next moment with this time of day. If an hour up to 12 may mean two times, that is left open."""
    if not reading.exact and clock.hour in range(1, 13) and not reading.part:
        other = clock.replace(hour=(clock.hour + 12) % 24)
        which = "At noon or at midnight?" if clock.hour == 12 else "In the morning or in the evening?"
        return Open(f"{which} Write {clock:%H:%M} or {other:%H:%M}.")
    if reading.habit:
        return Open(f"Once, or every day? Write: today {clock:%H:%M}, or every day {clock:%H:%M}.")
    for day in (now.date(), now.date() + timedelta(days=1)):
        local = place_time(day, clock)
        if is_ahead(found := localize_ahead(local, zone, now), now):
            return Moment(found, local=local)
    return Moment(localize(place_time(now.date() + timedelta(days=2), clock), zone))
