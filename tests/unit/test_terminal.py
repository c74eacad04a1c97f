"""A conversation on the terminal ends when its person ends it."""

from __future__ import annotations

import asyncio

import pytest

from relay import terminal


async def test_leaving_waits_a_moment_for_judging_and_then_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(terminal, "LAST_SECONDS", 0.1)
    done: list[int] = []

    async def judging(seconds: float) -> int:
        await asyncio.sleep(seconds)
        done.append(1)
        return 1

    soon, never = asyncio.create_task(judging(0.01)), asyncio.create_task(judging(3600))
    await terminal.cut_short({soon, never})
    assert done == [1]
    assert never.cancelled()
    await terminal.cut_short(set())
