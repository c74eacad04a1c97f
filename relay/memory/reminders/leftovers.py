"""Finds words around a time that also say when: `9:00 or 10:00`, `18:00 call Tom tomorrow`. Pure.

They leave open what is meant, so the person is asked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import get_close_matches

from relay.memory.reminders.languages.language import DAY, HOUR, MINUTE, MORNING, NOON, UNITS, Language, words
from relay.memory.reminders.meaning.times import ONE_TIME, WHICH_HOURS, Open
from relay.memory.reminders.reading.clocks import clock, minutes_behind
from relay.memory.reminders.reading.hours import leaves_hours
from relay.memory.reminders.reading.parts import Paused, Reading, number, quantity, skip, word
from relay.memory.reminders.reading.reader import LONGEST, read_end, read_parts
from relay.memory.reminders.vague import is_before_event, is_next_year, is_purpose, say_unread
from relay.memory.reminders.zone_names import names_zone

NAME_LETTERS = 5
"""The fewest letters of a word that may be a misspelt day."""
SHORT_LETTERS = 2
"""Abbreviations of so many letters, without a full stop, are mostly other words: so, do."""
ALIKE = 0.8
LATEST_HOUR = 24
DASHES = words("- – —")
MOST_WORDS = 300
"""How many words of a text are searched for a time."""
DAY_WORDS = 8
"""The most words that begin a time in a text."""
HOUR_IN_TEXT = re.compile(r"\d{1,2}:\d\d.*|\d{1,2}(?:am|pm|uhr)")
WHICH_PART = "In the morning or in the evening? Write the hour on the 24-hour clock, next to the day: tomorrow 20:00."


def find_open(language: Language, reading: Reading, tokens: Sequence[str], begin: int, end: int) -> Open | None:
    """Returns a question if other words also say when but aren't understood; else None."""
    rest = [*tokens[:begin], "", *tokens[end:]]
    if leaves_hours(language, reading, tokens, begin, end):
        return Open(WHICH_HOURS)
    if describes(language, reading, tokens[begin:end], tokens[end:]):
        return two_times(language)
    if is_bare(reading) and (said := say_unread(language, tokens[:begin]) or say_unread(language, tokens[end:])):
        return Open(said)
    days = reading.amount is not None and not reading.every and reading.unit not in (MINUTE, HOUR)
    if days and reading.hour is None and (says_more(language, rest) or says_part(language, rest)):
        return two_times(language)
    return find_before(language, reading, tokens, begin) or find_after(language, reading, tokens, begin, end)


def find_before(language: Language, reading: Reading, tokens: Sequence[str], begin: int) -> Open | None:
    """Returns a question about the words before a time."""
    before = word(tokens, begin - 1) if begin else ""
    between = before in language.joins and not language.limits.isdisjoint(tokens[max(0, begin - 4) : begin])
    if before in language.limits or between:
        return Open(f"At what time should I remind you? Write the time first, for example: {language.example}.")
    if before in language.lasting or (reading.has_day and before in language.concerning):  # pack for tomorrow
        return two_times(language)
    if reading.every and reading.unit != DAY and ends_in_edge(language, before):
        return Open("How often, and on which day? Write, for example: every month on the 1st 9:00.")
    if f"{before} {word(tokens, begin)}" in language.seasons:  # easter monday
        return Open(f"On which day? Write the date and the hour, for example: {language.example}.")
    if ends_in_other_day(language, reading, tokens, begin):
        return Open(f"On which of the two days? Write the time first, for example: {language.example}.")
    spans = any(is_before_event(language, tokens, at) or is_next_year(language, tokens, at) for at in range(begin))
    whole = reading.hour is not None and (reading.has_day or reading.every)
    if spans or says_more(language, tokens[:begin], whole):
        return two_times(language)
    first = tokens[skip(tokens[: begin - 1], 0, language.leading)] if begin else ""
    short = is_short_day(language, first) or is_short_day(language, before)
    if is_bare(reading) and (short or is_shortest_day(language, first, tokens[begin:])):
        return Open(f"On which day? Write it next to the time, for example: {language.example}.")
    if leaves_half_open(language, reading, tokens[:begin]):
        return Open(WHICH_PART)
    return find_misspelt(language, reading, before)


