"""Simulated people with hidden likes and dislikes. They choose between answers, change their minds and may say why."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from random import Random

from relay.memory.preferences.estimate import Contrast, estimate
from tests.preference_fold import Seen, fold

START = datetime(2026, 1, 1, tzinfo=UTC)
DIMENSION = Fraction(40, 100)
"""The weight of a choice with a reason for that reason."""
SURER = 2.0
"""The sureness of a pattern that prompts follow."""


@dataclass(frozen=True)
class Kind:
    """A kind of people: how many patterns exist, are liked, and are in an answer; and how surely they choose."""

    patterns: int = 16
    liked: int = 4
    """How many they like, and how many they dislike."""
    in_answer: int = 5
    sureness: float = 2.0
    """The log-odds of a choice for each additional liked pattern; infinite: they never choose otherwise."""
    changes: int = 3
    drops: bool = False
    """A change of mind drops a like instead of turning it into a dislike."""


@dataclass(frozen=True)
class Score:
    """What is believed about people: the share of their likes that was found, and of shown ones that is wrong."""

    found: float
    wrong: float


def likes_of(rng: Random, kind: Kind) -> dict[int, int]:
    chosen = rng.sample(range(kind.patterns), 2 * kind.liked)
    return {one: 1 if place < kind.liked else -1 for place, one in enumerate(chosen)}


def changed(rng: Random, likes: dict[int, int], kind: Kind) -> dict[int, int]:
    """The likes after a change of mind: some are reversed, or (`drops`) replaced by others."""
    now = dict(likes)
    for one in rng.sample(sorted(likes), kind.changes):
        if kind.drops:
            free = [other for other in range(kind.patterns) if other not in now]
            now[rng.choice(free)] = now.pop(one)
        else:
            now[one] = -now[one]
    return now


def choose(rng: Random, likes: dict[int, int], kind: Kind) -> tuple[set[int], set[int]]:
    """The patterns that only the chosen answer has, and those that only the other has."""
    one, other = (set(rng.sample(range(kind.patterns), kind.in_answer)) for _ in range(2))
    lead = sum(likes.get(p, 0) for p in one - other) - sum(likes.get(p, 0) for p in other - one)
    odds = kind.sureness * lead if lead else 0.0
    chance = float(odds > 0) if math.isinf(odds) else 1 / (1 + math.exp(-odds))
    if rng.random() >= chance:
        one, other = other, one
    return one - other, other - one


def contrast(chosen: tuple[set[int], set[int]]) -> Contrast:
    more, less = chosen
    return Contrast({**{("other", str(p)): 1 for p in more}, **{("other", str(p)): -1 for p in less}})


def reason(rng: Random, likes: dict[int, int], chosen: tuple[set[int], set[int]]) -> list[tuple[int, int]]:
    """One or two patterns, with their polarity, that are the reason for a choice; none if there is no reason."""
    more, less = chosen
    why = [(p, 1) for p in more if likes.get(p) == 1] + [(p, -1) for p in less if likes.get(p) == -1]
    return rng.sample(why, min(len(why), rng.choice([1, 2])))


def believed_by_regression(choices: Sequence[Contrast], listed: bool) -> dict[int, int]:
    """What prompts would show (level medium), or (`listed`) also what `/preferences` lists as not sure yet."""
    return {int(one.pattern): one.polarity for one in estimate(choices) if listed or one.sureness >= SURER}


def believed_by_reasons(reasons: Sequence[list[tuple[int, int]]]) -> dict[int, int]:
    """What prompts would show: the patterns that were named often enough. Each choice is in its own session."""
    histories: dict[int, list[Seen]] = {}
    for number, named in enumerate(reasons):
        for pattern, polarity in named:
            at = START + timedelta(hours=12 * number)
            histories.setdefault(pattern, []).append(Seen(at, number, polarity, DIMENSION, 1))
    now = START + timedelta(hours=12 * len(reasons))
    shown = {pattern: fold(history).shown(now) for pattern, history in histories.items()}
    return {pattern: one[0] for pattern, one in shown.items() if one and one[2] and one[1] >= 0.4}


def live(seed: int, people: int, choices: int, kind: Kind, reasons: bool, listed: bool = False) -> tuple[Score, Score]:
    """What is believed about people after `choices` choices, and after as many more once they changed their minds.
    `listed`: see `believed_by_regression`."""
    rng = Random(seed)
    totals = [[0.0, 0, 0], [0.0, 0, 0]]
    for _ in range(people):
        likes, seen, named = likes_of(rng, kind), [], []
        for phase in (0, 1):
            likes = changed(rng, likes, kind) if phase else likes
            for _ in range(choices):
                chosen = choose(rng, likes, kind)
                seen.append(contrast(chosen))
                named.append(reason(rng, likes, chosen))
            believed = believed_by_reasons(named) if reasons else believed_by_regression(seen, listed)
            right = sum(likes.get(pattern) == polarity for pattern, polarity in believed.items())
            totals[phase][0] += right / len(likes)
            totals[phase][1] += len(believed) - right
            totals[phase][2] += len(believed)
    before, after = (Score(found / people, wrong / max(1, shown)) for found, wrong, shown in totals)
    return before, after


def needed(seed: int, people: int, kind: Kind, share: float = 0.8, most: int = 100) -> str:
    """How many choices with reasons it takes to find a share of the likes: the median and the most."""
    rng, counts = Random(seed), []
    for _ in range(people):
        likes, named = likes_of(rng, kind), list[list[tuple[int, int]]]()
        while len(named) < most:
            named.append(reason(rng, likes, choose(rng, likes, kind)))
            believed = believed_by_reasons(named)
            if sum(likes.get(pattern) == polarity for pattern, polarity in believed.items()) >= share * len(likes):
                break
        counts.append(len(named))
    return f"{sorted(counts)[people // 2]} (most {max(counts)})"
