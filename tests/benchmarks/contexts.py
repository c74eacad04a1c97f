"""How much of the evidence for later questions a shortened conversation keeps: the share of its evidence sentences.

A sentence is evidence if it belongs to a question's evidence message and states something: in the person's messages,
the hand-written sentences except questions; in the assistant's, the sentence from the script. The evidence of LoCoMo's
questions is known by message only, so all statements of such a message count.
"""

from __future__ import annotations

import argparse
import importlib
import math
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from random import Random
from typing import Any

import numpy as np

from relay.core.prompt_markup import estimate_tokens
from relay.memory.contexts.extract import WEIGHTS, WeighedSentence, Weights, pick, signs_of, weigh
from relay.memory.contexts.pieces import Stretch, divide, spans, stretches
from relay.memory.contexts.sentences import rarities, sentences_of, words_of
from relay.memory.contexts.settings import CompressionSettings
from relay.memory.rows.contexts.compression import MarkerFate, OutlineUnit, SourceUnit
from tests.benchmarks import conversations
from tests.benchmarks.conversations import compose
from tests.benchmarks.conversations.source import read
from tests.benchmarks.lab import Lab, Row

SIZES = (1_000, 2_000, 4_000, 8_000, 16_000)
BOUNDS = {2_000: 0.13, 4_000: 0.30, 8_000: 0.75, 16_000: 0.92}
"""Bounds for `extract` on long conversations of a person and an assistant."""
UNIFORM, TIERED = CompressionSettings(mode="uniform", ratio=2), CompressionSettings(mode="tiered", preset="standard")
MARKED = 0.1
"""The share of the person's messages that have a marker."""


@dataclass(frozen=True)
class Talk:
    """A conversation in the form that a version reads, and its evidence sentences by message."""

    id: str
    units: tuple[SourceUnit, ...]
    evidence: tuple[tuple[int, str], ...]

    def tokens(self, role: str = "") -> int:
        """Returns its tokens, or those of one role."""
        return sum(estimate_tokens(unit.text) for unit in self.units if role in ("", unit.role))

    def held(self, texts: Sequence[str]) -> float:
        """Returns the share of the evidence that the texts contain verbatim."""
        text = "\n".join(texts)
        return statistics.mean(sentence in text for _, sentence in self.evidence)


Method = Callable[[Talk, int], list[str]]


async def contexts(lab: Lab, options: argparse.Namespace) -> list[Row]:
    """Measures the project's conversations, singly and in pairs, and those of `--score`."""
    singles = own_talks()
    pairs = [paired(*two) for two in zip(singles[::2], singles[1::2], strict=True)]
    sets = {"one conversation": singles, "two together": pairs}
    if options.score:
        sys.path.insert(0, str(options.score))
        sets["LoCoMo, two friends"] = [friends(chat) for chat in importlib.import_module("score").load(False)]
    rows = []
    for name, talks in sets.items():
        both, person = (statistics.mean(talk.tokens(role) for talk in talks) for role in ("", "user"))
        number = sum(len(talk.evidence) for talk in talks)
        rows.append(
            Row(f"{name}: tokens, of the person's, evidence sentences", "", f"{both:,.0f}, {person:,.0f}, {number}")
        )
        for method, make in METHODS.items():
            found = {size: statistics.mean(talk.held(make(talk, size)) for talk in talks) for size in SIZES}
            judged = method == "extract uniform" and "LoCoMo" not in name
            bound = " / ".join(f"{limit:g}" for limit in BOUNDS.values()) if judged else ""
            ok = all(found[size] >= limit for size, limit in BOUNDS.items()) if judged else None
            rows.append(Row(f"{name}: {method}", bound, " / ".join(f"{share:.3f}" for share in found.values()), ok))
    return [*rows, Row("extract uniform, weights of the other conversations only", "", left_one_out(singles))]


def own_talks() -> list[Talk]:
    """Returns the project's conversations."""
    return [talk for path in sorted(conversations.DATA.glob("*.txt")) for talk in [own_talk(read(path))]]


def own_talk(script: Any) -> Talk:
    """Converts a conversation, with its hand-written sentences as evidence."""
    chat = compose(script)
    wanted = {id for question in chat.questions for id in question.evidence}
    said = [each for _, session in script.sessions for each in session]
    written = {one.text for each in said for one in sentences_of(each.text)}
    written |= {one.text for each in said for label, text in each.answered if label for one in sentences_of(text)}
    return talk(chat, wanted, lambda sentence: sentence in written)


def friends(chat: Any) -> Talk:
    """Converts a conversation of two friends. Both count as people."""
    wanted = {id for question in chat.questions for id in question.evidence}
    return talk(chat, wanted, lambda sentence: True)


def talk(chat: Any, wanted: set[str], counts: Callable[[str], bool]) -> Talk:
    """Converts a conversation whose evidence is in some messages."""
    assistant = conversations.SPEAKERS[1]
    units = tuple(
        SourceUnit(
            first=number, through=number, role="assistant" if turn.speaker == assistant else "user", text=turn.text,
            at=turn.when.replace(tzinfo=UTC) if isinstance(turn.when, datetime) else turn.when, name=turn.speaker,
        )
        for number, turn in enumerate(chat.turns, 1)
    )  # fmt: skip
    evidence = tuple(
        (number, one.text)
        for number, turn in enumerate(chat.turns, 1)
        if turn.dia_id in wanted
        for one in sentences_of(turn.text)
        if counts(one.text) and not one.text.endswith("?")
    )
    return Talk(chat.id, units, evidence)


