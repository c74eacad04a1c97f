"""Reads the hours of the day at which a rhythm comes. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from relay.memory.reminders.languages.language import HOUR, MINUTE, Language
from relay.memory.reminders.reading.clocks import Clock, clock
from relay.memory.reminders.reading.parts import Reading, skip, word

LONGEST_CLOCK = 3
"""The most words of the first hour of a window: 9 o'clock."""
LAST_HOUR = 24


def read_window(language: Language, reading: Reading, tokens: Sequence[str], at: int) -> int:
    """Reads the first and the last hour of a rhythm of minutes or hours: from 9 to 18, between 8 am and 8 pm. Returns
    its end; `at` if there is none. A rhythm of minutes needs full hours."""
    links = language.windows.get(word(tokens, at), frozenset())
    if not reading.every or reading.unit not in (MINUTE, HOUR) or reading.window:
        return at
    for end in range(at + 2, at + 2 + LONGEST_CLOCK):
        if word(tokens, end) in links:
            first = clock(language, tokens[at + 1 : end], 0, bare=True)
            last = clock(language, tokens, end + 1, bare=True, after_at=True)
            if first is None or last is None or first.end != end - at - 1:
                return at
            begins, ends = first.hour * 60 + first.minute, last.hour * 60 + last.minute
            whole = reading.unit == HOUR or (first.minute == last.minute == 0)
            if not (begins < ends <= LAST_HOUR * 60 and whole):
                return at
            reading.window = begins, ends
            return last.end
    return at


def read_other_hours(language: Language, reading: Reading, tokens: Sequence[str], at: int) -> int:
    """Reads the other hours of a rhythm of days or more: every day at 8:00 and 20:00. Returns their end; `at` if there
    are none. All must be clear, and have the same minute."""
    daily = reading.every and reading.unit not in (MINUTE, HOUR) and reading.exact and not reading.part
    if not daily or reading.hour is None or reading.hours:
        return at
    found: list[Clock] = []
    end, joined = at, False
    while end < len(tokens) and not joined:
        joined = word(tokens, end) in language.joins
        other = clock(language, tokens, skip(tokens, end + joined, language.at))
        if other is None or not other.exact or other.minute != reading.minute or other.hour >= LAST_HOUR:
            return at
        found.append(other)
        end = other.end
    if not joined:
        return at
    reading.hours = tuple(sorted({reading.hour, *(one.hour for one in found)}))
    return end
