"""Reads when someone wants to be reminded, and of what: `friday 8:00 take the bins out`. Pure.

A phrase is understood completely or not at all. What it leaves open is asked (`Unclear`), never guessed: an hour that
is missing, a next Friday that may be one of two, a date that can be read in two ways. An hour that comes with a day is
on the 24-hour clock.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, time, tzinfo

from relay.core.frozen import frozen
from relay.memory.reminders.apart import find_joined
from relay.memory.reminders.languages.elsewhere import names_day
from relay.memory.reminders.languages.english import ENGLISH
from relay.memory.reminders.languages.german import GERMAN
from relay.memory.reminders.languages.language import Language, Words
from relay.memory.reminders.leftovers import find_open, has_day_behind, is_bare
from relay.memory.reminders.meaning.moments import resolve
from relay.memory.reminders.meaning.times import Moment, Open, clock_of
from relay.memory.reminders.reading.parts import Paused, Reading
from relay.memory.reminders.reading.reader import LONGEST, read_parts
from relay.memory.reminders.vague import say_unread

LANGUAGES = (ENGLISH, GERMAN)
WORD = re.compile(r"\S+")
EDGES = " ,;:–—-"
MARKS = ',;:.!?()"“”„'
SUFFIX = re.compile(r"(?<=\d)['’][^\W\d_]+")
"""An ending at a number, as in Turkish: 14:30'da."""
SPACED = re.compile(r"\b(\d{1,2}) h (\d{2})\b")
"""14 h 30, as in French."""
JOINED = re.compile(r"(1[3-9]|2[0-3])[時点點时시]\s?(?:([0-5]?\d)[分분])?")
"""14時30分; earlier hours may be those of an afternoon."""
DATED = re.compile(r"\d{1,2}\.(\d{1,2}\.)?")
"""A date that ends in a full stop."""
CLOCK_WORDS = 12
"""The most words that say a time of day."""
CLOCK_LETTERS = 8_000
"""How much of a text is searched for a time of day. Reading more would hold up everybody."""
OTHER_LANGUAGE = (
    "I read times in English and German only, for example: tomorrow 9:00 call the dentist, every monday 8:00 bins. "
    "In other languages, ask me in your own words, without /remind."
)


@frozen
class Understood:
    """The time of a reminder, and its text."""

    start: datetime
    """The only time, or the first, with its zone."""
    rule: str
    """An RRULE; empty: it happens once."""
    text: str
    """What to be reminded of, as it was written; may be empty."""
    bare: bool = False
    """Only a time of day was said, no day and no rhythm."""
    local: datetime | None = None
    """The local time that was said, if the clocks may skip it."""

    @property
    def start_at(self) -> datetime:
        """The local time as it was said, with which a rule goes on."""
        return self.local or self.start.replace(tzinfo=None)


@frozen
class Unclear:
    """A question about what is missing or may mean two things."""

    question: str
    """The question: a sentence with an example."""
    lacks_time: bool = True
    """The phrase says when, but not clearly; False: it doesn't say when at all."""


def read_phrase(phrase: str, now: datetime, zone: tzinfo) -> Understood | Unclear:
    """Returns the meaning of a phrase that was written now. The time may come first or last in it, or one part of it
    first and the other last."""
    candidates = [one for language in LANGUAGES if (one := read_in(language, phrase, now, zone)) is not None]
    # Prefers the language that knows more of the words, even if it has a question.
    best = max(candidates, key=lambda one: (one[1], isinstance(one[0], Understood)), default=(None, 0))[0]
    if isinstance(best, Understood) and not best.bare:
        return best
    if names_day(phrase):
        return Unclear(OTHER_LANGUAGE, lacks_time=isinstance(best, Unclear) or any(map(str.isdigit, phrase)))
    if isinstance(best, Understood) and any(has_day_behind(language, split(best.text), 0) for language in LANGUAGES):
        return Unclear("On which day? Write the day and the hour in one language, for example: friday 8:00.")
    unread = [said for language in LANGUAGES if (said := say_unread(language, split(phrase)))]
    if best is None and unread:
        return Unclear(unread[0], lacks_time=any(map(str.isdigit, phrase)))
    return best or Unclear(
        "I can't tell when. Write the time first, for example: tomorrow 9:00 call the dentist, in 20 minutes tea, "
        "every monday 8:00 bins.",
        lacks_time=False,
    )


