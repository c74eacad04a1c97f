"""Tests reactions: which are current, and which were removed."""

from __future__ import annotations

from relay.memory.store import Store
from tests.integration.conftest import Sql
from tests.integration.edits import answered
from tests.integration.turn_driver import ADA, BEN, BOT, GROUP, TurnDriver


async def test_reactions_stay_until_they_are_withdrawn(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await answered(driver)
    for _ in range(2):
        assert await store.react(BOT.id, ADA, 900, ADA, ["👍", "🔥"], 100)
    assert await store.react(BOT.id, ADA, 900, ADA, ["🔥"], 200)
    assert not await store.react(BOT.id, ADA, 900, ADA, [], 150), "the update is older than the stored reactions"
    assert await sql(
        "select emoji, created_at = to_timestamp(100), removed_at = to_timestamp(200) from signal order by id"
    ) == [("👍", True, True), ("🔥", True, None)]
    await store.react(BOT.id, ADA, 900, ADA, ["👍"], 300)
    assert await sql("select emoji, removed_at is null from signal order by id") == [
        ("👍", False), ("🔥", False), ("👍", True)
    ]  # fmt: skip


async def test_reactions_to_unknown_or_other_peoples_messages_are_ignored(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    _, _, update = await answered(driver, "mine", chat_id=GROUP)
    said = update["message"]["message_id"]
    assert not await store.react(BOT.id, GROUP, 77777, ADA, ["👍"], 1)
    assert not await store.react(BOT.id, GROUP, said, BEN, ["👍"], 1)
    assert await store.react(BOT.id, GROUP, said, ADA, ["👍"], 1)
    assert await sql("select count(*) from signal") == [(1,)]
