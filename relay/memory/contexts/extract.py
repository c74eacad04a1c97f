"""Compresses without a model: a version keeps whole sentences of its messages, and parts of very long ones. Pure and
deterministic.

The person's own sentences come before any of the assistant's: measured on long conversations, that alone keeps several
times more of what is asked for later. Among them, statements with rare words, numbers, names and dates come first;
questions hold little. Among an answer's sentences, those that settle something and that the person took up come first.
The weights are those of a logistic regression on conversations whose evidence is known, rounded
(tests/benchmarks/contexts.py).
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import replace

from relay.core.frozen import frozen
from relay.core.prompt_markup import estimate_tokens
from relay.memory.contexts.pieces import Piece, Stretch
from relay.memory.contexts.sentences import (
    DATES,
    NUMBER_WORD,
    SETTLES,
    Sentence,
    rarities,
    sentences_of,
    with_headings,
    words_of,
)
from relay.memory.rows.contexts.compression import SourceUnit
from relay.memory.rows.contexts.versions import VersionRow

EXCHANGE_SHARE = 0.05
"""The share of the size that the first exchange may take, and also the last one."""
LEAST_WHOLE = 128
"""A sentence of at most so many bytes stays whole, and so does one that takes at most half of the size."""
PART_LENGTH = 200
"""The most characters of a part of a longer sentence."""
QUESTION = re.compile(r"[?？][\"'”’»)\]*_]*$")
NAME = re.compile(r"(?<=[\w,;] )[A-ZÄÖÜ][\w’'-]+")
"""A word that begins with a capital letter within a sentence."""


@frozen
class Weights:
    """The worth of a sentence's signs, as logarithms of odds."""

    base: float = -7.5
    question: float = -4.0
    number: float = 1.5
    date: float = 0.1
    name: float = 0.25
    rarity: float = 2.0
    rarest: float = 4.0
    length: float = 0.8
    settles: float = 0.5
    """The weight of settling something; only for an answer's sentence, like the next two."""
    taken_up: float = 0.5
    only_once: float = 8.0
    """The weight of its rarest word, in addition: an answer's phrases recur, its result comes once."""
    size: float = 0.5
    """The power of a sentence's size by which its worth is divided, so that long sentences cost more."""

    @property
    def of_signs(self) -> tuple[float, ...]:
        """Returns the weights of `signs_of`, in the same order."""
        return (
            self.base, self.question, self.number, self.date, self.name, self.rarity, self.rarest, self.length
        )  # fmt: skip


WEIGHTS = Weights()


@frozen
class WeighedSentence:
    """A sentence of a piece, with its worth."""

    piece: int
    sentence: Sentence
    own: bool
    """The person wrote it."""
    worth: float


def extract(stretches: Sequence[Stretch]) -> list[VersionRow]:
    """Returns the rows of stretches, besides those that are kept: one row for each message with remaining sentences.
    Together they have at most the size of the targets."""
    pieces = [piece for stretch in stretches for piece in stretch.pieces]
    longest = [max(LEAST_WHOLE, stretch.target * 2) for stretch in stretches for _ in stretch.pieces]
    return pick(stretches, [stretch.target for stretch in stretches], weigh(pieces, WEIGHTS, longest))


def squeeze(rows: Sequence[VersionRow], most: int) -> list[VersionRow]:
    """Returns the rows cut to a number of tokens: what is kept stays, and of the others the sentences with the most
    worth."""
    kept = [row for row in rows if row.kept]
    pieces = [
        Piece(SourceUnit(first=row.first, through=row.through, role=row.role, text=row.text, at=row.at), row.text, 0)
        for row in rows if not row.kept
    ]  # fmt: skip
    left = most - sum(estimate_tokens(row.text) for row in kept)
    chosen = choose(weigh(pieces, WEIGHTS, [max(LEAST_WHOLE, left * 2)] * len(pieces)), left, [])
    return [*kept, *(row_of(pieces[place], sentences) for place, sentences in sorted(chosen.items()))]


def pick(stretches: Sequence[Stretch], targets: Sequence[int], weighed: Sequence[WeighedSentence]) -> list[VersionRow]:
    """Returns the rows of the sentences with the most worth, within a number of tokens in each stretch."""
    rows: list[VersionRow] = []
    at = 0
    for stretch, target in zip(stretches, targets, strict=True):
        own = range(at, at + len(stretch.pieces))
        chosen = choose([one for one in weighed if one.piece in own], target, exchanges(stretch, at))
        rows += [row_of(stretch.pieces[place - at], sentences) for place, sentences in sorted(chosen.items())]
        at += len(stretch.pieces)
    return rows


def weigh(pieces: Sequence[Piece], weights: Weights, longest: Sequence[int] = ()) -> list[WeighedSentence]:
    """Returns the sentences of all pieces, in order, with their worth. `longest`: the bytes above which each piece's
    sentences are split."""
    split = [
        (place, one)
        for place, piece in enumerate(pieces)
        for one in (parts_of(piece.text, longest[place]) if longest else sentences_of(piece.text))
    ]
    words = [words_of(one.text) for _, one in split]
    rare = rarities(words)
    later = taken_up(pieces, [place for place, _ in split], words, rare)
    found = []
    for (place, one), said, again in zip(split, words, later, strict=True):
        own = pieces[place].unit.own
        worth = odds(signs_of(one, said, rare), weights) + (
            0 if own else answered(one, again, max((rare[word] for word in said), default=0.0), weights)
        )
        found.append(WeighedSentence(place, one, own, 1 / (1 + math.exp(-worth)) / one.size**weights.size))
    return found


