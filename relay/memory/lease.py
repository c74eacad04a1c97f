"""Short leases of background work, renewed while it runs."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable

from relay.core.errors import DatabaseError

RENEW_SECONDS = 6.0


@contextlib.asynccontextmanager
async def renew_lease(renew: Callable[[], Awaitable[object]]) -> AsyncIterator[None]:
    """Renews a lease while the block runs. It is short, so that another process soon takes over a dead one's work."""

    async def again() -> None:
        while True:
            await asyncio.sleep(RENEW_SECONDS)
            with contextlib.suppress(DatabaseError):
                await renew()

    renewing = asyncio.create_task(again())
    try:
        yield
    finally:
        renewing.cancel()
        await asyncio.gather(renewing, return_exceptions=True)
