"""Phrases that set a standing intent."""

from __future__ import annotations

import pytest

from relay.commands.reminders.intents import read_intent


@pytest.mark.parametrize(
    ("phrase", "about", "text"),
    [
        ("when dentist: take the insurance card", "dentist", "take the insurance card"),
        ("when I mention pharmacy:2 aspirin", "pharmacy", "2 aspirin"),
        ("wenn ich Apotheke erwähne:2 Aspirin", "Apotheke", "2 Aspirin"),
        ("when train 10:30, take the tickets", "train 10:30", "take the tickets"),
    ],
)
def test_words_and_text_are_told_apart(phrase: str, about: str, text: str) -> None:
    assert read_intent(phrase) == (about, text)


def test_a_time_of_day_does_not_end_the_words() -> None:
    assert read_intent("when I arrive at 9:30 to call mom") is None