def describes(language: Language, reading: Reading, said: Sequence[str], behind: Sequence[str]) -> bool:
    """Tests whether a time ends in a rhythm that may belong to the text after it: friday 16:00 weekly report."""
    timed = reading.has_day or reading.unit != DAY
    return bool(behind) and said[-1] in language.adjectives and reading.hour is not None and timed


def ends_in_edge(language: Language, before: str) -> bool:
    """Tests whether a word before a rhythm says when in each span: the end of every month, the 15th every month."""
    named = language.of | language.edges | language.ordinals.keys()
    return before in named or language.ordinal.fullmatch(before) is not None


def ends_in_other_day(language: Language, reading: Reading, tokens: Sequence[str], begin: int) -> bool:
    """Tests whether the words before a day end in another one: monday friday 9:00."""
    if not reading.has_day or not begin:
        return False
    return any(ends_in_day(language, tokens[:begin], at) for at in range(max(0, begin - 3), begin))


def leaves_half_open(language: Language, reading: Reading, text: Sequence[str]) -> bool:
    """Tests whether a part of the day in a text may say which half of the day an hour means."""
    parts = {language.parts[one] for one in text if one in language.parts} - {MORNING}
    hour = reading.hour or 24
    said = reading.half or reading.part or hour > 12 or (hour >= 11 and parts == {NOON})
    return bool(parts) and not said


def two_times(language: Language) -> Open:
    """Returns a question about two times, of which one may belong to the text."""
    return Open(f"Which of the two times is meant? Write all of it first, for example: {language.example}.")


def says_more(language: Language, tokens: Sequence[str], whole: bool = False) -> bool:
    """Tests whether a text says a day, a rhythm, a span or an hour. Beside a `whole` time, with its day and hour, what
    the text is about doesn't count: the monthly rent, a gift for saturday."""
    hours = language.oclock | language.meridiem.keys()
    return any(
        (begins_day(language, tokens[at : at + DAY_WORDS]) and not (whole and is_about(language, tokens, at)))
        or HOUR_IN_TEXT.fullmatch(tokens[at])
        or tokens[at] in language.clocks
        or begins_hour(language, tokens, at)
        or (tokens[at].isdigit() and word(tokens, at + 1) in hours)
        for at in range(min(len(tokens), MOST_WORDS))
    )


def is_about(language: Language, tokens: Sequence[str], at: int) -> bool:
    """Tests whether a day or a rhythm in a text says what it is about: pay the monthly rent; but not daily at home."""
    said = skip(tokens, at, language.on)
    links = language.at | language.on | language.inside | language.limits | language.lasting | language.joins
    adjective = said > 0 and word(tokens, said) in language.adjectives and word(tokens, said + 1) not in links | {""}
    return adjective or is_purpose(language, tokens, at)


def begins_hour(language: Language, tokens: Sequence[str], at: int) -> bool:
    """Tests whether a place says an hour after its word: at 9, um halb zehn; but not at 50."""
    found = clock(language, tokens, at + 1, True, True) if tokens[at] in language.at else None
    return found is not None and found.hour <= LATEST_HOUR


def says_part(language: Language, tokens: Sequence[str]) -> bool:
    """Tests whether a text says a part of the day: in the evening, abends; but not evening dress."""
    links = language.inside | language.on
    return any(
        one in language.habits or (one in language.parts and at > 0 and tokens[at - 1] in links)
        for at, one in enumerate(tokens)
    )


