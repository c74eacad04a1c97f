"""Markers: parsed exactly as specified, only in what the person wrote, and invisible to the model."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from relay.core.limits import MARKERS_PER_MESSAGE
from relay.core.prompt_markup import remove_invisible
from relay.memory.contexts.markers import (
    PRESETS,
    find_markers,
    marker_notes,
    markers_in,
    name_weight,
    read_weight,
    remove_markers,
    round_weight,
)
from tests.strategies import ODD_TEXT, examples

GIVEN = re.compile(r"##keepit(\d+\.\d{2})##([\s\S]*?)(?=##keepit|\Z)", re.IGNORECASE | re.ASCII)
"""The pattern as specified, without `##/keepit##`."""
PIECES = st.sampled_from(
    ["##keepit0.80##", "##KEEPIT1.00##", "##keepit9.99##", "##keepit0.8##", "##keepit0.805##", "##keepit##",
     "##/keepit##", "##keepit", "#", "##", "\n", " ", "\t", "a", "0.50", "##KeepIt00.50##", "##keepit٠.٨٠##",
     "##\u212aeepit0.80##", "\u200b", "😀", "ä"]
)  # fmt: skip
TEXTS = st.lists(PIECES | ODD_TEXT | st.text(max_size=12), max_size=14).map("".join)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("##keepit0.80##the gate code", [("0.80", "the gate code", 0, 27)]),
        ("before ##keepit0.80##  kept  ##/keepit## after", [("0.80", "kept", 7, 29)]),
        ("##keepit0.80##a\n\nb##keepit1.00##c", [("0.80", "a\n\nb", 0, 18), ("1.00", "c", 18, 33)]),
        ("##KEEPIT0.50##any case", [("0.50", "any case", 0, 22)]),
        ("##keepit1.50##clamped", [("1.00", "clamped", 0, 21)]),
        ("##keepit00.25##zeros", [("0.25", "zeros", 0, 20)]),
        ("##keepit0.00##nothing", [("0.00", "nothing", 0, 21)]),
        ("##keepit0.80##x##keepit##y", [("0.80", "x", 0, 15)]),
        ("##keepit0.80##", []),
        ("##keepit0.80## \n ##/keepit## x", []),
        ("##keepit0.80##\u200b", []),
        ("##keepit0.8##one decimal", []),
        ("##keepit0.805##three decimals", []),
        ("##keepit1##none", []),
        ("##keepit##no weight", []),
        ("##keepit.80##no digit", []),
        ("##keepit-0.80##negative", []),
        ("#keepit0.80##one sign", []),
        ("##keepit٠.٨٠##other digits", []),
        ("a##/keepit##b", []),
    ],
)
def test_markers_are_found_as_specified(text: str, found: list[tuple[str, str, int, int]]) -> None:
    assert [(str(one.weight), one.content, one.start, one.end) for one in find_markers(text)] == found


@examples(300)
@given(TEXTS)
@example("##keepit0.80###keepit0.90##x")
def test_markers_in_any_text_do_not_overlap(text: str) -> None:
    found = find_markers(text)
    ended = 0
    for one in found:
        assert ended <= one.start < one.end <= len(text)
        assert Decimal(0) <= one.weight <= 1
        assert one.weight.as_tuple().exponent == -2
        assert one.content
        assert one.content in text[one.start : one.end]
        assert not re.search("##keepit|##/keepit##", one.content, re.IGNORECASE | re.ASCII)
        ended = one.end
    assert len(remove_markers(text)) <= len(text) - len("##keepit0.00##") * len(found)
    assert len(marker_notes([{"type": "text", "text": text}])) <= 1


@examples(200)
@given(TEXTS)
def test_without_end_signs_the_specified_pattern_finds_the_same_markers(text: str) -> None:
    text = text.replace("/", "|")
    full = [one for one in GIVEN.finditer(text) if remove_invisible(one[2]).strip()]
    assert [(one.start(), one.end(), one[2].strip()) for one in full] == [
        (one.start, one.end, one.content) for one in find_markers(text)
    ]


BLOCKS = st.lists(
    st.fixed_dictionaries(
        {"type": st.just("text"), "text": TEXTS},
        optional={"untrusted": st.sampled_from(["forward", "caption", "bot", "document"]), "from": ODD_TEXT},
    )
    | st.just({"type": "attachment", "file": {"kind": "photo"}}),
    max_size=5,
)


@examples(200)
@given(BLOCKS)
@example([{"type": "text", "text": "##keepit0.80##x", "untrusted": "caption"}])
def test_untrusted_text_never_contains_markers(blocks: list[dict[str, object]]) -> None:
    own = [one for one in blocks if one["type"] == "text" and "untrusted" not in one]
    for row in markers_in(blocks):
        assert blocks[row["block"]] in own  # type: ignore[call-overload]
    others = [{"type": "text", "untrusted": "forward", **one} for one in blocks if one["type"] == "text"]
    assert markers_in(others) == []
    assert marker_notes([one for one in others if one["untrusted"] != "caption"]) == []


def test_a_marker_is_stored_with_its_position_and_context() -> None:
    blocks = [
        {"type": "text", "text": "##keepit1.00##theirs", "untrusted": "forward"},
        {"type": "text", "text": "x" * 80 + " the code is ##keepit0.80##4711##/keepit##, and\nnothing else"},
    ]
    assert markers_in(blocks) == [
        {"weight": "0.80", "content": "4711", "block": 1, "start": 93, "end": 111,
         "context": "x" * 37 + " the code is … , and nothing else"}
    ]  # fmt: skip


def test_the_number_of_markers_in_a_message_is_limited() -> None:
    blocks = [{"type": "text", "text": "##keepit0.50##x" * (MARKERS_PER_MESSAGE + 1)}]
    assert len(markers_in(blocks)) == MARKERS_PER_MESSAGE
    assert marker_notes(blocks) == ["⚠️ only the first 200 markers of a message count"]


@pytest.mark.parametrize(
    ("text", "note"),
    [
        ("##keepit0.8## x", ["⚠️ a marker needs two decimals: ##keepit0.80##"]),
        ("##keepit0.805## x ##keepit1## y", ["⚠️ a marker needs two decimals: ##keepit0.81##"]),
        ("##keepit0,75## x", ["⚠️ a marker needs two decimals: ##keepit0.75##"]),
        ("##keepit7## x", ["⚠️ a marker needs two decimals: ##keepit1.00##"]),
        ("##keepit0.80## x", []),
        ("##keepit## x", []),
    ],
)
def test_a_weight_without_two_decimals_is_noted_once(text: str, note: list[str]) -> None:
    assert marker_notes([{"type": "text", "text": text}]) == note


def test_a_marker_in_a_caption_is_noted() -> None:
    caption = {"type": "text", "text": "##keepit0.80##the plan", "untrusted": "caption"}
    note = "⚠️ a marker in a caption doesn't count: reply to the file with /keepit 0.80"
    assert marker_notes([{"type": "attachment", "file": {"kind": "photo"}}, caption]) == [note]
    assert marker_notes([caption | {"untrusted": "forward"}, {"type": "text", "text": "##keepit0.80##own"}]) == []
    assert marker_notes([caption | {"text": "a plan"}]) == []


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("The code is ##keepit0.80## 4711 ##/keepit## today", "The code is 4711 today"),
        ("##KEEPIT1.00##x##/KeepIt##y", "xy"),
        ("##keepit0.8## stays", "##keepit0.8## stays"),
        ("## A heading", "## A heading"),
    ],
)
def test_the_marker_syntax_is_removed_for_the_model(text: str, clean: str) -> None:
    assert remove_markers(text) == clean


@pytest.mark.parametrize(
    ("weight", "name"),
    [("1.00", "pinned"), ("0.99", "critical"), ("0.90", "critical"), ("0.80", "important"), ("0.75", "important"),
     ("0.74", "notable"), ("0.50", "notable"), ("0.25", "minor"), ("0.10", "hint"), ("0.09", "faint"),
     ("0.00", "faint")],
)  # fmt: skip
def test_a_weight_is_named_after_the_nearest_preset_below_it(weight: str, name: str) -> None:
    assert name_weight(Decimal(weight)) == name


@pytest.mark.parametrize(
    ("word", "weight"),
    [("0.8", "0.80"), ("0,8", "0.80"), (".5", "0.50"), ("1", "1.00"), ("0", "0.00"), ("0.805", "0.81"),
     ("Pinned", "1.00"), ("important", "0.75"), ("80", None), ("1.01", None), ("", None), (".", None), ("-1", None),
     ("NaN", None), ("٠", None), ("1e0", None), ("passage", None)],
)  # fmt: skip
def test_weights_are_parsed_as_people_write_them(word: str, weight: str | None) -> None:
    assert read_weight(word) == (weight and Decimal(weight))


def test_presets_are_in_order_and_weights_are_rounded_half_up() -> None:
    assert list(PRESETS.values()) == sorted(PRESETS.values(), reverse=True)
    assert [str(round_weight(Decimal(one))) for one in ("0.125", "0.124", "-3", "1e400")] == [
        "0.13",
        "0.12",
        "0.00",
        "1.00",
    ]
