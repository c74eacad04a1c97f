"""`python -m tests.realmodel.attributed [N] [--weights FILE]`: how well a small model tells why an answer is liked.

Relay's own prompt asks about N labelled acts (124; fewer are a sample, the same each time). What Relay takes from the
answer is compared with what a person would name. SmolLM2-135M, or another model that reads ChatML. Needs
`scripts/real-model`.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import time
from collections import Counter
from pathlib import Path

from tests.attributed import attributed, labelled, table
from tests.realmodel.loopback import Loopback


async def main(number: int, weights: Path | None, listed: bool) -> None:
    """Asks of all acts, and prints what came of it."""
    begun = time.process_time()
    async with Loopback(weights) as model:
        found = []
        for act in random.Random(7).sample(labelled(), number):
            found.append((act, await attributed(act, model, "small")))
            if listed:
                told = ", ".join(f"{one.words} ({one.type}: {one.verdict})" for one in found[-1][1])
                print(f"{act.language} {act.kind}: {sorted(act.named)}: {told} <- {model.asked[-1].text}", flush=True)
    ends = ", ".join(f"{times} {reason}" for reason, times in Counter(one.stop_reason for one in model.asked).items())
    print(f"{len(found)} acts, ends of answers: {ends}; {time.process_time() - begun:.0f} s of processor time\n")
    print(table(found))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("number", nargs="?", type=int, default=len(labelled()), help="of how many acts")
    parser.add_argument("--weights", type=Path, help="a GGUF file")
    parser.add_argument("--list", action="store_true", dest="listed", help="print each act's patterns")
    options = parser.parse_args()
    asyncio.run(main(options.number, options.weights, options.listed))
