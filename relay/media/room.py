"""Limits the bytes of files held at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Room:
    """Admits files while there is room. A sixth is reserved for small files and the rest for large ones, so that
    neither have to wait for the other. Each part serves in order of arrival."""

    def __init__(self, most: int) -> None:
        """`most`: bytes. A file larger than its part gets that part alone."""
        self._small, self._large = Part(most // 6), Part(most - most // 6)
        self._limit = most // 24

    @asynccontextmanager
    async def reserve(self, size: int) -> AsyncIterator[None]:
        """Waits for room for `size` bytes, and holds it during the block. 0: the size is unknown."""
        part = self._small if 0 < size <= self._limit else self._large
        async with part.reserve(size or part.most):
            yield


class Part:
    """A part of a room, which serves in order of arrival."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._free = most
        self._queue = asyncio.Lock()
        self._left = asyncio.Event()

    @asynccontextmanager
    async def reserve(self, size: int) -> AsyncIterator[None]:
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
