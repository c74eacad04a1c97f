"""Reads times of day, and parts of the day. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from relay.core.frozen import frozen
from relay.memory.reminders.languages.language import DAY, HOUR, MINUTE, MORNING, Language
from relay.memory.reminders.reading.parts import Paused, Reading, number, number_at, quantity, skip, unit_of, word

CLOCK = re.compile(r"(\d{1,2})[:.h](\d{2})")
ZERO_CLOCK = re.compile(r"(0\d)(\d{2})")
SPOKEN_MINUTES = (5, 10, 15, 20, 25, 30, -5, -10, -15, -20, -25)
QUARTERS = (15, 30, 45)
TWO_DIGITS = re.compile(r"[0-5]\d")
DAY_NUMBER = re.compile(r"\d{1,2}(?!\d)")
JOINED_CLOCK = re.compile(r"(\d{1,2})(?:[:.](\d{2}))?(am|pm|uhr|h)")


@frozen
class Clock:
    """A time of day as it was said."""

    hour: int
    minute: int
    exact: bool
    end: int
    half: bool = False


def read_clock(language: Language, reading: Reading, tokens: Sequence[str], at: int) -> int:
    """Reads a time of day: at 9, 18:30, 9 pm, 9 Uhr, noon, half past 9, halb 10. Returns its end; `at` if there is
    none."""
    relative = reading.amount is not None and not reading.every
    if reading.hour is not None or (relative and reading.unit in (MINUTE, HOUR)):
        return at
    start = skip(tokens, at, language.at)
    if relative and start == at and quantity(language, tokens, at)[1] in (MINUTE, HOUR):
        return at  # the 2h of 1d 2h
    if end := read_minute_of_hour(language, reading, tokens, at):
        return end
    # A bare number is an hour only after `at`, after a day or a rhythm, or if it comes first, before a day.
    led = start > at or reading.has_day or reading.every or relative or bool(reading.part or reading.next_unit)
    bare = led or (at == 0 and (word(tokens, 1) in language.days or word(tokens, 1) in language.weekdays))
    found = clock(language, tokens, start, bare, start > at)
    if found is None:
        return at
    reading.hour, reading.minute, reading.exact, reading.half = found.hour, found.minute, found.exact, found.half
    return found.end


def read_minute_of_hour(language: Language, reading: Reading, tokens: Sequence[str], at: int) -> int:
    """Reads the minute of each hour: at half past, at 20 past, on the hour, um halb. Returns its end; 0 if there is
    none."""
    if not reading.every or reading.unit != HOUR or reading.of_hour is not None:
        return 0
    start = skip(tokens, at, language.on)
    if start > at and unit_of(language, word(tokens, start)) == HOUR:
        reading.of_hour = 0
        return start + 1
    start = skip(tokens, at, language.at)
    minute, end = relative_minutes(language, tokens, start)
    behind = word(tokens, end)
    if start == at or minute is None or behind in language.before or number(language, behind) is not None:
        return 0
    reading.of_hour = minute % 60
    return end


def clock(
    language: Language, tokens: Sequence[str], at: int, bare: bool = False, after_at: bool = False
) -> Clock | None:
    """Reads a time of day; a number alone counts only if `bare`, a number in words only after `at`."""
    said, after = word(tokens, at), word(tokens, at + 1)
    if said in language.clocks:
        hour, minute = language.clocks[said]
        return Clock(hour, minute, hour < 24, at + 1)  # midnight may begin a day, or end it
    if spoken := spoken_clock(language, tokens, at):
        return spoken
    if joined := JOINED_CLOCK.fullmatch(said):
        return meridiem(language, int(joined[1]), int(joined[2] or 0), joined[3], at + 1)
    if after in language.measures:
        return None
    hours = re.fullmatch(r"\d{1,2}", said)
    in_words = said in language.numbers and said not in language.articles
    if match := CLOCK.fullmatch(said) or ZERO_CLOCK.fullmatch(said):
        return with_meridiem(language, tokens, Clock(int(match[1]), int(match[2]), True, at + 1))
    if hours and (bare or after in language.meridiem or after in language.oclock):
        dated = after in language.months and not (after_at and DAY_NUMBER.match(word(tokens, at + 2)))
        if (unit_of(language, after) and not after_at) or dated:
            return None
        return with_meridiem(language, tokens, with_minutes(language, tokens, Clock(int(said), 0, False, at + 1)))
    if said in language.numbers and (after in language.oclock or (after_at and in_words)):
        said_hour = Clock(language.numbers[said], 0, False, at + 1)
        return with_meridiem(language, tokens, with_minutes(language, tokens, said_hour))
    return None


def with_minutes(language: Language, tokens: Sequence[str], said: Clock) -> Clock:
    """Reads the minutes after an hour, unless they may count what follows: nine fifteen; 9 30 at the end."""
    if word(tokens, said.end) in language.nought:
        minute = number(language, word(tokens, said.end + 1))
        return Clock(said.hour, minute, said.exact, said.end + 2) if minute and minute < 10 else said
    minute, end = minutes_behind(language, tokens, said.end)
    after = word(tokens, end)
    closes = not after or after in language.meridiem or after in language.oclock
    in_words = not word(tokens, said.end).isdigit()
    paused = isinstance(tokens[said.end - 1], Paused)  # at 8, 20
    uhr = not language.meridiem and word(tokens, said.end - 1) in language.oclock
    if minute is None or paused or not (closes or ((in_words or uhr) and minute in QUARTERS)):
        return said
    return Clock(said.hour, minute, said.exact, end)


def minutes_behind(language: Language, tokens: Sequence[str], at: int) -> tuple[int | None, int]:
    """Returns a number of two digits that may be minutes, and its end; None and `at` if there is none."""
    said, (value, end) = word(tokens, at), number_at(language, tokens, at)
    after = word(tokens, end)
    named = " ".join(tokens[end : end + 3]) in language.days or after in language.singular
    unit = bool(unit_of(language, after)) and not named
    counts = unit or after in language.times | language.measures  # 9 Uhr 10 Minuten laufen
    if value is None or counts or not (TWO_DIGITS.fullmatch(said) or (not said.isdigit() and 10 <= value < 60)):
        return None, at
    return value, end


def with_meridiem(language: Language, tokens: Sequence[str], said: Clock) -> Clock:
    """Reads what may follow an hour: am, pm, o'clock, Uhr 30."""
    hour, minute, exact, end = said.hour, said.minute, said.exact, said.end
    if word(tokens, end) in language.meridiem:
        return meridiem(language, hour, minute, word(tokens, end), end + 1)
    if word(tokens, end) in language.oclock:
        end, exact = end + 1, exact or not language.meridiem
        if exact and minute == 0 and not language.meridiem:
            return with_minutes(language, tokens, Clock(hour, minute, exact, end))
    return Clock(hour, minute, exact, end)


