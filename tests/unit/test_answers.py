"""A JSON list is found in a small model's answer, whatever text surrounds it."""

from __future__ import annotations

import pytest

from relay.core.models import Step
from relay.memory.night.asking import AnswerUnclear, list_of


def said(text: str) -> Step:
    return Step([{"type": "text", "text": text}], "end_turn", {}, "small")


def test_a_json_list_is_found_inside_other_text() -> None:
    assert list_of(said('Here it is:\n[{"a": 1}]\nDone.')) == [{"a": 1}]


@pytest.mark.parametrize("text", ["", "no", "[1]", "[{]", "[" * 100_000 + "]" * 100_000])
def test_an_answer_without_a_list_of_objects_is_unclear(text: str) -> None:
    with pytest.raises(AnswerUnclear):
        list_of(said(text))
