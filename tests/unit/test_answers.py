"""Rows are found in a model's answer, whatever surrounds them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import TypeAdapter

from relay.core.errors import ModelRefused
from relay.core.frozen import frozen
from relay.core.models import Step, list_tool
from relay.memory.answers import InvalidAnswer, read_rows
from relay.memory.night.asking import AnswerList
from relay.memory.night.consolidate import Verdict
from relay.memory.night.digest import DigestTopic
from relay.memory.night.growth import Proposal
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
    ],
)
def test_a_list_is_found_inside_other_text(text: str) -> None:
    assert read_rows(said(text), Note) == [Note(1)]
    with pytest.raises(InvalidAnswer):  # it may be quoted
        read_rows(said(text), Note, TOOL)


@pytest.mark.parametrize("text", ['{"notes": [{"a": 1}]}', 'Here it is:\n```json\n{"notes": [{"a": 1}]}\n```'])
def test_a_tools_input_is_found_inside_other_text(text: str) -> None:
    assert read_rows(said(text), Note, TOOL) == [Note(1)]


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


@pytest.mark.parametrize("given", [{}, {"kind": "fact", "evidence": []}, {"notes": None, "rejected": [{"a": 1}]}])
def test_a_tool_that_was_called_is_the_answer(given: Any) -> None:
    step = called(TOOL, given)
    for besides in ("", '[{"a": 1}]', '{"notes": [{"a": 1}]}'):
        with pytest.raises(InvalidAnswer):
            read_rows(Step([*step.blocks, *said(besides).blocks], "tool_use", {}, "small"), Note, TOOL)


def test_rows_beyond_the_most_are_not_read() -> None:
    assert read_rows(said('[{"a": 1}, 2]'), Note, most=1) == [Note(1)]


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
        ({"send": " None.", "text": "Hi"}, NotifyInput(False, "Hi")),
        ({"send": None, "text": None, "unsure": 1}, NotifyInput(unsure=True)),
        ([], NotifyInput()), ("x", NotifyInput()), (None, NotifyInput()),
    ],
)  # fmt: skip
def test_a_check_says_something_only_if_the_model_means_to(given: Any, read: NotifyInput) -> None:
    assert answer_of(called(NOTIFY, given)) == read


@pytest.mark.parametrize(
    ("row", "kept", "read"),
    [
        (Verdict, {"pair": 1, "verdict": "different"}, Verdict(1, "different")),
        (DigestTopic, {"topic": "Tea", "points": ["Green."]}, DigestTopic("Tea", ("Green.",))),
        (
            Proposal,
            {"text": "Be brief.", "because": ["k1"], "replaces": None, "more": 1},
            Proposal("Be brief.", ("k1",)),
        ),
    ],
)
def test_an_answer_kept_by_an_earlier_version_is_read(row: Any, kept: Any, read: object) -> None:
    assert TypeAdapter(AnswerList[row]).validate_json(json.dumps({"list": [kept]})).list == [read]
