"""What people say about answers, as patterns."""

from __future__ import annotations

import pytest

from relay.memory.preferences.patterns import read_pattern, says_right


@pytest.mark.parametrize(
    ("polarity", "words", "pattern"),
    [
        (1, "short answers", ("length", "short answers", 1)),
        (1, "no emoji", ("tone", "emoji", -1)),
        (1, "don't use emoji", ("tone", "emoji", -1)),
        (1, "fewer emoji", ("tone", "emoji", -1)),
        (-1, "no examples", ("examples", "examples", 1)),
        (-1, "jokes", ("tone", "humour", -1)),
        (-1, "too long", ("length", "short answers", 1)),
        (1, "more examples", ("examples", "examples", 1)),
        (1, "simpler words", ("language", "plain words", 1)),
        (-1, "notes", ("other", "notes", -1)),
        (None, "no emoji", ("tone", "emoji", -1)),
    ],
)
def test_a_statement_and_its_negation_are_one_pattern(
    polarity: int | None, words: str, pattern: tuple[str, str, int]
) -> None:
    found = read_pattern(words, polarity)  # type: ignore[arg-type]
    assert (found.type, found.pattern, found.polarity) == pattern


def test_just_right_is_recognised() -> None:
    assert says_right(" Just  right!")
    assert not says_right("just right, more examples")
