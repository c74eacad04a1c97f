"""The polling lease: one process polls at a time. The worker's claims renew the lease and report who holds it."""

import asyncio
import time


class PollLease:
    """Which process polls, as far as this one knows."""

    def __init__(self) -> None:
        self._taken_at = 0.0
        self._mine: bool | None = False
        self._news = asyncio.Event()
        self.waiting = False
        """Whether this process waits for the lease."""
        self.elsewhere_at = 0.0
        """When another process was last known to poll (monotonic seconds)."""

    def note_taken(self) -> None:
        """Notes that this process has the lease. The results of claims sent earlier are ignored."""
        self._taken_at = time.monotonic()
        self._mine = True

    def note_claim(self, mine: bool | None, asked_at: float) -> None:
        """Notes what a claim sent at `asked_at` (monotonic) found: this process polls, another one, or none (None)."""
        if asked_at < self._taken_at:
            return
        if mine is False:
            self.elsewhere_at = time.monotonic()
        self._mine = mine
        self._news.set()

    async def wait_until_lost(self) -> None:
        """Waits until this process no longer has the lease."""
        while self._mine:
            self._news.clear()
            await self._news.wait()

    async def free(self) -> None:
        """Waits until no other process has the lease."""
        self._mine, self.waiting = False, True
        try:
            while self._mine is False:
                self._news.clear()
                await self._news.wait()
        finally:
            self.waiting = False
