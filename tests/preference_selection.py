"""A second implementation, from the rules, of which preferences a prompt shows and what choices say about a person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

LEAST, AVOIDED, MOST, OF_A_TYPE, LEAST_AVOIDED = 0.40, 1.2, 20, 3, 2
HEAD, LINE, BUDGET = 20, 5, 200
Key = tuple[str, str]
"""A pattern's type and words."""


@dataclass(frozen=True)
class Stands:
    """A preference at a moment."""

    type: str
    pattern: str
    polarity: int
    strength: float
    level: int
    here: bool
    last_seen: datetime
    number: int
    """Its id. If two preferences are equal, the one with the lower id comes first."""

    @property
    def order(self) -> tuple[float, float, int]:
        weight = self.strength * (AVOIDED if self.polarity < 0 else 1)
        return (-weight, -self.last_seen.timestamp(), self.number)

    @property
    def cost(self) -> int:
        return (len(self.pattern) + 3) // 4 + LINE


def select(rows: Sequence[Stands]) -> list[Stands]:
    """The preferences that a prompt shows, in order."""
    own = {(row.type, row.pattern) for row in rows if row.here}
    apply = [row for row in rows if row.here or (row.type, row.pattern) not in own]
    ranked = sorted((row for row in apply if row.strength >= LEAST and row.level), key=lambda row: row.order)
    kept, rest = balanced(ranked[:MOST], ranked[MOST:])
    kept = mixed(sorted(kept, key=lambda row: row.order), rest)
    left, shown = BUDGET - HEAD, []
    for row in sorted(kept, key=lambda row: row.order):
        if row.cost <= left:
            left -= row.cost
            shown.append(row)
    return shown


def balanced(kept: list[Stands], rest: list[Stands]) -> tuple[list[Stands], list[Stands]]:
    """Keeps no more avoided than preferred ones, but always allows two; preferred ones without room fill the places."""
    likes, avoided = ([row for row in kept if row.polarity == sign] for sign in (1, -1))
    more = [row for row in rest if row.polarity > 0]
    fits = [
        number
        for number in range(len(avoided) + 1)
        if number <= LEAST_AVOIDED or number <= len(likes) + min(len(more), len(avoided) - number)
    ]
    most = max(fits)
    filling = more[: len(avoided) - most]
    return likes + avoided[:most] + filling, [row for row in rest if row not in filling]


def mixed(kept: list[Stands], rest: list[Stands]) -> list[Stands]:
    """Keeps at most three of a type if there are others; allowed ones without room fill the places."""
    if len({row.type for row in kept + rest}) == 1:
        return kept
    taken: list[Stands] = []
    for row in kept + rest:
        late = row in rest
        signs = Counter(one.polarity for one in taken)
        full = sum(one.type == row.type for one in taken) == OF_A_TYPE
        one_sided = late and row.polarity < 0 and signs[-1] >= max(LEAST_AVOIDED, signs[1])
        if not full and not one_sided and len(taken) < len(kept):
            taken.append(row)
    return taken


PRIOR, HALF_LIFE, CHOICES, PATTERNS, SURE = 1.0, 40, 500, 64, 1.5


def sureness(choices: Sequence[tuple[Mapping[Key, int], float]]) -> dict[Key, float]:
    """How many standard errors each pattern's value is from zero, with its sign, if it is more than 1.5. The values are
    the most likely ones of a logistic model of all choices (oldest first: what speaks for the chosen answer, and the
    weight). A choice counts half after forty later ones."""
    choices = choices[-CHOICES:]
    counted = Counter(key for features, _ in choices for key in features)
    keys = sorted(counted, key=lambda key: (-counted[key], key))[:PATTERNS]
    if not keys:
        return {}
    seen = np.array([[features.get(key, 0) for key in keys] for features, _ in choices], float)
    ages = np.arange(len(choices))[::-1]
    weights = np.array([weight for _, weight in choices]) * 0.5 ** (ages / HALF_LIFE)
    values = np.zeros(len(keys))
    for _ in range(100):
        chance = 1 / (1 + np.exp(-seen @ values))
        slope = seen.T @ (weights * (1 - chance)) - PRIOR * values
        curve = (seen.T * (weights * chance * (1 - chance))) @ seen + PRIOR * np.eye(len(keys))
        step = np.linalg.solve(curve, slope)
        values = values + step
        if abs(step).max() < 1e-12:
            break
    errors = np.sqrt(np.diag(np.linalg.inv(curve)))
    return {key: float(z) for key, z in zip(keys, values / errors, strict=True) if abs(z) > SURE}
