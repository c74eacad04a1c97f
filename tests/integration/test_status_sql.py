"""How the queue stands, in numbers."""

from __future__ import annotations

import pytest

from relay.memory.claims import Queue
from relay.memory.store import Store
from tests.integration.conftest import Sql
from tests.integration.house import ADA, BEN, BOT, House, message


async def test_the_database_answers(store: Store) -> None:
    assert (await store.ping()).startswith("20")


async def test_an_empty_queue(store: Store) -> None:
    assert await store.queue(BOT.id) == Queue(0, 0, 0)


async def test_what_runs_is_not_late_and_what_waits_behind_it_is_not_either(
    house: House, store: Store, sql: Sql
) -> None:
    (running,) = await house.say(message(ADA, "first"))
    assert running.waited >= 0
    await house.say(message(ADA, "second"), message(ADA, "third"))
    await sql("update inbox set received_at = now() - interval '1 hour'")
    assert await store.queue(BOT.id) == Queue(2, 1, 0)
    assert await store.queue(BOT.id + 1) == Queue(0, 0, 0)


async def test_what_nobody_takes_up_grows_old(house: House, store: Store, sql: Sql) -> None:
    assert await house.say(message(ADA, "hello"), limit=0) == []
    await sql("update lane set due_at = now() - interval '90 seconds'")
    queue = await store.queue(BOT.id)
    assert (queue.waiting, queue.turns) == (1, 0)
    assert queue.oldest == pytest.approx(90, abs=30)
    (turn,) = await house.claim()
    assert await store.queue(BOT.id) == Queue(0, 1, 0)
    await house.close(turn)
    assert await store.queue(BOT.id) == Queue(0, 0, 0)


async def test_a_turn_that_its_process_left_grows_old(house: House, store: Store, sql: Sql) -> None:
    await house.say(message(BEN, "hello"))
    await sql("update turn set lease_until = now() - interval '200 seconds'")
    assert (await store.queue(BOT.id)).oldest == pytest.approx(200, abs=30)
    await sql("update turn set lease_owner = null, lease_until = null, not_before = now() + interval '8 seconds'")
    assert (await store.queue(BOT.id)).oldest == 0, "it is put off, after a failure"


async def test_how_long_a_turn_has_waited_is_told(house: House, sql: Sql) -> None:
    await house.say(message(ADA, "hello"), limit=0)
    await sql("update inbox set received_at = now() - interval '40 seconds'")
    await sql("update lane set due_at = now()")
    (turn,) = await house.claim()
    assert turn.waited == pytest.approx(40, abs=30)
