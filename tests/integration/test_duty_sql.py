"""Tests duties, which only one process has at a time: who holds a duty, and for how long."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from relay.memory.store import Store
from tests.integration.conftest import Sql


async def test_a_duty_has_one_holder_until_it_is_freed_or_its_lease_ends(
    store: Store, another: Callable[[], Store], sql: Sql
) -> None:
    other = another()
    taken = await asyncio.gather(*(one.hold_duty("poll", 30) for one in (store, other)))
    assert sorted(taken) == [False, True]
    holder, waiting = (store, other) if taken[0] else (other, store)
    assert await holder.hold_duty("poll", 30)
    assert not await waiting.free_duty("poll")
    await sql("update duty set lease_until = now() - interval '1 second'")
    assert await waiting.hold_duty("poll", 30)
    assert not await holder.hold_duty("poll", 30)
    assert not await holder.free_duty("poll")
    assert await waiting.free_duty("poll")
    assert await holder.hold_duty("poll", 30)
    await sql("update duty set lease_until = now() + interval '1 year'")
    assert await waiting.hold_duty("poll", 30), "a lease that far ahead comes from a wrong clock"


async def test_starting_and_stopping_are_recorded_as_events(store: Store, sql: Sql) -> None:
    for kind in ("started", "stopped", "anything else"):
        await store.note_run(kind, 7)
    assert await sql("select kind, bot_id, payload ? 'worker' from event order by id") == [
        ("started", 7, True), ("stopped", 7, True),
    ]  # fmt: skip
