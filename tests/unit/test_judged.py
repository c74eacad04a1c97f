"""How well keywords recognize what is worth keeping, on labelled messages (`python -m tests.judged`)."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.judged import is_looked_at, keywords_keep, labelled, score


def test_the_labelled_messages_are_complete_and_balanced() -> None:
    messages = labelled()
    assert len(messages) == len({one.text for one in messages}) == 200
    assert min(Counter(one.language for one in messages).values()) >= 40
    assert 80 <= sum(one.keep for one in messages) <= 120


@pytest.mark.parametrize("language", ["en", "de", "es"])
def test_keywords_rarely_keep_worthless_messages(language: str) -> None:
    told = score([one for one in labelled() if one.language == language], keywords_keep)
    assert told.precision >= 0.9
    assert told.recall >= 0.6


def test_nearly_all_messages_worth_keeping_reach_the_judge() -> None:
    assert score(labelled(), is_looked_at).recall >= 0.9
