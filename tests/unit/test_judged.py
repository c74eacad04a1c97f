"""How well keywords tell what is worth keeping, on labelled messages (`python -m tests.judged`)."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.judged import is_looked_at, keywords_keep, labelled, score


def test_the_set_is_whole() -> None:
    messages = labelled()
    assert len(messages) == len({one.text for one in messages}) == 200
    assert min(Counter(one.language for one in messages).values()) >= 40
    assert 80 <= sum(one.keep for one in messages) <= 120


@pytest.mark.parametrize("language", ["en", "de", "es"])
def test_keywords_keep_little_that_is_worth_nothing(language: str) -> None:
    told = score([one for one in labelled() if one.language == language], keywords_keep)
    assert told.precision >= 0.9
    assert told.recall >= 0.6


def test_a_judge_gets_to_read_nearly_all_that_is_worth_keeping() -> None:
    assert score(labelled(), is_looked_at).recall >= 0.9
