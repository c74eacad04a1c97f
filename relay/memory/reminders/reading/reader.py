"""Reads as much of a phrase as says when. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from relay.memory.reminders.languages.language import DAY, HOUR, MINUTE, MONTH, WEEK, WORKDAYS, YEAR, Language
from relay.memory.reminders.reading.clocks import part_of, read_clock, read_part
from relay.memory.reminders.reading.dates import (
    day_and_part,
    read_date,
    read_days,
    read_following,
    read_moment,
    read_range,
    read_weekdays,
)
from relay.memory.reminders.reading.hours import read_all_hours, read_other_hours, read_window
from relay.memory.reminders.reading.parts import Reading, number, quantity, read_amount, repeat, skip, unit_of, word

TIMES = re.compile(r"(\d{1,4})x")
MOST_PARTS = 16
LONGEST = 60
"""The most words that say when. With it, reading from each of a text's last words takes as long for any text."""


def read_every(language: Language, reading: Reading, tokens: Sequence[str], at: int) -> int:
    """Reads a rhythm: every day, every 2 weeks, every Monday, every weekday, every first Monday, daily, Mondays.
    Returns its end; `at` if there is none."""
    if reading.every or reading.amount is not None:
        return at
    start = skip(tokens, at, language.on)
    said = word(tokens, start)
    if said in language.rhythms:
        repeat(reading, 1, language.rhythms[said])
        return start + 1
    led = skip(tokens, start, frozenset(language.windows))  # from monday to friday
    found = read_range(language, tokens, led)
    weekly = said in language.plural_weekdays or weekly_part(language, said) or said in language.weekly
    if not reading.has_day and (weekly or (found and tuple(found[0]) == WORKDAYS)):
        repeat(reading, 1, WEEK)
        return read_days(language, reading, tokens, start if weekly else led)
    if end := read_last_day(language, reading, tokens, start, language.every):
        return end
    if start > at or said not in language.every:
        return at
    return read_rhythm(language, reading, tokens, at + 1) or at


def weekly_part(language: Language, said: str) -> bool:
    """Tests whether a word is a part of a day of each week: freitagabends."""
    return day_and_part(language, said)[0] is not None and any(said.endswith(habit) for habit in language.habits)


def read_rhythm(language: Language, reading: Reading, tokens: Sequence[str], at: int) -> int:
    """Reads what follows `every`. Returns its end; 0 if it isn't a rhythm."""
    said, after = word(tokens, at), word(tokens, at + 1)
    if end := read_last_day(language, reading, tokens, at, language.of):
        return end
    amount, unit, end = quantity(language, tokens, at)
    if amount is not None:
        repeat(reading, amount, unit)
        return end
    if unit := unit_of(language, said):
        repeat(reading, 1, unit)
        return at + 1
    if part_of(language, said, after_day=True):
        repeat(reading, 1, DAY)
        return read_part(language, reading, tokens, at)
    if said in language.ordinals and after in language.weekdays:
        return read_weekday_of_month(language, reading, tokens, at)
    if said in language.other and read_weekdays(language, reading, tokens, at + 1) > at + 1:
        repeat(reading, 2, WEEK)
        return at + 2
    if language.ordinals.get(said, 0) > 0 and (unit := unit_of(language, after)):
        repeat(reading, language.ordinals[said], unit)
        return at + 2
    if said in language.seconds or after in language.seconds:
        repeat(reading, 1, MINUTE)  # too often; the person is told so
        return at + (1 if said in language.seconds else 2)
    return read_dated_rhythm(language, reading, tokens, at)


def read_weekday_of_month(language: Language, reading: Reading, tokens: Sequence[str], at: int) -> int:
    """Reads every first Monday (of the month). Returns its end."""
    said = word(tokens, at)
    repeat(reading, 1, MONTH)
    reading.ordinal, reading.weekdays = language.ordinals[said], (language.weekdays[word(tokens, at + 1)],)
    end = skip(tokens, at + 2, language.of | language.on | language.every)
    named = unit_of(language, word(tokens, end)) == MONTH
    reading.clashes = language.ordinals[said] == 2 and not named
    return end + 1 if named else at + 2


