"""The parts of a phrase that say when, and what the readers of these parts share. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from relay.memory.reminders.languages.language import HOUR, MINUTE, WEEK, Language, Words

HOURS_AND_MINUTES = re.compile(r"(\d{1,2})(h|std)(\d{1,2})(?:m|min)?")
AMOUNT = re.compile(r"(\d{1,4}(?:[.,]\d{1,2})?)([a-zäöü]+)")
FRACTION = re.compile(r"(\d{1,3})[.,](\d{1,2})")
LONGEST_SPAN = 5
"""The most words of a span that has a name."""


@dataclass(slots=True)
class Reading:
    """What a phrase says about when, in parts that `moments` combines."""

    hour: int | None = None
    minute: int = 0
    of_hour: int | None = None
    """The minute of each hour: every hour at half past."""
    exact: bool = False
    """The hour can mean nothing else: 18:30, 9 pm, 9 Uhr."""
    half: bool = False
    """It was said with am or pm."""
    hours: tuple[int, ...] = ()
    """All hours, if a rhythm of days has several."""
    window: tuple[int, int] | None = None
    """The first and the last minute of the day of a rhythm of minutes or hours."""
    part: str = ""
    """A part of the day: one of the language's `parts`."""
    habit: bool = False
    """The part comes first and means every day: abends um 9."""
    days: int | None = None
    """Days from today."""
    weekdays: tuple[int, ...] = ()
    following: bool = False
    """The day was said as in next Friday."""
    next_unit: str = ""
    """The unit of next week or next month, in which the day is."""
    weeks: int = 0
    """How many weeks after the day: Friday in a week."""
    year: int | None = None
    month: int | None = None
    day: int | None = None
    """A day of the month; -1: the last one."""
    slashed: tuple[int, int] | None = None
    """A date whose parts may stand for day and month, or for month and day."""
    amount: int | None = None
    unit: str = ""
    """The unit of `amount`: in so many units, or with `every`, every so many units."""
    every: bool = False
    ordinal: int | None = None
    """Which weekday of a month: 1 is the first Monday; -1 the last."""
    until: Self | None = None
    """The day or hour until which it repeats."""
    lasts: tuple[int, str] | None = None
    """How long it repeats, as a number of units."""
    times: int | None = None
    clashes: bool = False
    """It has two meanings: every second Monday of a month, or every other one."""

    @property
    def has_day(self) -> bool:
        return self.days is not None or bool(self.weekdays) or self.day is not None or self.slashed is not None

    @property
    def has_only_hour(self) -> bool:
        other = self.has_day or self.every or self.next_unit or self.amount is not None
        return self.hour is not None and not other

    @property
    def says_when(self) -> bool:
        named = self.part or self.next_unit
        return self.has_day or self.hour is not None or self.amount is not None or self.every or bool(named)


def repeat(reading: Reading, amount: int, unit: str) -> None:
    """Sets a rhythm."""
    reading.every, reading.amount, reading.unit = True, amount, unit


class Paused(str):
    """A word with a comma after it: a number after that isn't its minute."""

    __slots__ = ()


def word(tokens: Sequence[str], at: int) -> str:
    """Returns a word; empty past the end."""
    return tokens[at] if at < len(tokens) else ""


def skip(tokens: Sequence[str], at: int, words: Words) -> int:
    """Returns where the word after some optional words is."""
    while word(tokens, at) in words:
        at += 1
    return at


def number(language: Language, text: str) -> int | None:
    """Returns a number in digits or words."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 4 else language.numbers.get(text)


def number_at(language: Language, tokens: Sequence[str], at: int) -> tuple[int | None, int]:
    """Returns a number, also of two words, and its end: twenty five."""
    said, after = word(tokens, at), word(tokens, at + 1)
    value, more = number(language, said), language.numbers.get(after, 0)
    if value in (20, 30, 40, 50) and not said.isdigit() and 0 < more < 10 and after not in language.articles:
        return value + more, at + 2
    return value, at + 1


def unit_of(language: Language, text: str) -> str:
    """Returns the unit that a word means; empty: none."""
    return language.units.get(text.rstrip("."), "")


def read_amount(language: Language, reading: Reading, tokens: Sequence[str], at: int) -> int:
    """Reads a span: in 20 minutes; in an hour; 20 minutes from now; with a day, in two weeks. Returns its end; `at` if
    there is none."""
    if reading.amount is not None or reading.every:
        return at
    if word(tokens, at) in language.inside:
        amount, unit, end = quantity(language, tokens, at + 1)
        follows = reading.has_only_hour and unit not in (MINUTE, HOUR)  # at 9 in 3 days
        if amount is None or (reading.says_when and not follows and not (reading.has_day and unit == WEEK)):
            return at
        if reading.has_day:
            reading.weeks = amount
        else:
            reading.amount, reading.unit = amount, unit
        return end
    amount, unit, end = quantity(language, tokens, at)
    if amount is None or reading.says_when or word(tokens, end) not in language.from_now:
        return at
    if word(tokens, end + 1) in language.now:
        reading.amount, reading.unit = amount, unit
        return end + 2
    if unit != WEEK:
        return at
    reading.weeks = amount  # a week from Friday; the day comes next
    return end + 1


def quantity(language: Language, tokens: Sequence[str], at: int) -> tuple[int | None, str, int]:
    """Reads a number and a unit: 20 minutes, 20min, an hour, half an hour, 1 hour 30 minutes, 1.5 hours. Returns them
    and their end; None, empty and `at` if there are none."""
    for length in range(min(LONGEST_SPAN, len(tokens) - at), 0, -1):
        if minutes := language.spans.get(" ".join(tokens[at : at + length])):
            return minutes, MINUTE, at + length
    said = word(tokens, at)
    amount, end = number_at(language, tokens, at)
    if (both := HOURS_AND_MINUTES.fullmatch(said)) and both[2] in language.units:
        return int(both[1]) * 60 + int(both[3]), MINUTE, at + 1
    joined = AMOUNT.fullmatch(said)
    if joined:
        said, unit, end = joined[1], unit_of(language, joined[2]), at + 1
        amount = number(language, said)
    else:
        unit, end = unit_of(language, word(tokens, end)), end + 1
    if unit == HOUR and (fraction := FRACTION.fullmatch(said)):
        return round(float(f"{fraction[1]}.{fraction[2]}") * 60), MINUTE, end
    if amount is None or not unit:
        return None, "", at
    if unit == HOUR and end < len(tokens):
        start = skip(tokens, end, language.joins)
        more, of, length = quantity(language, tokens[start : start + LONGEST_SPAN], 0)
        if more is not None and of == MINUTE:
            return amount * 60 + more, MINUTE, start + length
    return amount, unit, end
