"""Reads dates in figures and words, and days. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from relay.memory.reminders.languages.language import MONTH, NIGHT, WEEK, WEEKEND, WORKDAYS, Language
from relay.memory.reminders.reading.clocks import clock, part_of
from relay.memory.reminders.reading.parts import Reading, repeat, skip, unit_of, word

ISO_DATE = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")
DOTTED_DATE = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4}|\d{2})?")
OPEN_DOTTED_DATE = re.compile(r"(\d{1,2})\.(\d{1,2})")
SLASHED_DATE = re.compile(r"(\d{1,2})/(\d{1,2})(?:/(\d{4}))?")
ISO_MOMENT = re.compile(r"(\d{4}-\d{1,2}-\d{1,2})t(\d{1,2}:\d{2})")
SEPARATORS = re.compile(r"[-–—/,+&]")
DASHED = re.compile(r"[-–—]")
YEAR_NUMBER = re.compile(r"20\d\d")


def read_moment(language: Language, reading: Reading, tokens: Sequence[str], at: int) -> int:
    """Reads a moment: 2026-12-24T18:00. Returns its end; `at` if there is none."""
    match = ISO_MOMENT.fullmatch(word(tokens, at))
    if match is None or reading.says_when:
        return at
    reading.year, reading.month, reading.day = (int(part) for part in match[1].split("-"))
    reading.hour, reading.minute = (int(part) for part in match[2].split(":"))
    reading.exact = True
    return at + 1


def read_date(language: Language, reading: Reading, tokens: Sequence[str], at: int) -> int:
    """Reads a date, also after a day of the week: 2026-12-24, 24.12., 24 December, December 24th, the 1st, 24/12.
    Returns its end; `at` if there is none."""
    begin, at = at, skip(tokens, at, language.on)
    weekday = len(reading.weekdays) == 1 and not reading.every and not reading.following
    if reading.has_day and not (weekday and reading.day is None):
        return begin
    end, found = date(language, tokens, at)
    if found is not None:
        reading.year, reading.month, reading.day = found
        return end
    slashed = SLASHED_DATE.fullmatch(word(tokens, at))
    if slashed and not reading.every and not weekday:
        reading.slashed, reading.year = (int(slashed[1]), int(slashed[2])), int(slashed[3]) if slashed[3] else None
        return at + 1
    return read_day_of_month(language, reading, tokens, at, begin < at or reading.every) or begin


def read_day_of_month(language: Language, reading: Reading, tokens: Sequence[str], at: int, led: bool) -> int:
    """Reads a day of the month: the 1st, am ersten, the first of every month. Returns its end; 0 if there is none, or
    no word before announced it."""
    said, after = word(tokens, at), word(tokens, at + 1)
    figure = language.ordinal.fullmatch(said)
    day = int(figure[1]) if figure else language.ordinals.get(said, 0)
    end = skip(tokens, at + 1, language.of | language.on | language.every)
    of_month = end > at + 1 and unit_of(language, word(tokens, end)) == MONTH
    each = of_month and any(one in language.every for one in tokens[at + 1 : end])
    if not (led or each) or not (figure or (day > 0 and (of_month or after in language.at))):
        return 0
    reading.day = day
    if not of_month:
        return at + 1
    if each:
        repeat(reading, 1, MONTH)
    return end + 1


def date(language: Language, tokens: Sequence[str], at: int) -> tuple[int, tuple[int | None, int, int] | None]:
    """Reads a date with a month. Returns its end, and the year (None: not said), month and day."""
    said, after = word(tokens, at), word(tokens, at + 1)
    if match := ISO_DATE.fullmatch(said):
        return at + 1, (int(match[1]), int(match[2]), int(match[3]))
    if language.dotted and (match := DOTTED_DATE.fullmatch(said)):
        year = int(match[3]) if match[3] else None
        return at + 1, (year + 2000 if year is not None and year < 100 else year, int(match[2]), int(match[1]))
    if language.dotted and (match := OPEN_DOTTED_DATE.fullmatch(said)):
        # 24.12 18:00: the first can't be the hour.
        led = at > 0 and tokens[at - 1] in language.announcing
        timed = led or clock(language, tokens, skip(tokens, at + 1, language.at)) is not None
        return (at + 1, (None, int(match[2]), int(match[1]))) if timed else (at, None)
    for length in (3, 2, 1):
        name = tokens[at : at + length]
        if len(name) == length and (feast := language.feasts.get(" ".join(name))):
            return at + length, (None, *feast)
    for one, month in ((said, after), (after, said)):
        day = day_number(language, one)
        if day is not None and month.rstrip(".") in language.months:
            this = word(tokens, at + 2)
            of_year = int(this) if YEAR_NUMBER.fullmatch(this) else None
            return at + 2 + (of_year is not None), (of_year, language.months[month.rstrip(".")], day)
    if said in language.months and after in language.on:
        day = day_number(language, word(tokens, at + 2))
        return (at, None) if day is None else (at + 3, (None, language.months[said], day))
    day = day_number(language, said)
    if day is not None and after in language.of and word(tokens, at + 2) in language.months:
        return at + 3, (None, language.months[word(tokens, at + 2)], day)
    return at, None


def day_number(language: Language, text: str) -> int | None:
    """Returns a day of a month: 24, 24th, 24."""
    match = language.ordinal.fullmatch(text)
    digits = match[1] if match else text
    return int(digits) if re.fullmatch(r"\d{1,2}", digits) else None


def read_following(language: Language, reading: Reading, tokens: Sequence[str], at: int) -> int:
    """Reads next week or next month, before or after the day. Returns its end; `at` if there is none."""
    unit = unit_of(language, word(tokens, at + 1))
    if word(tokens, at) not in language.following or unit not in (WEEK, MONTH) or reading.every:
        return at
    reading.next_unit = unit
    return at + 2


def read_days(language: Language, reading: Reading, tokens: Sequence[str], at: int) -> int:
    """Reads days of the week, joined by commas or `and`; today and tomorrow; this evening. Returns their end; `at` if
    there are none."""
    begin, at = at, skip(tokens, at, language.on)
    if reading.has_day or reading.ordinal is not None:
        return begin
    for length in (4, 3, 2, 1):
        name = " ".join(tokens[at : at + length])
        if name in language.days and len(tokens[at : at + length]) == length:
            if reading.every:
                return begin
            reading.days = language.days[name]
            return at + length
    if word(tokens, at) in language.tonight:
        reading.days, reading.part = 0, NIGHT
        return at + 1
    if word(tokens, at) in language.following | language.this:
        return read_named(language, reading, tokens, at) or begin
    end = read_weekdays(language, reading, tokens, at)
    return end if end > at else begin


def read_named(language: Language, reading: Reading, tokens: Sequence[str], at: int) -> int:
    """Reads next Friday, this Friday or this evening. Returns its end; 0 if there is none."""
    following = word(tokens, at) in language.following
    if not following and (part := language.parts.get(word(tokens, at + 1))):
        reading.days, reading.part = 0, part
        return at + 2
    end = read_weekdays(language, reading, tokens, at + 1)
    if end == at + 1:
        return 0
    reading.following = following
    return end


def read_weekdays(language: Language, reading: Reading, tokens: Sequence[str], at: int) -> int:
    """Reads several days of the week. Returns their end."""
    found: list[int] = []
    end = at
    while True:
        days, after = read_range(language, tokens, at) or (weekdays_of(language, tokens, at), at + 1)
        if days is None:
            break
        found += days
        reading.part = reading.part or day_and_part(language, word(tokens, at))[1]
        end = after
        at = skip(tokens, end, language.joins | language.on)
    if found:
        reading.weekdays = tuple(sorted(set(found)))
    return end


def read_range(language: Language, tokens: Sequence[str], at: int) -> tuple[Sequence[int], int] | None:
    """Reads a range of days, or several in one word: mon-fri, monday to friday, mon/wed. Returns them and their end;
    None: there are none."""
    apart = word(tokens, at + 1) in language.through
    said = [word(tokens, at), word(tokens, at + 2)] if apart else SEPARATORS.split(word(tokens, at))
    names = {**language.weekdays, **language.short_weekdays, **language.plural_weekdays}
    days = [names.get(one.rstrip(".")) for one in said]
    if len(days) < 2 or None in days:
        return None
    named = [day for day in days if day is not None]
    end = at + (3 if apart else 1)
    if not (apart or DASHED.search(word(tokens, at))):
        return named, end
    if len(named) > 2 or named[0] == named[1]:  # so-so
        return None
    return [(named[0] + step) % 7 for step in range((named[1] - named[0]) % 7 + 1)], end


def weekdays_of(language: Language, tokens: Sequence[str], at: int) -> Sequence[int] | None:
    """Returns the days of the week that a word means."""
    said = word(tokens, at)
    if said in language.workdays:
        return WORKDAYS
    if said in language.weekends:
        return WEEKEND
    plain = said.rstrip(".")
    day = language.weekdays.get(plain, language.plural_weekdays.get(plain, day_and_part(language, said)[0]))
    if day is None and plain in language.short_weekdays:
        after = word(tokens, at + 1)
        behind = word(tokens, at + 2) if after in language.joins else after
        led = said == plain and at > 0 and tokens[at - 1] in language.announcing
        joined = behind.rstrip(".") in language.short_weekdays.keys() | language.weekdays.keys()
        dated = date(language, tokens, at + 1)[1] is not None
        timed = after in language.at or after in language.parts or clock(language, tokens, at + 1) is not None
        if led or joined or dated or timed:
            day = language.short_weekdays[plain]
    return None if day is None else (day,)


def day_and_part(language: Language, said: str) -> tuple[int | None, str]:
    """Reads a day of the week and a part of the day in one word: Freitagabend."""
    for name, day in language.weekdays.items():
        if part := part_of(language, said.removeprefix(name), after_day=True):
            return (day, part) if said.startswith(name) else (None, "")
    return None, ""