def read_nth_weekday(language: Language, reading: Reading, tokens: Sequence[str], at: int) -> int:
    """Reads the last Friday of every month; after every month, the last Friday. Returns its end; `at` if there is
    none."""
    start = skip(tokens, at, language.on)
    said, day = word(tokens, start), word(tokens, start + 1)
    if reading.has_day or said not in language.ordinals or day not in language.weekdays:
        return at
    monthly = reading.every and reading.unit == MONTH
    end = skip(tokens, start + 2, language.of | language.on | language.every)
    each = (
        any(one in language.every for one in tokens[start + 2 : end]) and unit_of(language, word(tokens, end)) == MONTH
    )
    if not monthly:
        if reading.every or reading.amount is not None or not each:
            return at
        repeat(reading, 1, MONTH)
    reading.ordinal, reading.weekdays = language.ordinals[said], (language.weekdays[day],)
    return end + 1 if each else start + 2


def read_last_day(language: Language, reading: Reading, tokens: Sequence[str], at: int, links: frozenset[str]) -> int:
    """Reads the last day of every month. Returns its end; 0 if there is none."""
    if language.ordinals.get(word(tokens, at)) != -1 or unit_of(language, word(tokens, at + 1)) != DAY:
        return 0
    end = skip(tokens, at + 2, language.of | language.on | language.every)
    linked = any(one in links for one in tokens[at + 2 : end])
    if not linked or unit_of(language, word(tokens, end)) != MONTH:
        return 0
    repeat(reading, 1, MONTH)
    reading.day = -1
    return end + 1


def read_dated_rhythm(language: Language, reading: Reading, tokens: Sequence[str], at: int) -> int:
    """Reads every Monday, every 1st or every 24 December. Returns its end; 0 if there is none."""
    repeat(reading, 1, WEEK)
    for read in (read_days, read_date):
        end = read(language, reading, tokens, at)
        if end > at:
            reading.unit = YEAR if reading.month else MONTH if reading.day else WEEK
            return end
    reading.every, reading.amount, reading.unit = False, None, ""
    return 0


def read_end(language: Language, reading: Reading, tokens: Sequence[str], at: int) -> int:
    """Reads the end of a rhythm: until 24 December, until Friday, until 20:00; for 5 days; 10 times. Returns where it
    ends."""
    if not reading.every or reading.until or reading.lasts or reading.times:
        return at
    if word(tokens, at) in language.until:
        until = Reading()
        start = skip(tokens, at + 1, language.on)
        for read in (read_days, read_date, read_clock):
            if (end := read(language, until, tokens, start)) > start:
                reading.until = until
                return end
    if match := TIMES.fullmatch(word(tokens, at)):
        reading.times = int(match[1])
        return at + 1
    start = skip(tokens, at, language.lasting)
    times = number(language, word(tokens, start))
    if times is not None and word(tokens, start + 1) in language.times:
        reading.times = times
        return start + 2
    return read_lasting(language, reading, tokens, at)


def read_lasting(language: Language, reading: Reading, tokens: Sequence[str], at: int) -> int:
    """Reads a duration of a rhythm: for 5 days, 5 Tage lang. But every day for 30 minutes says how long a thing
    takes."""
    start = skip(tokens, at, language.lasting)
    amount, unit, end = quantity(language, tokens, start)
    short = (MINUTE, HOUR)
    if amount is None or (unit in short and reading.unit not in short):
        return at
    after = skip(tokens, end, language.long)
    if start == at and after == end:
        return at
    reading.lasts = amount, unit
    return after


Step = Callable[[Language, Reading, Sequence[str], int], int]
STEPS: tuple[Step, ...] = (
    read_moment, read_every, read_nth_weekday, read_amount, read_all_hours, read_window, read_end, read_following,
    read_days, read_date, read_clock, read_other_hours, read_part,
)  # fmt: skip


def read_parts(language: Language, tokens: Sequence[str], begin: int) -> tuple[Reading | None, int]:
    """Reads as many words from a place on as say when. Returns the reading and its end; None and `begin` if none do."""
    reading, at = Reading(), begin
    for _ in range(MOST_PARTS):
        end = next((end for step in STEPS if (end := step(language, reading, tokens, at)) > at), at)
        if end == at:
            break
        at = end
    return (reading, at) if reading.says_when else (None, begin)
