"""Reads spans: in 20 minutes, an hour and a half, two weeks from now. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from relay.memory.reminders.languages.language import HOUR, MINUTE, WEEK, Language
from relay.memory.reminders.reading.parts import Reading, number, skip, unit_of, word

HOURS_AND_MINUTES = re.compile(r"(\d{1,2})(h|std)(\d{1,2})(?:m|min)?")
AMOUNT = re.compile(r"(\d{1,4}(?:[.,]\d{1,2})?)([a-zäöü]+)")
FRACTION = re.compile(r"(\d{1,3})[.,](\d{1,2})")
LONGEST_SPAN = 5
"""The most words of a span that has a name."""


def read_amount(language: Language, reading: Reading, tokens: Sequence[str], at: int) -> int:
    """Reads a span: in 20 minutes; in an hour; 20 minutes from now; with a day, in two weeks. Returns its end; `at` if
    there is none."""
    if reading.amount is not None or reading.every:
        return at
    if word(tokens, at) in language.inside:
        amount, unit, end = quantity(language, tokens, at + 1)
        if amount is None or (reading.says_when and not (reading.has_day and unit == WEEK)):
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
    for length in range(LONGEST_SPAN, 0, -1):
        if minutes := language.spans.get(" ".join(tokens[at : at + length])):
            return minutes, MINUTE, at + length
    said = word(tokens, at)
    if (both := HOURS_AND_MINUTES.fullmatch(said)) and both[2] in language.units:
        return int(both[1]) * 60 + int(both[3]), MINUTE, at + 1
    joined = AMOUNT.fullmatch(said)
    if joined:
        said, unit, end = joined[1], unit_of(language, joined[2]), at + 1
    else:
        unit, end = unit_of(language, word(tokens, at + 1)), at + 2
    if unit == HOUR and (fraction := FRACTION.fullmatch(said)):
        return round(float(f"{fraction[1]}.{fraction[2]}") * 60), MINUTE, end
    amount = number(language, said)
    if amount is None or not unit:
        return None, "", at
    if unit == HOUR and end < len(tokens):
        more, of, after = quantity(language, tokens, skip(tokens, end, language.joins))
        if more is not None and of == MINUTE:
            return amount * 60 + more, MINUTE, after
    return amount, unit, end
