"""Reads times of day, and parts of the day. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from relay.core.frozen import frozen
from relay.memory.reminders.languages.language import HOUR, MINUTE, MORNING, Language
from relay.memory.reminders.reading.parts import Reading, number, skip, unit_of, word

CLOCK = re.compile(r"(\d{1,2})[:.h](\d{2})")
ZERO_CLOCK = re.compile(r"(0\d)(\d{2})")
SPOKEN_MINUTES = (5, 10, 15, 20, 25, 30)
JOINED_CLOCK = re.compile(r"(\d{1,2})(?:[:.](\d{2}))?(am|pm|uhr|h)")


@frozen
class Clock:
    """A time of day as it was said."""

    hour: int
    minute: int
    exact: bool
    end: int


def read_clock(language: Language, reading: Reading, tokens: Sequence[str], at: int) -> int:
    """Reads a time of day: at 9, 18:30, 9 pm, 9 Uhr, noon, half past 9, halb 10. Returns its end; `at` if there is
    none."""
    relative = reading.amount is not None and not reading.every
    if reading.hour is not None or (relative and reading.unit in (MINUTE, HOUR)):
        return at
    start = skip(tokens, at, language.at)
    # A bare number is an hour only after `at`, after a day or a rhythm, or if it comes first, before a day.
    led = start > at or reading.has_day or reading.every or relative or bool(reading.part or reading.next_unit)
    bare = led or (at == 0 and (word(tokens, 1) in language.days or word(tokens, 1) in language.weekdays))
    found = clock(language, tokens, start, bare, start > at)
    if found is None:
        return at
    reading.hour, reading.minute, reading.exact = found.hour, found.minute, found.exact
    return found.end


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
    hours = re.fullmatch(r"\d{1,2}", said)
    in_words = said in language.numbers and said not in language.articles
    if match := CLOCK.fullmatch(said) or ZERO_CLOCK.fullmatch(said):
        return with_meridiem(language, tokens, Clock(int(match[1]), int(match[2]), True, at + 1))
    if hours and (bare or after in language.meridiem or after in language.oclock):
        if (unit_of(language, after) and not after_at) or after in language.months:
            return None
        return with_meridiem(language, tokens, Clock(int(said), 0, False, at + 1))
    if said in language.numbers and (after in language.oclock or (after_at and in_words)):
        return with_meridiem(language, tokens, Clock(language.numbers[said], 0, False, at + 1))
    return None


def with_meridiem(language: Language, tokens: Sequence[str], said: Clock) -> Clock:
    """Reads what may follow an hour: am, pm, o'clock, Uhr 30."""
    hour, minute, exact, end = said.hour, said.minute, said.exact, said.end
    if word(tokens, end) in language.meridiem:
        return meridiem(language, hour, minute, word(tokens, end), end + 1)
    if word(tokens, end) in language.oclock:
        end, exact = end + 1, exact or not language.meridiem
        minutes, after = word(tokens, end), word(tokens, end + 1)
        counts = after in language.times or bool(unit_of(language, after))  # 9 Uhr 10 Minuten laufen
        if exact and minute == 0 and not language.meridiem and re.fullmatch(r"[0-5]\d", minutes) and not counts:
            minute, end = int(minutes), end + 1
    return Clock(hour, minute, exact, end)


def meridiem(language: Language, hour: int, minute: int, said: str, end: int) -> Clock:
    """Returns a time with am, pm or Uhr; the hour is 99 if it doesn't exist."""
    if said in ("uhr", "h"):
        return Clock(hour, minute, True, end)
    added = {"am": 0, "pm": 12}.get(said.replace(".", ""), language.meridiem.get(said, 0))
    return Clock(hour % 12 + added if 1 <= hour <= 12 else 99, minute, True, end)


def spoken_clock(language: Language, tokens: Sequence[str], at: int) -> Clock | None:
    """Reads a time in words: half past 9, a quarter to 9, 5 past 9, halb 10, dreiviertel 10, Viertel nach 9."""
    at = at + 1 if word(tokens, at) in language.articles else at
    said, link = word(tokens, at), word(tokens, at + 1)
    if said in language.before and (hour := number(language, link)) is not None:
        return Clock((hour - 1) % 24, language.before[said], False, at + 2)
    minutes = 30 if said in language.half_past else 15 if said in language.quarter else number(language, said)
    hour = number(language, word(tokens, at + 2))
    if minutes not in SPOKEN_MINUTES or hour is None:
        return None
    if link in language.past:
        return Clock(hour, minutes, False, at + 3)
    if link in language.to and minutes != 30:
        return Clock((hour - 1) % 24, 60 - minutes, False, at + 3)
    return None


def read_part(language: Language, reading: Reading, tokens: Sequence[str], at: int) -> int:
    """Reads a part of the day: in the morning, abends, früh. Returns its end; `at` if there is none."""
    start = skip(tokens, at, language.on | language.inside | language.at)
    said = word(tokens, start)
    part = part_of(language, said, reading.every)
    if not part or reading.part:
        return at
    reading.habit = said in language.habits and not reading.says_when
    reading.part = part
    return start + 1


def part_of(language: Language, said: str, after_day: bool) -> str:
    """Returns the part of the day that a word means. In German, `morgen` means tomorrow; after a day or `every` it
    means the morning."""
    return language.parts.get(said, MORNING if after_day and language.days.get(said) == 1 else "")
