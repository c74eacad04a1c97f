"""Splits long texts into pieces and combines their vectors. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence


def cut(text: str, most: int) -> str:
    """Returns the beginning of a text, at most `most` characters: whole words, single spaces."""
    text = " ".join(text[: most * 2].split())
    if len(text) <= most:
        return text
    return text[: most + 1].rpartition(" ")[0] or text[:most]


def pieces(text: str, most: int, many: int) -> list[str]:
    """Splits a text, with single spaces, into at most `many` pieces of at most `most` characters."""
    text = " ".join(text[: most * many * 2].split())
    found: list[str] = []
    while len(found) < many:
        found.append(cut(text, most))
        text = text[len(found[-1]) :].strip()
        if not text:
            break
    return found


def combine(texts: Sequence[str], vectors: Sequence[Sequence[float]]) -> list[float]:
    """Combines the vectors of a text's pieces into one of length 1: their mean, weighted by length. See OpenAI's
    cookbook, "Embedding texts that are longer than the model's maximum context length"."""
    if len(vectors) == 1:
        return list(vectors[0])
    summed = [
        sum(len(text) * number for text, number in zip(texts, numbers, strict=True))
        for numbers in zip(*vectors, strict=True)
    ]
    length = math.hypot(*summed) or 1.0
    return [number / length for number in summed]