def parts_of(text: str, longest: int) -> list[Sentence]:
    """Returns the sentences of a text, and the rows of its tables. One of more than `longest` bytes is split at white
    space."""
    found: list[Sentence] = []
    for one in sentences_of(with_headings(text)):
        if one.size <= longest:
            found.append(replace(one, place=len(found)))
            continue
        most, begins_line = min(PART_LENGTH, longest // 4), one.begins_line
        for part in re.finditer(rf"(.{{1,{most}}})(\s|\Z)|.{{{most}}}", one.text, re.DOTALL):
            if part[0].strip():
                found.append(Sentence(len(found), part[1] or part[0], begins_line))
            begins_line = part[2] == "\n"
    return found


def odds(signs: Sequence[float], weights: Weights) -> float:
    """Returns the worth of a sentence by its signs."""
    return sum(sign * weight for sign, weight in zip(signs, weights.of_signs, strict=True))


def signs_of(one: Sentence, words: Sequence[str], rare: dict[str, float]) -> tuple[float, ...]:
    """Returns a sentence's signs, in the order of their weights."""
    rarity = [rare[word] for word in words] or [0.0]
    return (
        1.0,
        bool(QUESTION.search(one.text)),
        min(2, len(NUMBER_WORD.findall(one.text))),
        bool(DATES.search(one.text)),
        min(3, len(NAME.findall(one.text))),
        sum(rarity) / len(rarity),
        max(rarity),
        math.log(one.size / 4 + 1),
    )


def answered(one: Sentence, again: float, rarest: float, weights: Weights) -> float:
    """Returns the additional worth of an answer's sentence: whether it settles something, was taken up, and is
    unique."""
    return (
        weights.settles * bool(SETTLES.search(one.text)) + weights.taken_up * again + weights.only_once * (rarest - 1)
    )


def taken_up(
    pieces: Sequence[Piece], places: Sequence[int], words: Sequence[Sequence[str]], rare: dict[str, float]
) -> list[float]:
    """Returns for each sentence the share of its rare words that the person repeats in their next message."""
    said: set[str] = set()
    shares = [0.0] * len(places)
    after: set[str] = set()
    last = -1
    for index in reversed(range(len(places))):
        place = places[index]
        if place != last and last >= 0 and pieces[last].unit.own:
            after, said = said, set()
        last = place
        if pieces[place].unit.own:
            said |= set(words[index])
        else:
            telling = {word for word in words[index] if rare[word] > 0.5}
            shares[index] = len(telling & after) / len(telling) if telling else 0.0
    return shares


def exchanges(stretch: Stretch, at: int) -> list[range]:
    """Returns the places of the session's first and last exchange, if they are in the stretch."""
    roles = [piece.unit.role for piece in stretch.pieces]
    starts = [i for i, role in enumerate(roles) if role == "user" and (not i or roles[i - 1] != "user")]
    found = []
    if stretch.first and starts:
        found.append(range(at, at + (starts[1] if len(starts) > 1 else len(roles))))
    if stretch.last and starts:
        found.append(range(at + starts[-1], at + len(roles)))
    return found


def choose(weighed: Sequence[WeighedSentence], target: int, ends: Sequence[range]) -> dict[int, list[Sentence]]:
    """Chooses sentences by worth, the person's own first, and returns them by piece. Each of `ends` is an exchange that
    comes before all others, within its share."""
    left = target * 4
    taken: dict[int, list[Sentence]] = {}
    done: set[int] = set()

    def take(index: int, limit: int) -> int:
        one = weighed[index]
        cost = one.sentence.size + 1 + (0 if one.piece in taken else 3)  # tokens are counted by row, rounded up
        if index in done or cost > limit:
            return 0
        done.add(index)
        taken.setdefault(one.piece, []).append(one.sentence)
        return cost

    for exchange in ends:
        share = min(left, int(target * 4 * EXCHANGE_SHARE))
        for first in (True, False):
            for index, one in enumerate(weighed):
                if one.piece in exchange and one.own is first:
                    cost = take(index, share)
                    share, left = share - cost, left - cost
    for index in sorted(range(len(weighed)), key=lambda at: (not weighed[at].own, -weighed[at].worth, at)):
        left -= take(index, left)
    return {place: sorted(sentences, key=lambda one: one.place) for place, sentences in taken.items()}


def row_of(piece: Piece, sentences: Sequence[Sentence]) -> VersionRow:
    """Returns a row of a message's sentences."""
    text = sentences[0].text
    for one in sentences[1:]:
        text += ("\n" if one.begins_line else " ") + one.text
    unit = piece.unit
    return VersionRow(role=unit.role, text=text, at=unit.at, first=unit.first, through=unit.through)
