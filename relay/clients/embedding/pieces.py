"""Long texts in pieces that a model reads with profit, and one vector of their vectors. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence


def cut(text: str, most: int) -> str:
    """The beginning of a text, at most so many characters: whole words, and one space between them."""
    text = " ".join(text[: most * 2].split())
    if len(text) <= most:
        return text
    return text[: most + 1].rpartition(" ")[0] or text[:most]


def pieces(text: str, most: int, many: int) -> list[str]:
    """A text, one space between its words, in at most `many` pieces of at most `most` characters."""
    text = " ".join(text[: most * many * 2].split())
    found: list[str] = []
    while len(found) < many:
        found.append(cut(text, most))
        text = text[len(found[-1]) :].strip()
        if not text:
            break
    return found


def together(texts: Sequence[str], vectors: Sequence[Sequence[float]]) -> list[float]:
    """One vector of length 1 for pieces of a text: the mean of theirs, each weighted with how long it is, as OpenAI's
    cookbook does it in "Embedding texts that are longer than the model's maximum context length"."""
    if len(vectors) == 1:
        return list(vectors[0])
    summed = [
        sum(len(text) * number for text, number in zip(texts, numbers, strict=True))
        for numbers in zip(*vectors, strict=True)
    ]
    length = math.hypot(*summed) or 1.0
    return [number / length for number in summed]
