"""Health checks: whether a process is ready, and how often the database is asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from relay.core.errors import DatabaseUnavailable
from relay.memory.claims import Queue
from relay.surfaces.http import health as module
from relay.surfaces.http.health import Health, Process

OK = {"database": "ok", "telegram": "ok", "queue": "ok"}


@dataclass
class State:
    """A process and its database in the state that a test needs."""

    silence: float = 3.0
    free: int = 5
    stopping: bool = False
    waiting: Queue = field(default_factory=lambda: Queue(0, 0, 0.0))
    away: bool = False
    hangs: bool = False
    asked: list[str] = field(default_factory=list)

    async def ping(self) -> str:
        return await self._told("ping", lambda: "now")

    async def queue(self, bot_id: int) -> Queue:
        return await self._told("queue", lambda: self.waiting)

    async def _told(self, what: str, answer: Callable[[], Any]) -> Any:
        self.asked.append(what)
        if self.hangs:
            await asyncio.Event().wait()
        if self.away:
            raise DatabaseUnavailable
        return answer()

    def health(self) -> Health:
        process = Process(lambda: self.silence, lambda: self.free, lambda: 0, lambda: self.stopping)
        return Health(process, self, 1)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("state", "wrong"),
    [
        (State(), {}),
        (State(silence=61), {"telegram": "not heard from for 61 s"}),
        (State(waiting=Queue(9, 1, 121)), {"queue": "something has waited for 121 s"}),
        (State(waiting=Queue(9, 1, 121), free=0), {}),
        (State(away=True), {"database": "does not answer", "queue": "not known"}),
        (State(stopping=True), {"process": "stopping"}),
    ],
)
async def test_a_health_check_names_what_is_wrong(state: State, wrong: dict[str, str]) -> None:
    assert await state.health().ready() == OK | wrong


async def test_a_hanging_database_does_not_block_health_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PATIENCE", 0.05)
    state = State(hangs=True)
    health = state.health()
    for _ in range(3):
        assert (await health.ready())["database"] == "does not answer"
    assert sorted(state.asked) == ["ping", "queue"], "a query under way is not repeated"
    health.close()


async def test_simultaneous_health_checks_ask_the_database_once() -> None:
    state = State()
    health = state.health()
    assert await asyncio.gather(*(health.ready() for _ in range(50))) == [OK] * 50
    assert sorted(state.asked) == ["ping", "queue"]


async def test_a_cancelled_health_check_does_not_cancel_the_others() -> None:
    state = State()
    health = state.health()
    gone, stays = asyncio.create_task(health.ready()), asyncio.create_task(health.ready())
    await asyncio.sleep(0)
    gone.cancel()
    assert await stays == OK
