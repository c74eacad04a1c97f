"""Reads days of the week, today and tomorrow, next week. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from relay.memory.reminders.languages.language import MONTH, NIGHT, WEEK, WEEKEND, WORKDAYS, Language
from relay.memory.reminders.reading.clocks import clock, part_of
from relay.memory.reminders.reading.dates import date
from relay.memory.reminders.reading.parts import Reading, skip, unit_of, word


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
    reading.following, reading.this = following, not following
    return end


def read_weekdays(language: Language, reading: Reading, tokens: Sequence[str], at: int) -> int:
    """Reads several days of the week. Returns their end."""
    found: list[int] = []
    end = at
    while (days := weekdays_of(language, tokens, at)) is not None:
        found += days
        reading.part = reading.part or day_and_part(language, word(tokens, at))[1]
        end = at + 1
        at = skip(tokens, end, language.joins | language.on)
    if found:
        reading.weekdays = tuple(sorted(set(found)))
    return end


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
        joined = after in language.joins or after.rstrip(".") in language.short_weekdays or said != plain
        dated = date(language, tokens, at + 1)[1] is not None
        timed = after in language.at or after in language.parts or clock(language, tokens, at + 1) is not None
        if joined or dated or timed:
            day = language.short_weekdays[plain]
    return None if day is None else (day,)


def day_and_part(language: Language, said: str) -> tuple[int | None, str]:
    """Reads a day of the week and a part of the day in one word: Freitagabend."""
    for name, day in language.weekdays.items():
        if part := part_of(language, said.removeprefix(name), after_day=True):
            return (day, part) if said.startswith(name) else (None, "")
    return None, ""
