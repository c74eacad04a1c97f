"""How many bytes of files are held at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Room:
    """Lets in what there is room for, first come, first served."""

    def __init__(self, most: int) -> None:
        """`most`: bytes. What is larger gets in alone."""
        self._most = most
        self._free = most
        self._queue = asyncio.Lock()
        self._left = asyncio.Event()

    @asynccontextmanager
    async def taken(self, size: int) -> AsyncIterator[None]:
        """Waits until there is room for so many bytes, and keeps it."""
        size = min(size, self._most)
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
