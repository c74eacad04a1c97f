"""Which texts of the small model are accepted as a summary."""

from __future__ import annotations

import pytest

from relay.core.errors import ContextTooLong, EmptyAnswer, ModelRefused
from relay.core.models import Step
from relay.memory.writing.summaries import read_summary


def step(text: str, reason: str) -> Step:
    return Step([{"type": "text", "text": text}], reason, {}, "small")


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Ada likes tea. She lives in", "Ada likes tea."),
        ("She asked “why?” and left. Then sh", "She asked “why?” and left."),
        ("It cost 3.5 euros! Nobody knew that 4.", "It cost 3.5 euros! Nobody knew that 4."),
        ("エイダはお茶が好き。彼女は", "エイダはお茶が好き。"),
        ("- likes tea\n- lives in Berlin\n- works a", "- likes tea\n- lives in Berlin"),
    ],
)
def test_a_summary_that_was_cut_off_ends_with_a_whole_sentence(text: str, kept: str) -> None:
    assert read_summary(step(text, "max_tokens")) == kept
    assert read_summary(step(text, "end_turn")) == text


def test_refusals_and_empty_texts_are_no_summary() -> None:
    with pytest.raises(ModelRefused):
        read_summary(step("I cannot help with that.", "refusal"))
    for text, reason in (("Ada likes", "max_tokens"), ("[LEARN: x]", "end_turn"), ("", "end_turn")):
        with pytest.raises(EmptyAnswer):
            read_summary(step(text, reason))
    with pytest.raises(ContextTooLong):
        read_summary(step("Ada likes", "model_context_window_exceeded"))
