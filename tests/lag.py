"""How long an event loop is blocked."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

TICK = 0.002
RUNS = 8
LITTLE = 0.05


async def longest_lag(work: Callable[[], Awaitable[object]]) -> float:
    """The longest time in seconds that the loop was blocked while some work ran. Takes the best of several runs: the
    work's own delays recur in each, those of the machine need not."""
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
        await asyncio.sleep(2 * TICK)  # for the last delayed tick
    finally:
        ticking.cancel()
    return longest
