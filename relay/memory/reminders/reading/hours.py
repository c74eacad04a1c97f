"""Reads the hours of the day at which a rhythm comes. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from relay.memory.reminders.languages.language import HOUR, MINUTE, Language, Words
from relay.memory.reminders.reading.clocks import Clock, clock
from relay.memory.reminders.reading.parts import Paused, Reading, skip, word

LONGEST_CLOCK = 3
"""The most words of the first hour of a window: 9 o'clock."""
LONGEST_ALL = 4
"""The most words that mean all hours."""
LAST_HOUR = 24
SHORTEST_DAY = 12 * 60
"""The least minutes of the day outside a window over midnight: from 22 to 6, but not from 18 to 9."""
HOURS_OF_DAY = tuple(range(LAST_HOUR))
SPAN = re.compile(r"(\d[\d:.]*(?:am|pm|uhr|h)?)[-–—](\d[\d:.]*(?:am|pm|uhr|h)?)")
"""The first and the last hour in one word: 9-18."""
MARKED = re.compile(r":|am|pm|uhr|h")
"""A mark that shows that a number is an hour."""
MOST_WORDS = 300
"""How many words of a text are searched for hours."""


def read_all_hours(language: Language, reading: Reading, tokens: Sequence[str], at: int) -> int:
    """Reads that a rhythm of minutes or hours comes at night, too: around the clock, day and night. Returns its end;
    `at` if it isn't said."""
    if not takes_hours(reading):
        return at
    length = find_all_hours(language, tokens, at)
    if length:
        reading.hours = HOURS_OF_DAY
    return at + length


def find_all_hours(language: Language, tokens: Sequence[str], at: int) -> int:
    """Returns how many words from a place on mean all hours."""
    lengths = range(LONGEST_ALL, 0, -1)
    return next((one for one in lengths if " ".join(tokens[at : at + one]) in language.nights_too), 0)


def takes_hours(reading: Reading) -> bool:
    """Tests whether a reading is a rhythm of minutes or hours that names no hours so far."""
    return reading.every and reading.unit in (MINUTE, HOUR) and not (reading.window or reading.hours)


def leaves_hours(language: Language, reading: Reading, tokens: Sequence[str], begin: int, end: int) -> bool:
    """Tests whether words around a rhythm of minutes or hours may say its hours: 9-18, between 9 …, at night; but not
    3-4 in a text, or the night shift."""
    if not takes_hours(reading):
        return False
    links = language.inside | language.at | language.announcing
    return any(
        (one in language.windows and word(tokens, at + 1)[:1].isdigit())
        or (SPAN.fullmatch(one) and (at == end or MARKED.search(one)))
        or find_all_hours(language, tokens, at)
        or one in language.habits
        or (one in language.parts and not (links.isdisjoint(tokens[max(0, at - 2) : at])))
        for at, one in enumerate(tokens[: end + MOST_WORDS])
        if not begin <= at < end
    )


def read_window(language: Language, reading: Reading, tokens: Sequence[str], at: int) -> int:
    """Reads the first and the last hour of a rhythm of minutes or hours: from 9 to 18, between 8 am and 8 pm, from
    9-18, 9am-6pm. Returns its end; `at` if there is none."""
    if not takes_hours(reading):
        return at
    led = word(tokens, at) in language.windows
    if span := SPAN.fullmatch(word(tokens, at + led)):
        if not led and not MARKED.search(span[0]) and word(tokens, at + 1) not in language.oclock:
            return at  # 3-4 may count something
        first, last = span_clocks(language, span, tokens[at + led + 1 :])
        return set_window(reading, first, last, at + led + (last.end if last else 0)) or at
    links = language.windows.get(word(tokens, at), frozenset())
    for end in range(at + 2, at + 2 + LONGEST_CLOCK):
        if word(tokens, end) in links:
            first = clock(language, tokens[at + 1 : end], 0, bare=True)
            last = clock(language, tokens, end + 1, bare=True, after_at=True)
            whole = first is not None and first.end == end - at - 1
            return (set_window(reading, first, last, last.end if last else 0) if whole else 0) or at
    return at


def span_clocks(language: Language, span: re.Match[str], rest: Sequence[str]) -> tuple[Clock | None, Clock | None]:
    """Returns the hours of a span in one word. After it, am, pm and Uhr belong to the last one."""
    last = clock(language, [span[2], *rest], 0, bare=True, after_at=True)
    return clock(language, [span[1]], 0, bare=True), last


def set_window(reading: Reading, first: Clock | None, last: Clock | None, end: int) -> int:
    """Sets the hours of a rhythm. Returns `end`; 0 if they are none. A rhythm of minutes needs full hours, and a window
    over midnight hours that can mean nothing else: from 22 to 6, but not from 9 to 5."""
    if first is None or last is None:
        return 0
    begins, ends = first.hour * 60 + first.minute, last.hour * 60 + last.minute
    whole = reading.unit == HOUR or (first.minute == last.minute == 0)
    clear = first.half == last.half and (first.half or first.hour > 12) and begins - ends >= SHORTEST_DAY
    exists = first.hour < LAST_HOUR and ends <= LAST_HOUR * 60
    if not (whole and exists and (begins < ends or (clear and begins > ends))):
        return 0
    reading.window = begins, ends
    return end


def read_other_hours(language: Language, reading: Reading, tokens: Sequence[str], at: int) -> int:
    """Reads the other hours of a rhythm of days or more: every day at 8:00 and 20:00, at 8 and 20; at the end, at 8,
    20. Returns their end; `at` if there are none. All must be clear, and have the same minute."""
    short = reading.every and reading.unit in (MINUTE, HOUR)
    if reading.hour is None or reading.hours or reading.part or short:
        return at
    found = [Clock(reading.hour, reading.minute, reading.exact, at, reading.half)]
    joined = False
    while not joined and found[-1].end < len(tokens):
        end = found[-1].end
        joined = word(tokens, end) in language.joins
        start = skip(tokens, end + joined, language.at)
        other = clock(language, tokens, start, bare=True, after_at=start > end + joined)
        if other is None:
            return at
        found.append(other)
    last = word(tokens, found[-1].end - 1)
    listed = len(found) > 1 and all(isinstance(tokens[one.end - 1], Paused) for one in found[:-1])
    uhr = language.oclock if language.dotted else frozenset()
    counts = last.isdigit() and word(tokens, found[-1].end) in language.counted
    if not (joined or listed) or counts or not are_clear(found, uhr, last):
        return at
    reading.hours, reading.exact = tuple(sorted({one.hour for one in found})), True
    return found[-1].end


def are_clear(found: Sequence[Clock], uhr: Words, last: str) -> bool:
    """Tests whether hours can mean nothing else: each says so, or one shows that all are on the 24-hour clock, as in 8
    and 20, or 8 und 9 Uhr."""
    same = all(one.minute == found[0].minute and one.hour < LAST_HOUR for one in found)
    half = any(one.half for one in found)
    day = not half and (last in uhr or any(one.hour > LAST_HOUR // 2 for one in found))
    return same and (day or all(one.exact for one in found))