def meridiem(language: Language, hour: int, minute: int, said: str, end: int) -> Clock:
    """Returns a time with am, pm or Uhr; the hour is 99 if it doesn't exist."""
    if said in ("uhr", "h"):
        return Clock(hour, minute, True, end)
    added = {"am": 0, "pm": 12}.get(said.replace(".", ""), language.meridiem.get(said, 0))
    return Clock(hour % 12 + added if 1 <= hour <= 12 else 99, minute, True, end, half=True)


def spoken_clock(language: Language, tokens: Sequence[str], at: int) -> Clock | None:
    """Reads a time in words: half past 9, a quarter to 9, 5 past 9, halb 10, dreiviertel 10, fünf vor halb 10."""
    at = at + 1 if word(tokens, at) in language.articles else at
    said, link = word(tokens, at), word(tokens, at + 1)
    if said in language.before and (hour := number(language, link)) is not None:
        return Clock((hour - 1) % 24, language.before[said], False, at + 2)
    minute, end = relative_minutes(language, tokens, at)
    of_hour = language.before.get(word(tokens, end), 0)
    hour = number(language, word(tokens, end + bool(of_hour)))
    if minute not in SPOKEN_MINUTES or hour is None or said in language.before:
        return None
    if of_hour:  # fünf vor halb acht
        minute, end = minute + of_hour - 60, end + 1
    found = Clock(hour if minute > 0 else (hour - 1) % 24, minute % 60, False, end + 1)
    if word(tokens, found.end) in language.meridiem:
        if minute < 0 and hour == 12:  # a quarter to 12 pm: 11:45 or 23:45
            return Clock(99, found.minute, True, found.end + 1)
        return meridiem(language, found.hour or 12, found.minute, word(tokens, found.end), found.end + 1)
    return with_meridiem(language, tokens, found)


def relative_minutes(language: Language, tokens: Sequence[str], at: int) -> tuple[int | None, int]:
    """Reads minutes past an hour, or before it as a negative number: half past, a quarter to, 5 past, halb. Returns
    them and their end; None and `at` if there are none."""
    begin, at = at, at + 1 if word(tokens, at) in language.articles else at
    said = word(tokens, at)
    if said in language.before:
        return language.before[said], at + 1
    minute, end = number_at(language, tokens, at)
    if said in language.half_past or said in language.quarter:
        minute, end = 30 if said in language.half_past else 15, at + 1
    elif unit_of(language, word(tokens, end)) == MINUTE:
        end += 1
    link = word(tokens, end)
    if minute is None or minute >= 60:
        return None, begin
    if link in language.past:
        return minute, end + 1
    return (-minute, end + 1) if link in language.to and minute != 30 else (None, begin)


def read_part(language: Language, reading: Reading, tokens: Sequence[str], at: int) -> int:
    """Reads a part of the day: in the morning, abends, früh. Returns its end; `at` if there is none."""
    start = skip(tokens, at, language.on | language.inside | language.at)
    said = word(tokens, start)
    daily = reading.every and (reading.unit == DAY or bool(reading.weekdays))
    part = part_of(language, said, daily)
    if not part or reading.part or (start == at and said not in language.habits and is_text(reading, part, tokens, at)):
        return at
    reading.habit = said in language.habits and not reading.says_when
    reading.part = part
    return start + 1


def is_text(reading: Reading, part: str, tokens: Sequence[str], at: int) -> bool:
    """Tests whether a part of the day beside a clear hour begins the text: 7:00 morning run, 18:00 night shift; but not
    7:00 evening run."""
    beside = at > 0 and any(map(str.isdigit, tokens[at - 1])) and at + 1 < len(tokens)
    clear = (reading.hour or 0) > 12 or (part == MORNING and ":" in tokens[at - 1])
    return beside and reading.hour is not None and clear


def part_of(language: Language, said: str, after_day: bool) -> str:
    """Returns the part of the day that a word means. In German, `morgen` means tomorrow; after a day or `every day`
    it means the morning."""
    morning = after_day and not language.meridiem and language.days.get(said) == 1
    return language.parts.get(said, MORNING if morning else "")
