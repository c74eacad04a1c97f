"""Reminders said shortly before the clocks change, or while they show the same hour a second time."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from relay.conversation.tools.reminder_input import moment_of
from relay.memory.reminders.phrases import Understood, read_phrase
from relay.memory.rows.proactive.rule_words import say_rule
from relay.surfaces.chat.reminders.wording import plain_moment

BERLIN = ZoneInfo("Europe/Berlin")
FIRST, SECOND = (datetime(2027, 10, 31, 2, 6, tzinfo=BERLIN, fold=fold) for fold in (0, 1))
"""Six past two on the night in which that comes twice."""


@pytest.mark.parametrize(
    ("now", "phrase", "repeats"),
    [
        (datetime(2028, 3, 20, 12), "every sunday 2:15 church", "every Sunday at 2:15"),
        (datetime(2028, 3, 25, 12), "every day 2:00 pills", "every day at 2:00"),
        (datetime(2028, 3, 26, 1, 30), "every day 2:00 pills", "every day at 2:00"),
    ],
)
def test_a_rule_keeps_the_hour_that_was_said_although_the_clocks_skip_it_at_first(
    now: datetime, phrase: str, repeats: str
) -> None:
    said = read_phrase(phrase, now.replace(tzinfo=BERLIN), BERLIN)
    assert isinstance(said, Understood)
    assert (said.start.day, said.start.hour) == (26, 3), "that day it comes an hour later"
    assert say_rule(said.rule, said.start_at) == repeats


@pytest.mark.parametrize(
    ("now", "phrase", "when"),
    [
        (FIRST, "2:20 tea", "today 2:20 CEST"),
        (FIRST, "today 2:30 tea", "today 2:30 CEST"),
        (FIRST, "in 1 hour tea", "today 2:06 CET"),
        (SECOND, "2:20 tea", "today 2:20 CET"),
        (SECOND, "today 2:30 tea", "today 2:30 CET"),
        (SECOND, "3:30 tea", "today 3:30"),
        (SECOND, "every day 2:20 tea", "tomorrow 2:20"),
    ],
)
def test_an_hour_that_comes_twice_can_be_said_in_both_rounds(now: datetime, phrase: str, when: str) -> None:
    said = read_phrase(phrase, now, BERLIN)
    assert isinstance(said, Understood)
    assert plain_moment(said.start, BERLIN, now) == when


@pytest.mark.parametrize(
    ("now", "at", "when"),
    [
        (FIRST, "2027-10-31T02:20", "today 2:20 CEST"),
        (SECOND, "2027-10-31T02:20", "today 2:20 CET"),
        (FIRST, "2027-10-31T02:20+01:00", "today 2:20 CET"),
    ],
)
def test_the_model_can_set_an_hour_that_comes_twice(now: datetime, at: str, when: str) -> None:
    _, _, found = moment_of({"at": at}, BERLIN, "say", now)
    assert plain_moment(found, BERLIN, now) == when