def begins_day(language: Language, tokens: Sequence[str]) -> bool:
    """Tests whether words begin with a day, a rhythm or a span. The 2nd candidate and Fr. Müller are none."""
    reading, end = read_parts(language, tokens, 0)
    if reading is None or tokens[0] == "24/7" or is_short_day(language, tokens[0]):
        return False
    day = (reading.has_day and not is_numbered(language, reading, tokens, 0, end)) or bool(reading.next_unit)
    return day or reading.every or reading.amount is not None


def is_numbered(language: Language, reading: Reading, tokens: Sequence[str], begin: int, end: int) -> bool:
    """Tests whether a day of a month may be a number of the text: the 2nd candidate; but not on the 2nd."""
    numbered = reading.day is not None and reading.month is None and not (reading.weekdays or reading.every)
    return numbered and end < len(tokens) and tokens[begin] not in language.announcing


def find_after(language: Language, reading: Reading, tokens: Sequence[str], begin: int, end: int) -> Open | None:
    """Returns a question about the words after a time."""
    after = word(tokens, end)
    if reading.hour is not None and names_zone(tokens[end:]):
        return Open("I use your own time zone. Write the time as your clock will show it.")
    if end == begin + 1 and (question := find_other_meaning(reading, tokens[begin])):
        return Open(question)
    if reading.every and (after in language.goes_on or has_end(language, reading, tokens, end)):
        return Open("From when, and until when? Write, for example: every day 8:00 until 2030-12-31.")
    if reading.amount is not None and reading.unit == HOUR and not reading.every and after.isdigit():
        return Open(f"In how many minutes? Write, for example: in {reading.amount} h 30 min.")
    if is_next_year(language, tokens, end):
        return Open("On which day? Write the date with its year: 2030-12-31 9:00.")
    if continues_span(language, reading, tokens, end):
        return Open("How long from now? Write one span, or a day and an hour: tomorrow 9:00.")
    several = (
        (reading.hour is not None and (HOUR_IN_TEXT.fullmatch(after) or joins_hour(language, tokens[end:])))
        or (reading.hour is not None and after.isdigit() and lists_more(language, tokens, end))
        or after in language.joins | language.either
        or (after in language.limits | language.linking | DASHES and says_hour(language, tokens, end + 1))
    )
    if several:
        return Open(ONE_TIME)
    if is_bare(reading) and (is_short_day(language, after) or has_day_behind(language, tokens, end)):
        return Open(f"On which day? Write it next to the time, for example: {language.example}.")
    if minute := find_minute(language, reading, tokens, end):
        return Open(f"At {reading.hour}:{minute:02}, or at {reading.hour}:00? Write the time with a colon.")
    return find_misspelt(language, reading, after)


def continues_span(language: Language, reading: Reading, tokens: Sequence[str], end: int) -> bool:
    """Tests whether a smaller unit follows a span: in 1 day 2 hours; but not in 20 minutes 1 hour of yoga."""
    _, unit, _ = quantity(language, tokens, end)
    span = reading.amount is not None and not reading.every and reading.hour is None
    return span and unit in UNITS[: UNITS.index(reading.unit)]


def lists_more(language: Language, tokens: Sequence[str], at: int) -> bool:
    """Tests whether another number may follow one: 14, 20 pills; 14 and 20."""
    return isinstance(tokens[at], Paused) or word(tokens, at + 1) in language.joins | language.either


def joins_hour(language: Language, tokens: Sequence[str]) -> bool:
    """Tests whether a text has another hour after `and`: pills and 19:00 vitamins."""
    return any(
        one in language.joins and HOUR_IN_TEXT.fullmatch(word(tokens, skip(tokens, at + 1, language.at)))
        for at, one in enumerate(tokens[:MOST_WORDS])
    )


def is_short_day(language: Language, said: str) -> bool:
    """Tests whether a word may be an abbreviated day: fri, Fr., but not so."""
    return said.rstrip(".") in language.short_weekdays and len(said) > SHORT_LETTERS


