"""Work beside a block ends with it, whatever happens to either."""

from __future__ import annotations

import asyncio

import pytest

from relay.core.tasks import run_beside


async def test_work_beside_a_block_is_cancelled_and_has_ended_when_the_block_is_left() -> None:
    ended: list[str] = []

    async def work() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0)
            ended.append("work")

    async def block() -> None:
        async with run_beside(work()):
            await asyncio.sleep(0)
            raise KeyError

    with pytest.raises(KeyError):
        await block()
    assert ended == ["work"]


async def test_errors_of_work_beside_a_block_are_dropped_but_can_be_read_in_it() -> None:
    async def fail() -> None:
        raise ValueError("over")

    async with run_beside(fail()) as task:
        await asyncio.wait({task})
        with pytest.raises(ValueError, match="over"):
            task.result()
