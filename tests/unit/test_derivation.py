"""A derivation's hash: the same inputs give the same hash, any others a different one."""

from __future__ import annotations

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from relay.memory.derivations.derivation import Input, make_derivation

TEXTS = st.lists(st.tuples(st.sampled_from(["message", "summary"]), st.integers(0, 2**63 - 1), st.text(max_size=20)))


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_the_hash_follows_the_documented_formula() -> None:
    made = make_derivation("summary", 1, [Input("summary", 3, "Before."), Input("message", 12, "Hello")])
    parts = ["summary", "1", "summary", "3", sha("Before."), "message", "12", sha("Hello")]
    assert made.hash == sha("\x1f".join(parts))[:32]
    assert made.as_json() == {
        "name": "summary", "version": "1", "inputs": ["summary:3", "message:12"], "hash": made.hash,
    }  # fmt: skip


@given(TEXTS, TEXTS)
def test_only_equal_inputs_have_equal_hashes(
    one: list[tuple[str, int, str]], other: list[tuple[str, int, str]]
) -> None:
    hashes = [make_derivation("judge", 1, [Input(*each) for each in inputs]).hash for inputs in (one, other)]
    assert (hashes[0] == hashes[1]) == (one == other)


def test_another_name_version_or_text_changes_the_hash() -> None:
    inputs = [Input("message", 1, "Hello")]
    made = make_derivation("judge", 1, inputs)
    assert make_derivation("judge", "1", inputs) == made
    others = [
        make_derivation("judge", 2, inputs),
        make_derivation("summary", 1, inputs),
        make_derivation("judge", 1, [Input("message", 1, "Hallo")]),
    ]
    assert made.hash not in {other.hash for other in others}
