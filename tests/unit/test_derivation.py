"""The hash of a derivation: the same question, the same hash; anything else, another."""

from __future__ import annotations

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from relay.memory.derivations.derivation import Input, make_derivation

TEXTS = st.lists(st.tuples(st.sampled_from(["message", "summary"]), st.integers(0, 2**63 - 1), st.text(max_size=20)))


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_the_formula_is_the_documented_one() -> None:
    made = make_derivation("summary", 1, [Input("summary", 3, "Before."), Input("message", 12, "Hello")])
    parts = ["summary", "1", "summary", "3", sha("Before."), "message", "12", sha("Hello")]
    assert made.hash == sha("\x1f".join(parts))[:32]
    assert made.as_json() == {
        "name": "summary", "version": "1", "inputs": ["summary:3", "message:12"], "hash": made.hash,
    }  # fmt: skip


@given(TEXTS, TEXTS)
def test_only_the_same_inputs_have_the_same_hash(
    one: list[tuple[str, int, str]], other: list[tuple[str, int, str]]
) -> None:
    hashes = [make_derivation("judge", 1, [Input(*each) for each in inputs]).hash for inputs in (one, other)]
    assert (hashes[0] == hashes[1]) == (one == other)


def test_a_version_a_name_and_a_changed_text_count() -> None:
    inputs = [Input("message", 1, "Hello")]
    made = make_derivation("judge", 1, inputs)
    assert make_derivation("judge", "1", inputs) == made
    others = [
        make_derivation("judge", 2, inputs),
        make_derivation("summary", 1, inputs),
        make_derivation("judge", 1, [Input("message", 1, "Hallo")]),
    ]
    assert made.hash not in {other.hash for other in others}
