"""Work that a person can stop."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


async def wait_or_cancel(stop: asyncio.Event, work: Awaitable[T]) -> T | None:
    """Returns the result of `work`, or None as soon as `stop` is set."""
    task = asyncio.ensure_future(work)
    halt = asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait({task, halt}, return_when=asyncio.FIRST_COMPLETED)
        return task.result() if task.done() and not stop.is_set() else None
    finally:
        halt.cancel()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)  # also a finished one, to retrieve its error
