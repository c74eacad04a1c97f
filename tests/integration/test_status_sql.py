"""Tests the status of the queue in numbers."""

from __future__ import annotations

import pytest

from relay.memory.claims import Queue
from relay.memory.store import Store
from tests.integration.conftest import Sql
from tests.integration.turn_driver import ADA, BEN, BOT, TurnDriver, message


async def test_the_database_answers_a_ping(store: Store) -> None:
    assert (await store.ping()).startswith("20")


async def test_an_empty_queue_has_zero_counts(store: Store) -> None:
    assert await store.queue(BOT.id) == Queue(0, 0, 0)


async def test_a_running_turn_and_messages_behind_it_are_not_late(driver: TurnDriver, store: Store, sql: Sql) -> None:
    (running,) = await driver.say(message(ADA, "first"))
    assert running.waited >= 0
    await driver.say(message(ADA, "second"), message(ADA, "third"))
    await sql("update inbox set received_at = now() - interval '1 hour'")
    assert await store.queue(BOT.id) == Queue(2, 1, 0)
    assert await store.queue(BOT.id + 1) == Queue(0, 0, 0)


async def test_an_unclaimed_message_is_reported_with_its_age(driver: TurnDriver, store: Store, sql: Sql) -> None:
    assert await driver.say(message(ADA, "hello"), limit=0) == []
    await sql("update lane set due_at = now() - interval '90 seconds'")
    queue = await store.queue(BOT.id)
    assert (queue.waiting, queue.turns) == (1, 0)
    assert queue.oldest == pytest.approx(90, abs=30)
    (turn,) = await driver.claim()
    assert await store.queue(BOT.id) == Queue(0, 1, 0)
    await driver.close(turn)
    assert await store.queue(BOT.id) == Queue(0, 0, 0)


async def test_an_abandoned_turn_is_reported_with_its_age(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await driver.say(message(BEN, "hello"))
    await sql("update turn set lease_until = now() - interval '200 seconds'")
    assert (await store.queue(BOT.id)).oldest == pytest.approx(200, abs=30)
    await sql("update turn set lease_owner = null, lease_until = null, not_before = now() + interval '8 seconds'")
    assert (await store.queue(BOT.id)).oldest == 0, "the turn is delayed after a failure"


async def test_a_claimed_turn_knows_how_long_it_waited(driver: TurnDriver, sql: Sql) -> None:
    await driver.say(message(ADA, "hello"), limit=0)
    await sql("update inbox set received_at = now() - interval '40 seconds'")
    await sql("update lane set due_at = now()")
    (turn,) = await driver.claim()
    assert turn.waited == pytest.approx(40, abs=30)
