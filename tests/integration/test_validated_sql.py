"""Tests whether a person has confirmed a memory: by a tap, or by keeping, rewording, pinning or telling it."""

from __future__ import annotations

from typing import Any

import pytest

from relay.memory.rows.memories import MemoryFilter
from relay.memory.store import Store
from tests.integration.conftest import Sql
from tests.integration.turn_driver import ADA, BEN, GROUP, TurnDriver, fact, group, private

Json = dict[str, Any]
STATE = "select content, validated_at is not null, validated_by, confidence from memory order by id"


async def doubted(driver: TurnDriver, sql: Sql, chat_id: int | None = None) -> int:
    """Returns the id of a memory about Ada that isn't certain."""
    await driver.teach(ADA, "likes tea", chat_id=chat_id)
    [(number,)] = await sql("update memory set confidence = 0.8 returning id")
    return int(number)


async def change(driver: TurnDriver, action: Json, user_id: int = ADA, chat_id: int | None = None) -> Any:
    turn = await driver.turn(user_id, "change", chat_id=chat_id) if chat_id else await driver.turn(user_id, "change")
    done = await driver.store.change_memory(turn, group() if chat_id else private(user_id), [action])
    await driver.close(turn)
    return done


@pytest.mark.parametrize(
    "action", [{"action": "validate"}, {"action": "pin"}, {"action": "edit", "content": "likes tea"}], ids=str
)
async def test_a_persons_own_action_confirms_a_memory(driver: TurnDriver, sql: Sql, action: Json) -> None:
    number = await doubted(driver, sql)
    assert await sql(STATE) == [("likes tea", False, None, pytest.approx(0.8))]
    await change(driver, action | {"memory_id": number})
    assert await sql(STATE) == [("likes tea", True, ADA, 1)]


async def test_keeping_a_pending_memory_confirms_it(driver: TurnDriver, sql: Sql) -> None:
    learned = await driver.exchange(ADA, "Hm", actions=[fact(ADA, "likes tea")], tainted=True)
    assert (await sql(STATE))[0][1] is False
    await driver.store.decide_change(learned.told.changes[0].id, ADA, False, "keep")
    assert await sql(STATE) == [("likes tea", True, ADA, 1)]


async def test_remembering_a_fact_confirms_it_even_if_it_was_known(driver: TurnDriver, sql: Sql) -> None:
    await doubted(driver, sql)
    for content in ("likes tea", "likes rain"):
        await change(driver, fact(ADA, content) | {"by": "user"})
    assert [row[1:] for row in await sql(STATE)] == [(True, ADA, 1), (True, ADA, 1)]


async def test_nobody_can_confirm_a_memory_about_another_person(driver: TurnDriver, sql: Sql) -> None:
    number = await doubted(driver, sql, GROUP)
    done = await change(driver, {"action": "validate", "memory_id": number}, BEN, GROUP)
    assert done.failed
    assert (await sql(STATE))[0][1] is False


async def test_unconfirmed_memories_are_listed(driver: TurnDriver, store: Store, sql: Sql) -> None:
    number = await doubted(driver, sql)
    await driver.teach(ADA, "sings")
    await change(driver, {"action": "validate", "memory_id": number})
    found = await store.memories(private(ADA), 0, 9, MemoryFilter(unconfirmed=True))
    assert ([row.content for row in found.memories], found.unconfirmed, found.total) == (["sings"], 1, 2)
