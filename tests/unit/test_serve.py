"""Background tasks that run beside answering."""

from __future__ import annotations

import asyncio

import pytest
import structlog

from relay.surfaces.server import bot


async def test_a_background_task_that_fails_is_logged(monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken() -> None:
        raise OSError("no more processes")

    monkeypatch.setattr(bot, "log", structlog.get_logger())
    with structlog.testing.capture_logs() as logs:
        for work in (broken(), asyncio.sleep(0), asyncio.sleep(60)):
            task: asyncio.Task[None] = asyncio.create_task(work, name="index")
            task.add_done_callback(bot._log_failure)
        await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.sleep(0.01)
    assert [(one["log_level"], one["task"], str(one["exc_info"])) for one in logs] == [
        ("error", "index", "no more processes")
    ]
