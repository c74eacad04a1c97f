"""Checks whether this process is healthy; cheap to ask often."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from relay.core.errors import DatabaseError
from relay.core.frozen import frozen
from relay.memory.claims import Queue
from relay.memory.store import Store

T = TypeVar("T")

PATIENCE = 2.0
"""How many seconds the database has to answer."""
SILENCE = 60.0
"""Seconds after which Telegram counts as silent. A poll takes at most half of this; a webhook is checked more often."""
QUEUE_SECONDS = 120.0
"""How many seconds a turn may wait although there is room for it."""


@frozen
class Process:
    """What the running bot reports about itself."""

    silence: Callable[[], float]
    """Returns the seconds since the last poll returned (also in another process), or since the webhook last worked."""
    free: Callable[[], int]
    """Returns how many more turns can run."""
    running: Callable[[], int]
    """Returns how many turns are running."""
    stopping: Callable[[], bool]


class Health:
    """The state of a process and of its database. `store` must not wait for an unavailable database."""

    def __init__(self, process: Process, store: Store, bot_id: int) -> None:
        self.process = process
        self._ping = CachedQuery(store.ping, 1.0)
        self._queue = CachedQuery(lambda: store.queue(bot_id), 5.0)

    async def queue(self) -> Queue | None:
        """Returns the queue, at most 5 s old; None if the database does not answer."""
        return await self._queue.get()

    async def ready(self) -> dict[str, str]:
        """Returns the result of each check: `ok`, or what is wrong."""
        answer, queue = await asyncio.gather(self._ping.get(), self._queue.get())
        silence = self.process.silence()
        state = {
            "database": "ok" if answer is not None else "does not answer",
            "telegram": "ok" if silence < SILENCE else f"not heard from for {silence:.0f} s",
            "queue": self._describe_queue(queue),
        }
        return state | ({"process": "stopping"} if self.process.stopping() else {})

    def _describe_queue(self, queue: Queue | None) -> str:
        if queue is None:
            return "not known"
        late = queue.oldest >= QUEUE_SECONDS and self.process.free() > 0
        return f"something has waited for {queue.oldest:.0f} s" if late else "ok"

    def close(self) -> None:
        """Cancels running queries."""
        self._ping.cancel()
        self._queue.cancel()


class CachedQuery(Generic[T]):
    """Caches the answer to a database query for some seconds, and never runs it twice at a time."""

    def __init__(self, ask: Callable[[], Awaitable[T]], seconds: float) -> None:
        self._ask = ask
        self._seconds = seconds
        self._asked = 0.0
        self._task: asyncio.Task[T | None] | None = None

    async def get(self) -> T | None:
        """Returns the answer; None if there is none within `PATIENCE`. The query then keeps running."""
        now = time.monotonic()
        if self._task is None or (self._task.done() and now - self._asked >= self._seconds):
            self._asked = now
            self._task = asyncio.create_task(self._answer())
        done, _ = await asyncio.wait({self._task}, timeout=PATIENCE)
        return self._task.result() if done else None

    async def _answer(self) -> T | None:
        try:
            return await self._ask()
        except DatabaseError:
            return None

    def cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()
