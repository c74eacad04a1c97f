"""The benchmark learns the weights of recall's signals."""

from __future__ import annotations

import numpy as np

from tests.benchmarks.weights import Heard, Sample, found, learn

SIGNALS = 3
"""One that indicates evidence, one that misleads, and noise."""


def heard(id: str, friends: bool, random: np.random.Generator) -> Heard:
    """A chat with 20 questions, each with one piece of evidence among 40 entries."""
    chat = Heard(id, friends)
    for _ in range(20):
        evidence = np.arange(40) == random.integers(40)
        signals = random.random((40, SIGNALS))
        signals[evidence, 0] += 0.5
        signals[evidence, 1] -= 0.5
        chat.samples.append(Sample("fact", signals, evidence, 1))
    return chat


def test_learned_weights_find_evidence_in_a_chat_that_was_left_out() -> None:
    random = np.random.default_rng(7)
    chats = [heard("a", True, random), heard("b", True, random), heard("c", False, random)]
    learned = learn(chats[1:])
    assert learned[0] > abs(learned[2])
    assert -learned[1] > abs(learned[2])
    shares = [
        float(found(chats[:1], {"a": weights}).split(", ")[1].split()[0])
        for weights in (np.array([0, 0, 1.0]), learned)
    ]
    assert shares[0] < 0.5 < 0.8 < shares[1]
