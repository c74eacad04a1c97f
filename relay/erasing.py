"""Erasing to the end: what a person let go, and sessions off the record that are over."""

from __future__ import annotations

import asyncio
from typing import Any

import structlog

from relay.media.files import still_of
from relay.memory.calls.turn import IDLE_HOURS
from relay.memory.store import Store
from relay.ports import Keeper

log = structlog.get_logger()

Json = dict[str, Any]
PAUSE = 0.5
MOST_PAUSES = 240
"""So often another process's step is waited for."""


async def remove_files(store: Store, keeper: Keeper) -> None:
    """Removes the kept copies of files of what was erased; what cannot be removed now is tried again later."""
    gone = await store.files_gone()
    while gone:
        copies = [*gone, *(still_of(unique_id) for unique_id in gone)]
        if not await keeper.remove(copies):
            return
        gone = await store.files_gone(gone)


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


async def finish_erasing(store: Store, keeper: Keeper) -> int:
    """Finishes what a crash has left of erasures, ends and erases sessions off the record, and removes kept files of
    both. Returns how many erasures were finished."""
    finished = 0
    left = await store.sweep_private(IDLE_HOURS)
    while left > (left := await store.sweep_private(IDLE_HOURS)) > 0:
        pass
    while (step := await store.erase_step()) is not None:
        finished += bool(step["done"])
    await remove_files(store, keeper)
    if finished:
        log.info("finished erasing", erasures=finished)
    return finished
