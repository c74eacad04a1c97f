"""What only one process does at a time: who has it, for how long, and how soon again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from relay.memory.store import Store
from tests.integration.conftest import Sql


async def test_a_duty_has_one_holder_until_it_is_given_back_or_its_lease_ends(
    store: Store, another: Callable[[], Store], sql: Sql
) -> None:
    other = another()
    taken = await asyncio.gather(*(one.take_duty("poll", 30) for one in (store, other)))
    assert sorted(taken) == [False, True]
    holder, waiting = (store, other) if taken[0] else (other, store)
    assert await holder.take_duty("poll", 30)
    assert not await waiting.end_duty("poll", done=True)
    await sql("update duty set lease_until = now() - interval '1 second'")
    assert await waiting.take_duty("poll", 30)
    assert not await holder.take_duty("poll", 30)
    assert not await holder.end_duty("poll", done=False)
    assert await waiting.end_duty("poll", done=False)
    assert await holder.take_duty("poll", 30)
    await sql("update duty set lease_until = now() + interval '1 year'")
    assert await waiting.take_duty("poll", 30), "a clock was wrong when that lease was given"


async def test_a_duty_that_was_done_rests(store: Store, another: Callable[[], Store], sql: Sql) -> None:
    assert await store.take_duty("backup", 30, 3600)
    await store.end_duty("backup", done=False)
    assert await store.take_duty("backup", 30, 3600), "it was not done"
    await store.end_duty("backup", done=True)
    assert not await store.take_duty("backup", 30, 3600)
    assert not await another().take_duty("backup", 30, 3600)
    assert await another().take_duty("backup", 30, 0)
    await sql("update duty set lease_owner = null, done_at = now() - interval '2 hours'")
    assert await store.take_duty("backup", 30, 3600)


async def test_a_start_and_a_stop_are_events(store: Store, sql: Sql) -> None:
    for kind in ("started", "stopped", "anything else"):
        await store.note_run(kind, 7)
    assert await sql("select kind, bot_id, payload ? 'worker' from event order by id") == [
        ("started", 7, True), ("stopped", 7, True),
    ]  # fmt: skip