def paired(first: Talk, second: Talk) -> Talk:
    """Joins two conversations, one after the other."""
    after = len(first.units)
    units = [replace(unit, first=unit.first + after, through=unit.through + after) for unit in second.units]
    evidence = [(number + after, sentence) for number, sentence in second.evidence]
    return Talk(f"{first.id}, {second.id}", (*first.units, *units), (*first.evidence, *evidence))


@cache
def prepared(
    talk: Talk, settings: CompressionSettings, marked: bool, weights: Weights
) -> tuple[list[Stretch], list[WeighedSentence]]:
    """Returns the stretches of a conversation and the weights of their sentences."""
    sized = [OutlineUnit(unit.first, unit.through, unit.role, estimate_tokens(unit.text)) for unit in talk.units]
    segments = divide(sized, settings)
    ids = [range(int(str(one["from"])), int(str(one["through"])) + 1) for one in spans(sized, segments)]
    parts = list(stretches(talk.units, segments, markers(talk) if marked else (), ids))
    return parts, weigh([piece for part in parts for piece in part.pieces], weights)


def extracted(
    talk: Talk, size: int, settings: CompressionSettings, marked: bool = False, weights: Weights = WEIGHTS
) -> list[str]:
    """Returns the texts of an extract of a size, with tiers as different as the settings demand."""
    parts, weighed = prepared(talk, settings, marked, weights)
    shares = [part.tokens / part.segment.tier.ratio for part in parts if part.segment.tier]
    kept = [row.text for part in parts for row in part.kept]
    left = size - sum(map(estimate_tokens, kept))
    targets = [max(0, int(left * share / sum(shares))) for share in shares]
    return kept + [row.text for row in pick(parts, targets, weighed)]


def markers(talk: Talk) -> list[MarkerFate]:
    """Returns markers on a random tenth of the person's messages. All survive."""
    own = [unit for unit in talk.units if unit.own]
    chosen = Random(talk.id).sample(own, max(1, int(len(own) * MARKED)))
    return [
        MarkerFate(unit.first, unit.first, Decimal("0.80"), unit.text, unit.role, unit.at, Decimal("0.53"), True)
        for unit in sorted(chosen, key=lambda one: one.first)
    ]  # fmt: skip


def newest(talk: Talk, size: int) -> list[str]:
    """Returns the newest messages that fit."""
    texts: list[str] = []
    for unit in reversed(talk.units):
        size -= estimate_tokens(unit.text)
        if size < 0:
            break
        texts.append(unit.text)
    return texts


def every_nth(talk: Talk, size: int) -> list[str]:
    """Returns every n-th sentence, for the n that fits."""
    return thinned([one.text for unit in talk.units for one in sentences_of(unit.text)], size)


def every_nth_own(talk: Talk, size: int) -> list[str]:
    """Returns every n-th sentence of the person."""
    return thinned([one.text for unit in talk.units if unit.own for one in sentences_of(unit.text)], size)


def thinned(sentences: list[str], size: int) -> list[str]:
    """Returns evenly spaced sentences, as many as fit."""
    step = max(1.0, sum(len(one.encode()) / 4 + 0.25 for one in sentences) / size)
    return [
        sentences[int(number * step)]
        for number in range(math.ceil(len(sentences) / step))
        if int(number * step) < len(sentences)
    ]


METHODS: dict[str, Method] = {
    "newest that fit": newest,
    "every n-th sentence": every_nth,
    "every n-th of the person's": every_nth_own,
    "extract uniform": lambda talk, size: extracted(talk, size, UNIFORM),
    "extract tiered": lambda talk, size: extracted(talk, size, TIERED),
    "extract uniform, markers on a tenth": lambda talk, size: extracted(talk, size, UNIFORM, True),
    "extract tiered, markers on a tenth": lambda talk, size: extracted(talk, size, TIERED, True),
}


def left_one_out(talks: Sequence[Talk]) -> str:
    """Returns the shares that `extract uniform` keeps of each conversation, with weights fitted on the others."""
    examples = [signs(talk) for talk in talks]
    held: dict[int, list[float]] = {size: [] for size in SIZES}
    for place, talk in enumerate(talks):
        others = [one for number, one in enumerate(examples) if number != place]
        weights = fitted(np.vstack([x for x, _ in others]), np.concatenate([y for _, y in others]))
        for size in SIZES:
            held[size].append(talk.held(extracted(talk, size, UNIFORM, weights=weights)))
    return " / ".join(f"{statistics.mean(shares):.3f}" for shares in held.values())


def signs(talk: Talk) -> tuple[np.ndarray, np.ndarray]:
    """Returns the features of the person's sentences, and which of the sentences are evidence."""
    split = [(unit, one) for unit in talk.units for one in sentences_of(unit.text)]
    words = [words_of(one.text) for _, one in split]
    rare, evidence = rarities(words), set(talk.evidence)
    own = [(unit, one, said) for (unit, one), said in zip(split, words, strict=True) if unit.own]
    found = [signs_of(one, said, rare) for _, one, said in own]
    return np.array(found, float), np.array([(unit.first, one.text) in evidence for unit, one, _ in own], float)


def fitted(x: np.ndarray, y: np.ndarray) -> Weights:
    """Returns the weights of a logistic regression, by Newton's method with slight regularisation."""
    weights = np.zeros(x.shape[1])
    for _ in range(50):
        odds = 1 / (1 + np.exp(-x @ weights))
        slope = x.T @ (odds - y) / len(y) + 0.001 * np.r_[0, weights[1:]]
        curve = (x * (odds * (1 - odds))[:, None]).T @ x / len(y) + 0.001 * np.eye(len(weights))
        weights -= np.linalg.solve(curve, slope)
    return Weights(*(float(weight) for weight in weights))
