"""Rows are found in a model's answer, whatever surrounds them."""

from __future__ import annotations

from typing import Any

import pytest

from relay.core.errors import ModelRefused
from relay.core.frozen import frozen
from relay.core.models import Step, list_tool
from relay.memory.answers import InvalidAnswer, read_rows
from relay.memory.proactive.looking import NOTIFY, NotifyInput, answer_of
from tests.judging import called

TOOL = list_tool("note", "Notes.", "notes", {"a": {"type": "integer"}}, ("a",))


@frozen
class Note:
    a: int


def said(text: str, stop_reason: str = "end_turn") -> Step:
    return Step([{"type": "text", "text": text}], stop_reason, {}, "small")


@pytest.mark.parametrize(
    "text",
    [
        'Here it is:\n[{"a": 1}]\nDone.',
        '```json\n[{"a": 1, "more": [null]}]\n```',
        'I hope {this} helps: [{"a": 1}]',
        '{"notes": [{"a": 1}]}',
    ],
)
def test_rows_are_found_inside_other_text(text: str) -> None:
    assert read_rows(said(text), Note) == read_rows(said(text), Note, TOOL) == [Note(1)]


def test_rows_under_a_name_are_found_beside_other_lists() -> None:
    assert read_rows(said('I looked at [1]. {"sure": [], "notes": [{"a": 1}]}'), Note, TOOL) == [Note(1)]


@pytest.mark.parametrize(
    "text", ["", "no", "[1]", "[{]", '{"a": 1}', '[{"a": 1}, {}]', "[" * 100_000 + "]" * 100_000, "[NaN]", "9" * 5_000]
)
def test_an_answer_without_a_list_of_rows_is_invalid(text: str) -> None:
    for tool in (None, TOOL):
        with pytest.raises(InvalidAnswer):
            read_rows(said(text), Note, tool)


def test_rows_that_do_not_fit_can_be_left_out_unless_none_fits() -> None:
    assert read_rows(said('[1, {"a": 1}, {"a": "x"}, {"a": 2}]'), Note, skip=True) == [Note(1), Note(2)]
    assert read_rows(said("[]"), Note, skip=True) == []
    with pytest.raises(InvalidAnswer):
        read_rows(said('[1, {"a": "x"}]'), Note, skip=True)


def test_the_text_counts_if_a_tools_input_has_no_list() -> None:
    step = called(TOOL, {})
    assert read_rows(Step([*step.blocks, *said('[{"a": 1}]').blocks], "tool_use", {}, "small"), Note, TOOL) == [Note(1)]


def test_a_refusal_and_an_answer_that_was_cut_off_are_told_apart() -> None:
    with pytest.raises(ModelRefused):
        read_rows(said('[{"a": 1}]', "refusal"), Note)
    with pytest.raises(InvalidAnswer, match="cut off"):
        read_rows(said('[{"a": 1}]', "max_tokens"), Note)
    assert read_rows(said('[{"a": 1}]', "max_tokens"), Note, cut=True) == [Note(1)]


def test_a_text_with_half_a_character_is_read() -> None:
    assert read_rows(said('[{"text": "a\\ud800b"}]'), Words) == [Words("a\ufffdb")]


@frozen
class Words:
    text: str


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ({"send": True, "text": "Hi"}, NotifyInput(True, "Hi")),
        ({"send": "true", "text": 5, "more": 1}, NotifyInput(True, "5")),
        ({"send": "false", "text": "Hi"}, NotifyInput(False, "Hi")),
        ({"send": None, "text": None, "unsure": 1}, NotifyInput(unsure=True)),
        ([], NotifyInput()), ("x", NotifyInput()), (None, NotifyInput()),
    ],
)  # fmt: skip
def test_a_check_says_something_only_if_the_model_means_to(given: Any, read: NotifyInput) -> None:
    assert answer_of(called(NOTIFY, given)) == read
