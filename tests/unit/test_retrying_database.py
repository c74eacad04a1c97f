"""An unreachable database: calls wait for it, and it is brought back once for all of them."""

from __future__ import annotations

import asyncio
from typing import Any

from relay.core.errors import DatabaseUnavailable
from relay.memory.retrying_database import RetryingDatabase


async def test_the_database_is_repaired_once_for_all_waiting_calls() -> None:
    """Each attempt takes a thread, and there are few: name lookups would have to wait as well."""
    repairs, up = 0, False

    class Down:
        async def call(self, function: str, **arguments: Any) -> str:
            if not up:
                raise DatabaseUnavailable("It is away.")
            return function

    async def repair() -> None:
        nonlocal repairs, up
        repairs += 1
        await asyncio.sleep(0.3)
        if repairs == 1:
            raise DatabaseUnavailable("It does not start.")
        up = True

    patient = RetryingDatabase(Down(), repair)  # type: ignore[arg-type]
    assert await asyncio.gather(*(patient.call("ping") for _ in range(20))) == ["ping"] * 20
    assert repairs == 2
