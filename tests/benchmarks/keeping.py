"""Benchmark of learning: the time from a message to the memory that the judge keeps, and to the line that says so."""

from __future__ import annotations

import argparse
import asyncio
import time
from typing import Any

from tests.acceptance.harness import OWNER
from tests.acceptance.shared_relay import SharedRelay, open_relay
from tests.benchmarks.lab import Lab, Row, median, p95
from tests.standins.anthropic import Recorded, tool
from tests.standins.anthropic.server import JUDGE

ASKED = 10.0
"""The most seconds from a message to its memory."""
MESSAGES = 20
PACES = {"instant model": (0.0, 0.0), "answers in 3 s, judge in 1.5 s": (3.0, 1.5)}
LOOK_SECONDS = 0.02


async def keeping(lab: Lab, options: argparse.Namespace) -> list[Row]:
    """Sends messages one after the other. The judge keeps something from each."""
    rows = []
    async with open_relay(RELAY_CAPTURE="auto") as shared_relay:
        for name, (answering, judging) in PACES.items():
            times = [await kept(shared_relay, f"{name} {number}", answering, judging) for number in range(MESSAGES)]
            for what, took in zip(("memory", "line under the answer"), zip(*times, strict=True), strict=True):
                told = f"{median(took) / 1000:.2f} s ({p95(took) / 1000:.2f})"
                rows.append(Row(f"message to {what}, {name}: median (p95)", f"≤ {ASKED:g} s", told, max(took) <= ASKED))
    return rows


async def kept(shared_relay: SharedRelay, word: str, answering: float, judging: float) -> tuple[float, float]:
    """Says something worth keeping. Returns the seconds until it is kept, and until the answer says so."""
    fact = f"Ada's boat of {word} lies in Lisbon."

    async def answer(request: Recorded) -> str:
        await asyncio.sleep(answering)
        return "A fine boat."

    async def judge(request: Recorded) -> Any:
        await asyncio.sleep(judging)
        said = request.last_text.partition("To be judged:")[2]
        (message, *_) = [part.partition('"')[0] for part in said.split('<said id="')[1:] if word in part]
        finding = {"kind": "fact", "importance": 7, "sentence": fact, "evidence": [int(message)]}
        return tool("keep", {"findings": [finding]})

    shared_relay.model.reset()
    shared_relay.model.rule(lambda request: word in request.last_text.partition("To be judged:")[2], judge, model=JUDGE)
    shared_relay.model.rule(lambda request: word in request.user_turn()[0], answer)
    dm = shared_relay.tg.dm(shared_relay.tg.person(OWNER))
    began = time.monotonic()
    await shared_relay.tg.say(dm, None, f"My boat, which I bought of {word}, lies in the harbour of Lisbon now.")
    while not await asyncio.to_thread(shared_relay.sql, "select 1 from relay.memory where content = %s", fact):  # noqa: ASYNC110
        await asyncio.sleep(LOOK_SECONDS)
    in_memory = time.monotonic() - began
    while not any(fact in text for text in shared_relay.said(dm)):  # noqa: ASYNC110
        await asyncio.sleep(LOOK_SECONDS)
    return in_memory, time.monotonic() - began
