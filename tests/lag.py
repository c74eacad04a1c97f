"""How long an event loop is held up."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

TICK = 0.002
RUNS = 8
LITTLE = 0.05


async def longest_lag(work: Callable[[], Awaitable[object]]) -> float:
    """For how many seconds the loop stood still at most while some work ran. The best of several runs: what the work
    itself does comes back in each, what else the machine does need not."""
    best = float("inf")
    for _ in range(RUNS):
        best = min(best, await _lag(work))
        if best < LITTLE:
            break
    return best


async def _lag(work: Callable[[], Awaitable[object]]) -> float:
    longest = 0.0

    async def tick() -> None:
        nonlocal longest
        while True:
            before = time.perf_counter()
            await asyncio.sleep(TICK)
            longest = max(longest, time.perf_counter() - before - TICK)

    ticking = asyncio.create_task(tick())
    try:
        await asyncio.sleep(2 * TICK)
        await work()
        await asyncio.sleep(2 * TICK)  # the tick that was held up last tells it
    finally:
        ticking.cancel()
    return longest