def read_in(language: Language, phrase: str, now: datetime, zone: tzinfo) -> tuple[Understood | Unclear, int] | None:
    """Reads a phrase in one language. Returns its meaning and how many of its words say when; None: none do."""
    found = list(WORD.finditer(phrase))
    tokens = close(language, split(phrase))
    if (joined := find_joined(language, tokens)) is not None:
        known = joined.words + isinstance(joined.meaning, Open)
        said = joined.meaning if isinstance(joined.meaning, Open) else resolve(joined.meaning, language, now, zone)
        if isinstance(said, Open):
            return Unclear(said.question), known
        text = text_of(phrase, found[: joined.end], joined.begin, language)
        return Understood(said.start, said.rule, text, local=said.local), known
    first: tuple[Understood | Unclear, int] | None = None
    for begin, end, reading in places(language, tokens):
        if left := find_open(language, reading, tokens, begin, end):
            return Unclear(left.question), end - begin + 1  # it knows a word more
        said = resolve(reading, language, now, zone)
        if isinstance(said, Moment):
            text = about(phrase, found, begin, end, language)
            return Understood(said.start, said.rule, text, is_bare(reading), said.local), end - begin
        first = first or (Unclear(said.question), end - begin)
        # A part of a time must not answer a question about the whole: friday of `next friday 8:00`.
        if not said.lacking or (end == len(tokens) and begin > 0):
            return Unclear(said.question), end - begin
    return first


def close(language: Language, tokens: list[str]) -> list[str]:
    """Returns the words without the marks that end a sentence. In German, a full stop may belong to a date: 24.12."""
    if not tokens:
        return tokens
    before, last = tokens[-2:-1], tokens[-1].rstrip("!?)")
    dated = language.dotted and DATED.fullmatch(last) and language.at.isdisjoint(before)
    return [*tokens[:-1], last if dated or last in language.meridiem else last.rstrip(".")]


def places(language: Language, tokens: Sequence[str]) -> Iterator[tuple[int, int, Reading]]:
    """Yields the places in a phrase that may say when: at its beginning, or else up to its end."""
    begin = 0
    while begin < len(tokens) and tokens[begin] in language.leading:
        begin += 1
    reading, end = read_parts(language, tokens, begin)
    if reading is not None:
        yield begin, end, reading
    for start in range(max(begin + 1, len(tokens) - LONGEST), len(tokens)):
        reading, end = read_parts(language, tokens, start)
        if reading is not None and end == len(tokens):
            yield start, end, reading


def says_clock(text: str, clock: time) -> bool:
    """Tests whether a text says a time of day without another possible meaning: 14:00, 2 pm, 2 in the afternoon, but
    not 2. Reads only its beginning."""
    text = SPACED.sub(r"\1h\2", SUFFIX.sub("", text[:CLOCK_LETTERS]))
    text = JOINED.sub(lambda match: f" {match[1]}:{int(match[2] or 0):02} ", text)
    tokens = [match[0].casefold().strip(MARKS) for match in WORD.finditer(text)]
    return any(
        sure_clock(read_parts(language, tokens[begin : begin + CLOCK_WORDS], 0)[0]) == clock
        for language in LANGUAGES
        for begin in range(len(tokens))
    )


def sure_clock(reading: Reading | None) -> time | None:
    """Returns the time of day of a reading; None: it has none, or it may be one of two."""
    if reading is None or not (reading.exact or reading.part or (reading.hour or 0) > 12):
        return None
    try:
        found = clock_of(reading, datetime.min)
    except ValueError:  # there is no such hour
        return None
    return found if isinstance(found, time) else None


def about(phrase: str, found: Sequence[re.Match[str]], begin: int, end: int, language: Language) -> str:
    """Returns the words that don't say when, without those that link them to the time."""
    if end < len(found):
        return text_of(phrase, found, end, language)
    at = 0
    while at < begin and found[at][0].casefold() in language.leading | linking(found, language):
        at += 1
    return phrase[found[at].start() : found[begin].start()].strip(EDGES) if at < begin else ""


def text_of(phrase: str, found: Sequence[re.Match[str]], at: int, language: Language) -> str:
    """Returns the words from a place on, without those that link them to the time before."""
    links = linking(found, language)
    while at < len(found) and found[at][0].casefold().strip(",:") in links:
        at += 1
    return phrase[found[at].start() : found[-1].end()].strip(EDGES) if at < len(found) else ""


def linking(found: Sequence[re.Match[str]], language: Language) -> Words:
    """Returns the words that link a text to the time before it."""
    led = found[0][0].casefold() in language.leading
    return language.linking | language.led_linking if led else language.linking


def split(phrase: str) -> list[str]:
    """Returns the words of a phrase, to be compared with those of a language; without a bracket that ends it."""
    marks = ",;:(" if phrase.endswith(")") else ",;:"
    said = [match[0].casefold() for match in WORD.finditer(phrase)]
    return [Paused(one.strip(marks)) if one.endswith((",", ";")) else one.strip(marks) for one in said]
