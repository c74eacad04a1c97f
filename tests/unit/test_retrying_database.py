"""An unreachable database: calls wait for it, and it is brought back once for all of them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

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


async def test_a_call_that_somebody_waits_for_fails_after_some_seconds() -> None:
    calls = 0

    class Down:
        async def call(self, function: str, **arguments: Any) -> str:
            nonlocal calls
            calls += 1
            raise DatabaseUnavailable("It is away.")

    brief = RetryingDatabase(Down(), seconds=0.3)  # type: ignore[arg-type]
    async with asyncio.timeout(5):
        with pytest.raises(DatabaseUnavailable, match="It is away"):
            await brief.call("ping")
    assert calls > 1, "it is tried again"
