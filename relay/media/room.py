"""How many bytes of files are held at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Room:
    """Lets in what there is room for. What is small has a sixth of it for itself, what is large the rest, so that
    neither waits for the other; among the small, as among the large, who comes first is served first."""

    def __init__(self, most: int) -> None:
        """`most`: bytes. What is larger than the part for large ones gets in alone there."""
        self._small, self._large = Part(most // 6), Part(most - most // 6)
        self._limit = most // 24

    @asynccontextmanager
    async def taken(self, size: int) -> AsyncIterator[None]:
        """Waits until there is room for so many bytes, and keeps it. 0: how many it will be is not known."""
        part = self._small if 0 < size <= self._limit else self._large
        async with part.taken(size or part.most):
            yield


class Part:
    """A part of a room: first come, first served."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._free = most
        self._queue = asyncio.Lock()
        self._left = asyncio.Event()

    @asynccontextmanager
    async def taken(self, size: int) -> AsyncIterator[None]:
        """See `Room.taken`."""
        size = min(size, self.most)
        async with self._queue:
            while self._free < size:
                self._left.clear()
                await self._left.wait()
            self._free -= size
        try:
            yield
        finally:
            self._free += size
            self._left.set()