def is_shortest_day(language: Language, said: str, time: Sequence[str]) -> bool:
    """Tests whether the first word of a phrase may be a day of two letters: Mo. An English word needs a time in that
    language: So um 10."""
    if len(said) > SHORT_LETTERS or said not in language.short_weekdays:
        return False
    return said not in language.also_english or any(one in language.at | language.oclock for one in time)


def ends_in_day(language: Language, tokens: Sequence[str], at: int) -> bool:
    """Tests whether the words from a place on are a day."""
    reading, end = read_parts(language, tokens, at)
    return reading is not None and reading.has_day and end == len(tokens)


def is_bare(reading: Reading) -> bool:
    """Tests whether a time of day was said, but no day or rhythm."""
    return reading.hour is not None and not (reading.has_day or reading.every) and reading.amount is None


def has_day_behind(language: Language, tokens: Sequence[str], end: int) -> bool:
    """Tests whether a text says a day: call Tom tomorrow, but not pack for tomorrow."""
    return any(
        not (at and tokens[at - 1] in language.lasting) and begins_day(language, tokens[at : at + DAY_WORDS])
        for at in range(end, min(len(tokens), end + MOST_WORDS))
    )


def find_minute(language: Language, reading: Reading, tokens: Sequence[str], end: int) -> int:
    """Returns the minute that a number after an hour may mean, if it is a multiple of five, in words or after Uhr: 9 30
    call mom; else 0."""
    at = end - 2 if not language.meridiem and word(tokens, end - 1) in language.oclock else end - 1
    if at < 0 or reading.minute or number(language, tokens[at]) != reading.hour or reading.hour is None:
        return 0
    minute, _ = minutes_behind(language, tokens, end)
    return minute if minute is not None and (minute % 5 == 0 or at == end - 2 or not tokens[end].isdigit()) else 0


def has_end(language: Language, reading: Reading, tokens: Sequence[str], end: int) -> bool:
    """Tests whether the text of a rule ends in words that say until when: pills for 5 days, pills until Christmas."""
    if reading.until or reading.lasts or reading.times:
        return False
    for at in range(max(end, len(tokens) - LONGEST), len(tokens)):
        if " ".join(tokens[at : at + 2]) in language.barring:
            return True
        if tokens[at] in language.until | language.goes_on and len(tokens) - at <= 3:
            return True
        rest = Reading(every=True, unit=reading.unit)
        if read_end(language, rest, tokens, at) == len(tokens) and (rest.lasts or ("", ""))[1] not in (MINUTE, HOUR):
            return True
    return False


def says_hour(language: Language, tokens: Sequence[str], at: int) -> bool:
    """Tests whether the words from a place on begin with a time, or a number that can be an hour."""
    hour = number(language, word(tokens, at))
    return (hour is not None and hour <= LATEST_HOUR) or read_parts(language, tokens, at)[0] is not None


def find_misspelt(language: Language, reading: Reading, said: str) -> Open | None:
    """Returns a question if a word beside a time of day looks like a misspelt day; else None."""
    names = [*language.days, *language.weekdays, *language.plural_weekdays]
    if not is_bare(reading) or len(said) < NAME_LETTERS or not said.isalpha():
        return None
    if not get_close_matches(said, names, 1, ALIKE):
        return None
    return Open(f"Is “{said}” a day? Write the day next to the time, for example: {language.example}.")


def find_other_meaning(reading: Reading, said: str) -> str:
    """Returns a question about a time of day in one word that may be a date or a span: 10.12, 2h; empty: none."""
    if not is_bare(reading):
        return ""
    first, dot, second = said.partition(".")
    if dot and first.isdigit() and second.isdigit() and int(second) <= 12:
        return f"A date or a time of day? Write {said}. 9:00 or {first}:{second}."
    if said.endswith("h") and said[:-1].isdigit() and int(said[:-1]) <= 12:
        return f"In {said[:-1]} hours, or at {said[:-1]}:00? Write: in {said}, or {said[:-1]}:00."
    return ""
