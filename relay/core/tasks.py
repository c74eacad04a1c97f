"""Work that runs beside other work, and can be cancelled."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable
from typing import Any, TypeVar

T = TypeVar("T")


async def cancel(*tasks: asyncio.Future[Any]) -> None:
    """Cancels tasks and waits until they have ended. Drops their errors, also of those that ended before."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@contextlib.asynccontextmanager
async def run_beside(work: Awaitable[T]) -> AsyncIterator[asyncio.Task[T]]:
    """Runs work beside the block, and cancels what is left of it at the end. Drops its errors."""
    task = asyncio.ensure_future(work)
    try:
        yield task
    finally:
        await cancel(task)


async def wait_for(event: asyncio.Event, seconds: float) -> bool:
    """Waits until an event is set, at most this long. Returns whether it is set."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    return event.is_set()


async def wait_or_cancel(stop: asyncio.Event, work: Awaitable[T]) -> T | None:
    """Returns the result of `work`, or None as soon as `stop` is set."""
    async with run_beside(stop.wait()) as halt, run_beside(work) as task:
        await asyncio.wait({task, halt}, return_when=asyncio.FIRST_COMPLETED)
        return task.result() if task.done() and not stop.is_set() else None
