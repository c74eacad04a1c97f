"""Finds days and rhythms that a text names but that aren't read: the end of a month, in May, twice a day. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from relay.memory.reminders.languages.language import DAY, HOUR, MINUTE, MONTH, WEEK, YEAR, Language
from relay.memory.reminders.reading.dates import YEAR_NUMBER
from relay.memory.reminders.reading.parts import quantity, skip, unit_of, word
from relay.memory.reminders.reading.reader import TIMES

UNREAD = (
    "I don't understand that day or rhythm. Write, for example: friday 9:00, every weekday 8:00, every 3 months 9:00, "
    "last day of every month 9:00."
)


def say_unread(language: Language, tokens: Sequence[str]) -> str:
    """Returns what to say about a day or a rhythm that isn't read; empty: the text names none."""
    return UNREAD if is_vague(language, tokens) else ""


def is_vague(language: Language, tokens: Sequence[str]) -> bool:
    """Tests whether a text names a day or a rhythm that isn't read."""
    first = skip(tokens, 0, language.leading)
    ordinal = word(tokens, skip(tokens, first + 1, language.on))
    if word(tokens, first) in language.announcing and language.ordinals.get(ordinal, 0) > 0:  # on the first pay rent
        return True
    tests = (
        is_edge, is_season, is_period, is_this_unit, is_month, is_next_year, is_count, is_lasting,
        is_before_event,
    )  # fmt: skip
    return any(test(language, tokens, at) for at in range(len(tokens)) for test in tests)


def is_edge(language: Language, tokens: Sequence[str], at: int) -> bool:
    """Tests for a part of a month, week or year: end of the week, end of every month, the last day of the month, late
    December, Monatsende."""
    day = tokens[at] in language.ordinals and unit_of(language, word(tokens, at + 1)) == DAY
    said = skip(tokens, at + 1 + day, language.of | language.on | language.every)
    unit = unit_of(language, word(tokens, said)) in (DAY, WEEK, MONTH, YEAR)
    return (day or tokens[at] in language.edges) and (unit or word(tokens, said) in language.months)


def is_season(language: Language, tokens: Sequence[str], at: int) -> bool:
    """Tests for words such as nightly at either end of the text, and for feasts after a preposition; but not for
    christmas, which says what it is about."""
    outer = at == skip(tokens, 0, language.leading | language.on) or at == len(tokens) - 1
    if tokens[at] in language.vague:
        return outer
    links = language.at | language.on | language.limits | language.inside | language.every
    before = tokens[at - 1] if at else ""
    return any(
        " ".join(tokens[at : at + length]) in language.seasons
        and (before in links or (at + length == len(tokens) and not is_purpose(language, tokens, at)))
        for length in (1, 2)
    )


def is_purpose(language: Language, tokens: Sequence[str], at: int) -> bool:
    """Tests whether a place follows a word that makes it part of the text: a gift for saturday, about the weekend."""
    while at and tokens[at - 1] in language.on:
        at -= 1
    return at > 0 and tokens[at - 1] in language.lasting | language.concerning


def is_period(language: Language, tokens: Sequence[str], at: int) -> bool:
    """Tests for spans and days without a date: every quarter, in the summer, on Anna's birthday."""
    links = language.every | language.this | language.following | language.inside | language.during
    return tokens[at] in language.periods and not links.isdisjoint(tokens[max(0, at - 2) : at])


def is_this_unit(language: Language, tokens: Sequence[str], at: int) -> bool:
    """Tests for this week or this month; but not for a plan for this week."""
    unit = unit_of(language, word(tokens, at + 1))
    return tokens[at] in language.this and unit in (WEEK, MONTH, YEAR) and not is_purpose(language, tokens, at)


def is_month(language: Language, tokens: Sequence[str], at: int) -> bool:
    """Tests for a month without a day."""
    said, after = tokens[at], word(tokens, at + 1)
    before = tokens[at - 1] if at else ""
    dayless = before in language.inside | language.months_in or bool(YEAR_NUMBER.fullmatch(after))
    return said in language.months and dayless


def is_next_year(language: Language, tokens: Sequence[str], at: int) -> bool:
    """Tests for next year."""
    return word(tokens, at) in language.following and unit_of(language, word(tokens, at + 1)) == YEAR


def is_count(language: Language, tokens: Sequence[str], at: int) -> bool:
    """Tests for a number of times in a span: three times a day, 3x am Tag, once a week."""
    said = skip(tokens, at + 1, language.articles | language.on | language.per)
    counts = tokens[at] in language.times | language.counts or TIMES.fullmatch(tokens[at])
    return bool(counts) and unit_of(language, word(tokens, said)) not in ("", MINUTE, HOUR)


def is_lasting(language: Language, tokens: Sequence[str], at: int) -> bool:
    """Tests for a duration of days or more at either end of the text: pills for 5 days."""
    amount, unit, end = quantity(language, tokens, at + 1)
    outer = at == 0 or end == len(tokens)
    return tokens[at] in language.lasting and amount is not None and unit not in (MINUTE, HOUR) and outer


def is_before_event(language: Language, tokens: Sequence[str], at: int) -> bool:
    """Tests for a span before or after something: 30 minutes before the flight."""
    amount, _, end = quantity(language, tokens, at)
    return amount is not None and word(tokens, end) in language.limits
