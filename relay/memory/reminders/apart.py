"""Joins two parts of a time that stand at both ends of a phrase: `tomorrow call mom at 9:00`. Pure.

They are joined only if they would make one time side by side. If they contradict each other, the person is asked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum, auto

from relay.core.frozen import frozen
from relay.memory.reminders.languages.language import DAY, HOUR, MINUTE, MORNING, Language
from relay.memory.reminders.leftovers import (
    WHICH_PART,
    describes,
    find_after,
    find_before,
    is_bare,
    is_numbered,
    is_short_day,
    says_more,
    two_times,
)
from relay.memory.reminders.meaning.times import Open
from relay.memory.reminders.reading.parts import Reading, skip
from relay.memory.reminders.reading.reader import LONGEST, read_parts

SHORT = (MINUTE, HOUR)
MINUTE_WORDS = 4
"""The most words that say a minute of each hour."""
AMOUNT = re.compile(r"\d+\.\d+")
"""Two numbers that may be a time of day, or a price."""


class Relation(Enum):
    """How the part at the end of a phrase relates to the one at its beginning."""

    APART = auto()
    """It belongs to the text, or the beginning does."""
    COMPLETES = auto()
    """Both make one time."""
    REPEATS = auto()
    """The same, but the end says the rhythm, so it is read first."""
    CLASHES = auto()
    HALVES = auto()
    """It may say which half of the day is meant."""


@frozen
class Part:
    """Words that say when."""

    reading: Reading
    begin: int
    end: int

    @property
    def names_part(self) -> bool:
        """Tests whether they only say a part of the day: in the evening, abends; but not morning, as in morning run."""
        one = self.reading
        other = one.has_day or one.every or one.next_unit or one.amount is not None or one.hour is not None
        return bool(one.part) and not other and (self.end > self.begin + 1 or one.habit)


@frozen
class Joined:
    """A time whose parts stand apart, or a question about it, and where the words between them are."""

    meaning: Reading | Open
    begin: int
    end: int
    words: int
    """How many words say when."""


def find_joined(language: Language, tokens: Sequence[str]) -> Joined | None:
    """Returns the time that both ends of a phrase make together; None: they make none."""
    begin = skip(tokens, 0, language.leading)
    reading, end = read_parts(language, tokens, begin)
    if reading is None or (end == begin + 1 and is_short_day(language, tokens[begin])):  # Fr. Müller
        return None
    front = Part(reading, begin, end)
    if minute := join_minute(language, tokens, front):
        return minute
    tail = read_tail(language, tokens, end)
    numbered = is_numbered(language, reading, tokens, begin, end) and reading.hour is None
    if tail is None or (numbered and tail.reading.has_day):
        return None
    two_hours = None not in (reading.hour, tail.reading.hour)
    counts = numbered or (two_hours and ends_in_number(language, tokens[begin:end]))
    relation = Relation.CLASHES if counts else relate(front, tail)
    if relation is Relation.APART:
        return None
    length = front.end - front.begin + tail.end - tail.begin
    return Joined(join(language, tokens, front, tail, relation), front.end, tail.begin, length)


def ends_in_number(language: Language, said: Sequence[str]) -> bool:
    """Tests whether a time ends in a number that may count what follows: friday 12 roses."""
    return bool(AMOUNT.fullmatch(said[-1]) or said[-1].isdigit()) and not (said[:-1] and said[-2] in language.at)


def join_minute(language: Language, tokens: Sequence[str], front: Part) -> Joined | None:
    """Joins a rhythm of hours and the minute at the end: every hour stretch at half past."""
    if front.reading.every and front.reading.unit == HOUR and front.reading.of_hour is None:
        first = tokens[front.begin : front.end]
        for start in range(max(front.end, len(tokens) - MINUTE_WORDS), len(tokens)):
            reading, end = read_parts(language, [*first, *tokens[start:]], 0)
            if reading is not None and reading.of_hour is not None and end == len(first) + len(tokens) - start:
                other = says_more(language, tokens[front.end : start])
                return Joined(two_times(language) if other else reading, front.end, start, end)
    return None


def read_tail(language: Language, tokens: Sequence[str], begin: int) -> Part | None:
    """Returns the longest part from a place on that ends with the phrase."""
    for start in range(max(begin, len(tokens) - LONGEST), len(tokens)):
        reading, end = read_parts(language, tokens, start)
        if reading is not None and end == len(tokens):
            return Part(reading, start, end)
    return None


def join(language: Language, tokens: Sequence[str], front: Part, tail: Part, relation: Relation) -> Reading | Open:
    """Reads both parts as one time."""
    if relation is Relation.HALVES:
        return Open(WHICH_PART)
    first, last = tokens[front.begin : front.end], tokens[tail.begin : tail.end]
    together = [*last, *first] if relation is Relation.REPEATS else [*first, *last]
    reading, end = read_parts(language, together, 0)
    if reading is None or end < len(together) or relation is Relation.CLASHES:
        return two_times(language)
    between = tokens[front.end : tail.begin]
    if relation is not Relation.REPEATS and describes(language, reading, first, between):
        return two_times(language)
    if len(last) == 1 and AMOUNT.fullmatch(last[0]):
        return Open(f"Is {last[0]} a time of day? Write it next to the day, for example: {language.example}.")
    before = find_before(language, reading, between, len(between))
    return before or find_after(language, reading, [*first, *between], 0, len(first)) or reading


def relate(front: Part, tail: Part) -> Relation:
    """Returns how the end of a phrase relates to its beginning."""
    if tail.reading.every:
        return relate_rhythm(front.reading, tail.reading)
    if front.reading.hour is not None:
        return relate_half(front.reading, tail)
    if tail.reading.hour is None:
        return Relation.APART
    return relate_hour(front, tail.reading)


def relate_rhythm(front: Reading, tail: Reading) -> Relation:
    """Relates a rhythm at the end to the beginning: 9:00 pills every day, friday 9:00 report every week."""
    if front.hour is None and front.amount is None:
        return Relation.APART  # what the text leaves over is asked about
    dated = front.has_day and not tail.has_day and tail.unit not in (DAY, *SHORT)
    once = front.amount is None and not front.every
    fits = front.hour is not None and tail.hour is None and once and (is_bare(front) or dated)
    return Relation.REPEATS if fits else Relation.CLASHES


def relate_half(front: Reading, tail: Part) -> Relation:
    """Relates a part of the day at the end to an hour: tomorrow at 8 call Tom in the evening."""
    open_ = tail.names_part and tail.reading.part != MORNING and not front.part and (front.hour or 0) <= 12
    return Relation.HALVES if open_ else Relation.APART


def relate_hour(front: Part, tail: Reading) -> Relation:
    """Relates an hour at the end, perhaps with a day, to a beginning without one."""
    one = front.reading
    if front.names_part:
        return Relation.COMPLETES
    dayless = not (one.has_day or one.every or one.next_unit or one.amount is not None)
    if dayless or (one.unit in SHORT and not one.every):
        return Relation.APART  # morning run tomorrow 7:00; in 20 minutes meeting at 9:00
    if is_bare(tail) and not tail.next_unit:
        return Relation.COMPLETES
    long_rhythm = one.every and one.unit not in (DAY, *SHORT)
    takes_day = not one.has_day and (long_rhythm or (one.next_unit and not one.every))
    takes_week = one.weekdays and not one.every and tail.next_unit and not tail.has_day
    fits = tail.amount is None and ((takes_day and tail.has_day and tail.days is None) or takes_week)
    return Relation.COMPLETES if fits else Relation.CLASHES
