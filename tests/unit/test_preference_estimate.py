"""What choices teach about people, with and without a reason: rather nothing than something wrong."""

from __future__ import annotations

import math

import pytest

from relay.memory.preferences.estimate import Contrast, estimate
from tests.preference_people import SURER, Kind, live
from tests.sampled import sampled

USUAL = Kind()
ASIDE = {
    "sure of themselves": Kind(sureness=math.inf),
    "many patterns": Kind(patterns=24, liked=5, in_answer=7),
    "few likes": Kind(patterns=12, liked=2, in_answer=4, changes=2),
}
"""Kinds of people for which no constant was tuned."""


def test_without_features_nothing_is_estimated() -> None:
    assert estimate([]) == []
    assert estimate([Contrast({})] * 5) == []


def test_a_pattern_that_is_always_chosen_is_estimated_as_liked() -> None:
    noise = [("tone", "humour"), ("form", "lists and tables")]
    choices = [Contrast({("length", "short answers"): 1, noise[n % 2]: (-1) ** (n // 2)}) for n in range(24)]
    [found] = estimate(choices)
    assert (found.pattern, found.polarity, found.sureness >= SURER, found.choices) == ("short answers", 1, True, 24)
    turned = [Contrast({key: -sign for key, sign in one.features.items()}) for one in choices]
    assert [one.polarity for one in estimate(turned)] == [-1]


def test_the_newest_choices_decide() -> None:
    liked, disliked = Contrast({("tone", "humour"): 1}), Contrast({("tone", "humour"): -1})
    assert [one.polarity for one in estimate([liked] * 20 + [disliked] * 120)] == [-1]
    assert [one.polarity for one in estimate([disliked] * 600 + [liked] * 120)] == [1]


@pytest.mark.parametrize("kind", [USUAL, *ASIDE.values()], ids=["usual", *ASIDE])
@pytest.mark.parametrize("choices", sampled([30, 60], 2))
def test_estimates_without_reasons_are_rarely_wrong(kind: Kind, choices: int) -> None:
    before, after = live(5, 60, choices, kind, reasons=False, listed=True)
    assert before.wrong <= 0.05
    assert after.wrong <= 0.10
    assert before.found >= (0.02 if choices == 30 else 0.15)


@pytest.mark.parametrize("kind", [USUAL, *ASIDE.values()], ids=["usual", *ASIDE])
def test_estimates_with_reasons_find_most_preferences(kind: Kind) -> None:
    before, after = live(5, 60, 30, kind, reasons=True)
    assert before.found >= 0.90
    assert before.wrong <= 0.02
    assert after.found >= 0.80
    assert after.wrong <= 0.06
