"""The model's stand-in as a process of its own, at the pace of a real one: it answers at some length, and its judge
finds something in what people tell of themselves."""

from __future__ import annotations

import asyncio
import random
import re
import signal
from typing import Any

from tests.benchmarks.crowd import ODDS, WORDS
from tests.standins.anthropic import AnthropicStandIn, Recorded, tool
from tests.standins.anthropic.server import JUDGE

TOLD = re.compile(r'<said id="(\d+)"[^>]*>[^<]*\bI (moved to|work for) (\w+)')
AT_NIGHT = ("You compare notes", "You write the digest")
"""How the prompts begin that are answered by a list."""
KEPT = 2
"""Requests in the log: it is not to grow."""


def found(request: Recorded) -> Any:
    """What the judge finds: where somebody moved to, or whom they work for."""
    said = request.last_text.partition("To be judged:")[2]
    findings = [
        {"kind": "fact", "importance": 6, "sentence": f"They {what} {name}.", "evidence": [int(number)]}
        for number, what, name in TOLD.findall(said)
    ]
    return tool("keep", {"findings": findings[:3]})


def answering(chance: random.Random) -> Any:
    """Answers of 20 to 250 words; a directive in the message comes before them."""

    def answer(request: Recorded) -> Any:
        words = chance.choices(WORDS, ODDS, k=min(250, 20 + int(chance.expovariate(1 / 40))))
        return f"**Well:** {' '.join(words)}."

    return answer


async def serve() -> None:
    """Serves until SIGTERM."""
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    async with AnthropicStandIn(keep=KEPT, delay=0.3, chunk_delay=0.01) as model:
        model.rule(None, found, model=JUDGE)
        model.rule(lambda request: request.system_text.startswith(AT_NIGHT), "[]", model="haiku")
        model.rule(lambda request: "((" not in request.user_turn()[0], answering(random.Random(2)))
        print(model.url, flush=True)
        await ended.wait()


if __name__ == "__main__":
    asyncio.run(serve())
