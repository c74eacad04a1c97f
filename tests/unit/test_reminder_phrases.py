"""Reminder phrases as people type them: how many are understood exactly, asked about though clear, or wrong.

`python -m tests.unit.test_reminder_phrases` prints the shares and every phrase that isn't understood exactly.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from datetime import time as clock
from itertools import islice
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from dateutil.rrule import rrulestr
from hypothesis import example, given, settings
from hypothesis import strategies as st

from relay.memory.reminders.phrases import LANGUAGES, OTHER_LANGUAGE, Unclear, Understood, read_phrase, says_clock

PHRASES = Path(__file__).parent.parent / "reminder_phrases.tsv"
BERLIN = ZoneInfo("Europe/Berlin")
NOW = datetime(2026, 11, 25, 14, 10, tzinfo=BERLIN)
COMPARED = 30
"""How many occurrences of two rules are compared, since a rule can be written in several ways."""
EXACT, ASKED, OTHER_TEXT, WRONG = "exact", "asked though clear", "right time, other text", "wrong time"


@dataclass(frozen=True, slots=True)
class Phrase:
    """What somebody types, and what they mean."""

    words: str
    when: str
    """A local time, with a rule if it repeats; `?` if a careful person would ask back."""
    text: str


def read_phrases() -> list[Phrase]:
    lines = PHRASES.read_text().splitlines()
    return [Phrase(*line.split("\t")) for line in lines if not line.startswith("#")]


def newest_phrases() -> list[Phrase]:
    """The phrases from the first of which a time was once stated with confidence, and wrong."""
    phrases = read_phrases()
    return phrases[[one.words for one in phrases].index("tomorrow call mom at 9:00") :]


def occurrences(start: datetime, rule: str) -> list[datetime]:
    """The first local times of a rule."""
    local = start.replace(tzinfo=None)
    return list(islice(rrulestr(rule, dtstart=local), COMPARED)) if rule else [local]


def judge(phrase: Phrase) -> str:
    """Compares how a phrase is read with what it means."""
    read = read_phrase(phrase.words, NOW, BERLIN)
    # Without a text, the command asks what to remind of.
    if not isinstance(read, Understood) or not read.text:
        return EXACT if phrase.when == "?" else ASKED
    if phrase.when == "?":
        return WRONG
    day, clock, *rule = phrase.when.split(" ")
    start = datetime.fromisoformat(f"{day} {clock}")
    if read.start.tzinfo is not BERLIN or bool(read.rule) != bool(rule):
        return WRONG
    if occurrences(read.start, read.rule) != occurrences(start, "".join(rule)):
        return WRONG
    return EXACT if read.text == phrase.text else OTHER_TEXT


@pytest.mark.parametrize(
    "words", ["monday ", "1 ", "1 hour ", "every ", "9:00 ", "9:00 monday ", "every day 9:00 until monday "]
)
def test_a_long_text_is_read_quickly(words: str) -> None:
    began = time.process_time()
    for end in ("", "x"):
        read_phrase((words * 10_000)[:10_000] + end, NOW, BERLIN)
    says_clock((words * 40_000)[:40_000] + "x", clock(14))
    assert time.process_time() - began < 15  # it takes a second, and several with coverage measured


def vocabulary() -> list[str]:
    """Every word that a language knows, in phrases of one or more words."""
    values = [getattr(language, one.name) for language in LANGUAGES for one in fields(language)]
    words = {word for value in values if isinstance(value, frozenset | Mapping) for word in value}
    return sorted(words | {"1", "2", "9", "12", "30", "9:00", "18:30", "24.12.", "1st", "2h", "2x", "mom", "call"})


@given(st.lists(st.sampled_from(vocabulary()), max_size=8).map(" ".join))
@example("in half an hour")
@settings(max_examples=100, deadline=None)
def test_any_words_are_understood_or_asked_about(words: str) -> None:
    assert isinstance(read_phrase(words, NOW, BERLIN), Understood | Unclear)


@pytest.mark.parametrize(
    "words",
    [
        "mañana a las 9 llamar al dentista", "llamar al dentista manana a las 9:00", "basura cada lunes 8:00",
        "poubelles lundi 8:00", "aujourd’hui 18:00 poubelles", "chiamare il dentista domani alle 9:30",
        "ligar para o dentista amanhã 9:00", "de tandarts bellen morgen om 9:00", "elke dag pillen om 8:00",
        "позвонить врачу завтра в 9:00", "śmieci w środę 8:00", "toplantı yarın 14:30", "9:00 明天 看牙医",
        "歯医者 毎日 9:00", "치과 내일 9:00", "en 20 minutos té", "через 20 минут чай", "24 de diciembre cena 18:00",
    ],
)  # fmt: skip
def test_a_day_in_another_language_is_never_ignored(words: str) -> None:
    assert read_phrase(words, NOW, BERLIN) == Unclear(OTHER_LANGUAGE)


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        ("every quarter 9:00 taxes", "every 3 months 9:00"), ("this week 9:00 call Tom", "friday 9:00"),
        ("end of every month 9:00 rent", "last day of every month 9:00"),
        ("on the last day of the month 9:00 rent", "last day of every month 9:00"),
        ("am letzten tag des monats 9:00 miete", "last day of every month 9:00"),
    ],
)  # fmt: skip
def test_a_rhythm_that_is_not_read_is_refused_with_one_that_is(words: str, advice: str) -> None:
    said = read_phrase(words, NOW, BERLIN)
    assert isinstance(said, Unclear)
    assert said.lacks_time
    assert "I don't understand" in said.question
    assert advice in said.question
    advised = read_phrase(f"{advice} go", NOW, BERLIN)
    assert isinstance(advised, Understood)
    assert advised.text == "go"


def test_twelve_is_noon_or_midnight() -> None:
    said = read_phrase("at 12 lunch", NOW, BERLIN)
    assert said == Unclear("At noon or at midnight? Write 12:00 or 00:00.")


@pytest.mark.parametrize("words", ["18:00 Elke anrufen", "18:00 meet Maja", "18:00 Roman lesen", "18:00 gun range"])
def test_a_name_is_no_day_in_another_language(words: str) -> None:
    read = read_phrase(words, NOW, BERLIN)
    assert isinstance(read, Understood)
    assert read.text == words[6:]


def test_reminder_phrases_are_almost_never_misunderstood() -> None:
    phrases = read_phrases()
    judged = Counter(judge(phrase) for phrase in phrases)
    assert len(phrases) >= 320
    assert judged[WRONG] <= len(phrases) * 0.01, judged
    assert judged[EXACT] >= len(phrases) * 0.93, judged


@pytest.mark.parametrize("phrase", newest_phrases(), ids=lambda phrase: phrase.words)
def test_no_time_is_set_while_another_part_of_it_is_left_over(phrase: Phrase) -> None:
    assert judge(phrase) == EXACT


def first_days(words: str, now: datetime, number: int = 4) -> list[str]:
    read = read_phrase(words, now, BERLIN)
    assert isinstance(read, Understood)
    return [f"{one:%Y-%m-%d}" for one in occurrences(read.start, read.rule)[:number]]


@pytest.mark.parametrize(
    ("said", "words", "days"),
    [
        ("2027-01-31", "every month 9:00 rent", ["2027-01-31", "2027-02-28", "2027-03-31", "2027-04-30"]),
        ("2027-01-29", "jeden Monat 9:00 Miete", ["2027-01-29", "2027-02-28", "2027-03-29", "2027-04-29"]),
        ("2027-01-28", "every month 9:00 rent", ["2027-01-28", "2027-02-28", "2027-03-28", "2027-04-28"]),
        ("2028-02-29", "every year 9:00 party", ["2028-02-29", "2029-02-28", "2030-02-28", "2031-02-28"]),
        ("2026-11-25", "every 4 years february 29 9:00 party", ["2028-02-29", "2032-02-29", "2036-02-29"]),
        ("2026-11-25", "every year on february 29 9:00 party", ["2027-02-28", "2028-02-29", "2029-02-28"]),
        ("2026-11-25", "every 2 months on the 31st 9:00 pay", ["2026-12-31", "2027-02-28", "2027-04-30"]),
    ],
)  # fmt: skip
def test_a_day_that_a_month_lacks_is_its_last_day(said: str, words: str, days: list[str]) -> None:
    now = datetime.fromisoformat(f"{said}T07:00").replace(tzinfo=BERLIN)
    assert first_days(words, now, len(days)) == days


@pytest.mark.parametrize(
    ("said", "words", "choice"),
    [
        ("2026-11-26T00:30", "tomorrow 9:00 call mom", ("2026-11-26 09:00", "2026-11-27 09:00")),
        ("2026-11-26T03:59", "morgen früh um 8 anrufen", ("2026-11-26 08:00", "2026-11-27 08:00")),
        ("2026-11-26T00:30", "übermorgen 9:00 anrufen", ("2026-11-27 09:00", "2026-11-28 09:00")),
        ("2026-11-27T08:00", "kommenden Freitag 9:00 Bericht", ("today 09:00", "2026-12-04 09:00")),
        ("2026-11-27T08:00", "coming friday 9:00 report", ("today 09:00", "2026-12-04 09:00")),
    ],
)
def test_which_day_is_asked(said: str, words: str, choice: tuple[str, str]) -> None:
    read = read_phrase(words, datetime.fromisoformat(said).replace(tzinfo=BERLIN), BERLIN)
    assert isinstance(read, Unclear)
    assert all(one in read.question for one in choice)


@pytest.mark.parametrize(
    ("said", "words", "day"),
    [
        ("2026-11-26T04:00", "tomorrow 9:00 call mom", "2026-11-27"),
        ("2026-11-26T00:30", "today 9:00 call mom", "2026-11-26"),
        ("2026-11-26T03:00", "tomorrow 2:30 call mom", "2026-11-27"),
        ("2026-11-26T00:30", "in 1 day at 9:00 call mom", "2026-11-27"),
        ("2026-11-27T10:00", "kommenden Freitag 9:00 Bericht", "2026-12-04"),
    ],
)
def test_a_day_that_is_clear_is_not_asked(said: str, words: str, day: str) -> None:
    assert first_days(words, datetime.fromisoformat(said).replace(tzinfo=BERLIN)) == [day]


if __name__ == "__main__":
    judgements = [(judge(phrase), phrase) for phrase in read_phrases()]
    for judgement, phrase in judgements:
        if judgement != EXACT:
            read = read_phrase(phrase.words, NOW, BERLIN)
            got = f"{read.start:%Y-%m-%d %H:%M} {read.rule} [{read.text}]" if isinstance(read, Understood) else "?"
            print(f"{judgement}: {phrase.words!r} is {phrase.when} [{phrase.text}], read as {got}")
    for judgement, number in Counter(one for one, _ in judgements).most_common():
        print(f"{number / len(judgements):6.1%} {number:4} {judgement}")
