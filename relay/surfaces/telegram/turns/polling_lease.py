"""Polling is for one process at a time. The worker's claims prolong the lease of it, and tell how it stands."""

from __future__ import annotations

import asyncio
import time


class PollLease:
    """Who polls, as far as this process has heard."""

    def __init__(self) -> None:
        self._taken_at = 0.0
        self._mine: bool | None = False
        self._news = asyncio.Event()
        self.waiting = False
        """Whether this process waits for its turn to poll."""
        self.elsewhere_at = 0.0
        """When another process was last known to poll (monotonic seconds)."""

    def taken(self) -> None:
        """This process has got the lease: what a claim that was sent before says of it does not count."""
        self._taken_at = time.monotonic()
        self._mine = True

    def told(self, mine: bool | None, asked_at: float) -> None:
        """What a claim sent at `asked_at` (monotonic) says: this process polls, another does, or (None) nobody."""
        if asked_at < self._taken_at:
            return
        if mine is False:
            self.elsewhere_at = time.monotonic()
        self._mine = mine
        self._news.set()

    async def lost(self) -> None:
        """Waits until it is not this process's any more."""
        while self._mine:
            self._news.clear()
            await self._news.wait()

    async def free(self) -> None:
        """Waits until no other process has it."""
        self._mine, self.waiting = False, True
        try:
            while self._mine is False:
                self._news.clear()
                await self._news.wait()
        finally:
            self.waiting = False
