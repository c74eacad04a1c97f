"""Erasing to the end: what a person let go, and sessions off the record that are over."""

from __future__ import annotations

import asyncio
from typing import Any

import structlog

from relay.memory.calls.turn import IDLE_HOURS
from relay.memory.store import Store

log = structlog.get_logger()

Json = dict[str, Any]
PAUSE = 0.5
MOST_PAUSES = 240
"""So often another process's step is waited for."""


async def erased(store: Store, erasure_id: int) -> Json | None:
    """Takes an erasure that was begun to its end: `{erasure_id, done, counts, posted}`.

    None when another process is still at it after two minutes; it is finished then without us.
    """
    for _ in range(MOST_PAUSES):
        step = await store.erase_step(erasure_id)
        while step is not None and not step["done"]:
            step = await store.erase_step(erasure_id)
        if step is not None:
            return step
        await asyncio.sleep(PAUSE)
    return None


async def finish_erasing(store: Store) -> int:
    """Finishes what a crash has left of erasures, and ends and erases sessions off the record. Returns how many
    erasures were finished."""
    finished = 0
    left = await store.sweep_private(IDLE_HOURS)
    while left > (left := await store.sweep_private(IDLE_HOURS)) > 0:
        pass
    while (step := await store.erase_step()) is not None:
        finished += bool(step["done"])
    if finished:
        log.info("finished erasing", erasures=finished)
    return finished
