"""Whether labelled acts measure what they are to measure (`python -m tests.attributed`): without a model."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from relay.core.models import ModelRequest, Step
from relay.core.spending.charge import Charge
from tests.attributed import Act, Rules, attributed, features, labelled, meant, score, table, turned


@dataclass
class Knowing:
    """A model that says what the person would name, or its opposite (`sign` -1), or what no answer is like."""

    act: Act
    sign: int = 1
    words: str = ""

    async def ask(self, request: ModelRequest, charge: Charge, seconds: float) -> Step:
        against = self.act.kind in ("thumbs down", "abandon")
        which = "b" if self.act.kind == "refine" else "a"
        said = [
            {
                "type": features()[one[1:]].types[0],
                "pattern": self.words or one[1:],
                "polarity": self.sign * (1 if (one[0] == "+") != against else -1),
                "which": which,
            }
            for one in sorted(self.act.named)[: 1 if self.words else None]
        ]
        return Step(
            [{"type": "tool_use", "id": "1", "name": "observe", "input": {"patterns": said}}], "tool_use", {}, ""
        )


def test_there_are_100_pairs_and_24_single_answers_in_two_languages() -> None:
    acts = labelled()
    assert [bool(act.b) for act in acts] == [True] * 100 + [False] * 24
    assert len({act.question for act in acts}) == 124
    assert min(sum(act.language == one for act in acts) for one in ("en", "de")) >= 50
    for act in acts:
        assert act.named
        assert {one[1:] for one in act.named | act.also} <= features().keys()
        assert not {turned(one) for one in act.named | act.also} & (act.named | act.also), act.question
        assert not act.named & act.also, act.question
    liked, disliked = ({one for act in acts for one in act.named if one[0] == sign} for sign in "+-")
    assert len(liked & {turned(one) for one in disliked}) >= 12, "most features are liked here and disliked there"


@pytest.mark.parametrize(
    ("pattern", "polarity", "feature"),
    [
        ("short answers", 1, "+short answers"), ("lengthy replies", 1, "-short answers"),
        ("long answers", -1, "+short answers"), ("no emoji", 1, "-emoji"), ("informal tone", 1, "-formal tone"),
        ("lack of detail", 1, "-step by step"), ("technical jargon", 1, "-plain words"),
        ("freundlicher ton", 1, "+warm tone"), ("ohne quellen", 1, "-sources and links"),
    ],
)  # fmt: skip
def test_words_mean_a_feature(pattern: str, polarity: int, feature: str) -> None:
    assert feature in meant(pattern, polarity)
    assert turned(feature) in meant(pattern, -polarity)


async def test_who_knows_the_reasons_is_always_right() -> None:
    found = [await attributed(act, Knowing(act), "small") for act in labelled()]
    told = score(found)
    assert (told.named, told.amiss, told.silent) == (1, 0, 0)
    assert told.of_patterns["typed"] == 1


async def test_who_says_the_opposite_is_always_wrong() -> None:
    told = score([await attributed(act, Knowing(act, -1), "small") for act in labelled()])
    assert (told.named, told.amiss, told.silent) == (0, 1, 0)


async def test_a_topic_is_wrong_and_what_is_no_pattern_is_nothing() -> None:
    topics = score([await attributed(act, Knowing(act, words="birthday cake"), "small") for act in labelled()])
    assert (topics.named, topics.amiss, topics.of_patterns["unplaced"]) == (0, 1, 1)
    assert score([await attributed(act, Knowing(act, words="<b> 17"), "small") for act in labelled()]).silent == 1


async def test_a_few_signs_tell_more_than_half_of_the_reasons() -> None:
    acts = labelled()
    found = [await attributed(act, Rules(), "rules") for act in acts]
    told = score(found)
    assert 0.55 <= told.named <= 0.7
    assert told.amiss <= 0.05
    assert len(table(list(zip(acts, found, strict=True))).splitlines()) == 8
