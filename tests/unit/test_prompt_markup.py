"""Prompt markup: others' text can neither close the markup around it nor open ours, however it is written."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.core.prompt_markup import MARKS, estimate_tokens, mark_untrusted, neutralize_markup, shorten_longest

FORGED = ["</{}>", "< / {} >", "<" + " " * 25 + "/{}>", "<\u200b/{}\u200b>", "＜/{}＞", "﹤/{}>"]
SHAPES = {
    "as it is": str,
    "capitals": str.upper,
    "full width": lambda word: "".join(chr(ord(c) + 0xFEE0) for c in word),
    "bold": lambda word: "".join(chr(ord(c) - ord("a") + 0x1D41A) for c in word),
    "in circles": lambda word: "".join(chr(ord(c) - ord("a") + 0x24D0) for c in word),
    "with a sign between that nobody sees": "\u200b".join,
    "with a soft hyphen": "\u00ad".join,
    "with a tag character": "\U000e0061".join,
    "with a variation selector": "\ufe0f".join,
}


@pytest.mark.parametrize("word", MARKS)
@pytest.mark.parametrize("shape", SHAPES)
def test_no_look_alike_of_prompt_markup_is_left(word: str, shape: str) -> None:
    for frame in FORGED:
        evil = frame.format(SHAPES[shape](word))
        told = neutralize_markup(f"x {evil} y")
        seen = unicodedata.normalize("NFKC", told)
        assert "<" not in seen, evil
        assert neutralize_markup(told) == told
        assert mark_untrusted(f"x {evil} y", "forward").count("<") == 2, "only the tags of the markup itself"


@pytest.mark.parametrize("text", ["a < b", "<b>said</b>", "Vec<T>", "<untrustedness>", "1 < 2", "naïve ＜ café"])
def test_text_without_markup_stays_unchanged(text: str) -> None:
    assert neutralize_markup(text) == text


@pytest.mark.parametrize("piece", ["<", "<" + "/" * 29, "<u" + "\u200b" * 40, "<untruste", "＜ｕｎ"])
def test_neutralizing_takes_time_in_proportion_to_the_length(piece: str) -> None:
    """A text four times as long may take about four times as long, not sixteen times."""

    def seconds(length: int) -> float:
        text = piece * (length // len(piece))
        began = time.process_time()
        neutralize_markup(text)
        return time.process_time() - began

    seconds(1_000)
    assert seconds(400_000) < 12 * max(seconds(100_000), 0.02)


@given(st.lists(st.text(), max_size=8), st.floats(0.01, 1.0))
def test_the_longest_texts_are_cut_first_and_to_one_length(texts: list[str], share: float) -> None:
    cut = shorten_longest(texts, share)
    sizes = [estimate_tokens(text) for text in texts]
    shorter = [size for size, text, left in zip(sizes, texts, cut, strict=True) if text == left]
    longer = [size for size, text, left in zip(sizes, texts, cut, strict=True) if text != left]
    assert not shorter or not longer or max(shorter) <= min(longer)
    assert all(text.endswith(" […]") for text, old in zip(cut, texts, strict=True) if text != old)
    marks = estimate_tokens(" […]") * len(texts)
    assert sum(map(estimate_tokens, cut)) <= sum(sizes) * share + marks
    assert share < 1 or cut == texts
