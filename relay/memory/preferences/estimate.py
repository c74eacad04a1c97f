"""Estimates what choices without a stated reason say about a person, by one regression over all of them. Pure.

A choice between two answers that differ in five patterns says little about each: crediting every pattern of the chosen
answer finds many false likes. A logistic regression over all choices of a person (Bradley–Terry with the patterns as
features, a Gaussian prior, older choices counting less) tells which patterns explain them together, and how sure that
is: the standard errors are those of Laplace's approximation (C. Bishop, Pattern Recognition and Machine Learning,
section 4.5).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

from relay.core.frozen import frozen

Key = tuple[str, str]
"""A pattern's type and words."""
MOST_CONTRASTS, MOST_PATTERNS = 500, 64
HALF_LIFE = 40.0
"""After this many later choices, a choice counts half."""
PRIOR = 1.0
"""The precision of the prior: how strongly it says that a pattern doesn't matter."""
SURE = 1.5
"""How many standard errors from zero a pattern must be to be shown as a weak like. From 2, prompts follow it."""
STEPS, CLOSE = 25, 1e-6


@frozen
class Contrast:
    """A choice: what the chosen answer had (+1) and what the other had (-1). `weight`: how much the act says."""

    features: Mapping[Key, int]
    weight: float = 1.0


@frozen
class Estimate:
    """The estimate of a pattern from the choices."""

    type: str
    pattern: str
    polarity: Literal[-1, 1]
    sureness: float
    """Its distance from zero in standard errors."""
    choices: int
    """How many choices it was part of."""


def estimate(contrasts: Sequence[Contrast]) -> list[Estimate]:
    """Returns the patterns about which the choices are sure enough, surest first. `contrasts`: oldest first; only the
    newest 500 and the 64 most frequent patterns count."""
    contrasts = contrasts[-MOST_CONTRASTS:]
    counted = Counter(key for one in contrasts for key in one.features)
    keys = [key for key, _ in sorted(counted.items(), key=lambda item: (-item[1], item[0]))[:MOST_PATTERNS]]
    if not keys:
        return []
    place = {key: number for number, key in enumerate(keys)}
    rows = [[(place[key], sign) for key, sign in one.features.items() if key in place] for one in contrasts]
    weights = [one.weight * 0.5 ** ((len(contrasts) - 1 - age) / HALF_LIFE) for age, one in enumerate(contrasts)]
    values, precision = _fit(rows, weights, len(keys))
    errors = _standard_errors(precision)
    found = [
        Estimate(*key, 1 if value > 0 else -1, abs(value) / error, counted[key])
        for key, value, error in zip(keys, values, errors, strict=True)
        if abs(value) > SURE * error
    ]
    return sorted(found, key=lambda one: (-one.sureness, one.type, one.pattern))


def _fit(
    rows: Sequence[Sequence[tuple[int, int]]], weights: Sequence[float], size: int
) -> tuple[list[float], list[list[float]]]:
    """Returns the most likely values by Newton's method, and the precision matrix there."""
    values = [0.0] * size
    for _ in range(STEPS):
        slope = [-PRIOR * value for value in values]
        precision = [[PRIOR if i == j else 0.0 for j in range(size)] for i in range(size)]
        for row, weight in zip(rows, weights, strict=True):
            score = sum(values[i] * sign for i, sign in row)
            chance = 1 / (1 + math.exp(-max(-30.0, min(30.0, score))))
            for i, sign in row:
                slope[i] += weight * (1 - chance) * sign
                for j, other in row:
                    precision[i][j] += weight * chance * (1 - chance) * sign * other
        step = _solve(_cholesky(precision), slope)
        values = [value + change for value, change in zip(values, step, strict=True)]
        if max(map(abs, step)) < CLOSE:
            break
    return values, precision


def _cholesky(matrix: Sequence[Sequence[float]]) -> list[list[float]]:
    """Returns the lower triangle L with L·Lᵀ = matrix, which is symmetric and positive definite."""
    lower: list[list[float]] = []
    for i, row in enumerate(matrix):
        own: list[float] = []
        for j in range(i + 1):
            rest = row[j] - sum(a * b for a, b in zip(own, lower[j] if j < i else own, strict=False))
            own.append(math.sqrt(rest) if i == j else rest / lower[j][j])
        lower.append(own)
    return lower


def _solve(lower: Sequence[Sequence[float]], right: Sequence[float]) -> list[float]:
    """Returns x with L·Lᵀ·x = right."""
    size = len(right)
    half: list[float] = []
    for i in range(size):
        half.append((right[i] - sum(lower[i][j] * half[j] for j in range(i))) / lower[i][i])
    found = [0.0] * size
    for i in reversed(range(size)):
        found[i] = (half[i] - sum(lower[j][i] * found[j] for j in range(i + 1, size))) / lower[i][i]
    return found


def _standard_errors(precision: Sequence[Sequence[float]]) -> list[float]:
    """Returns the roots of the diagonal of a precision matrix's inverse."""
    lower, size = _cholesky(precision), len(precision)
    unit = [[float(i == j) for j in range(size)] for i in range(size)]
    return [math.sqrt(_solve(lower, column)[i]) for i, column in enumerate(unit)]
