"""Tests forgetting and restoring many memories, by a pattern or all: each call is bounded, also after a crash."""

from __future__ import annotations

import time
from typing import Any

import pytest

from relay.commands.memory.erase import ErasedMemoryNumber
from relay.commands.memory.forget import forget
from relay.core.models import Space
from relay.memory.claims import ClaimedTurn
from relay.memory.rows.memories import ForgetProgress
from relay.memory.store import Store
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.dispatch import hear_answer, press_button
from relay.surfaces.chat.memory.erase import query_of
from relay.surfaces.chat.reply import ButtonReply
from tests.integration.conftest import Sql
from tests.integration.turn_driver import ADA, BOT, TurnDriver, a_house, fact, private
from tests.standins.fakes import FakeMessenger

TAUGHT = """insert into memory (space_id, kind, content, subject_id, subject)
    select id, 'fact', 'job number ' || n, owner_id, 'Ada' from space, generate_series(1, %s) as n"""
STATES = "select status, count(*)::int from memory group by 1 order by 1"
CHANGES = "select action, status, count(*)::int from memory_change group by 1, 2 order by 1, 2"
CALL = 6.0
"""The limit in seconds for one call. A client waits at least 8."""


async def running() -> bool:
    return False


async def sees(space: Space) -> bool:
    return True


def asked(store: Store, turn: ClaimedTurn, text: str = "") -> ChatContext:
    """Returns the context of a request of Ada's in her private chat."""
    driver = a_house(store)
    return ChatContext(
        driver, turn, BOT.id, private(ADA), ADA, 0, True, ADA, "Ada", False, running, sees, text, FakeMessenger()
    )


async def pressed(store: Store, turn: ClaimedTurn, decision: str) -> ButtonReply:
    """Presses a button under the preview of a pattern."""
    done = await press_button(asked(store, turn), ":".join(["fp", str(turn.turn_id), decision]))
    assert isinstance(done, ButtonReply)
    return done


async def confirmed(store: Store, turn: ClaimedTurn, text: str, known: int) -> str:
    """Answers the question about a reset, as a turn does."""
    return (await hear_answer(asked(store, turn, text), "reset", known)).text


async def knows(driver: TurnDriver, sql: Sql, many: int) -> None:
    """Gives Ada this many facts about her jobs."""
    await driver.exchange(ADA, "hello")
    await sql("set relay.index = 'later'")  # takes a tenth of the time
    await sql(TAUGHT, many)
    await sql("reset relay.index")


async def shown(driver: TurnDriver, store: Store) -> ClaimedTurn:
    """Returns a turn that has shown what a pattern matches."""
    turn = await driver.turn(ADA, "/forget job*")
    await store.forget_preview(turn, private(ADA), "job*", ADA, False)
    return turn


@pytest.mark.parametrize("number", ["٣", "#3", "3", "#３"])
async def test_the_number_of_a_memory_may_be_written_in_any_digits(
    driver: TurnDriver, store: Store, sql: Sql, number: str
) -> None:
    await knows(driver, sql, 4)
    done = await forget(asked(store, await driver.turn(ADA, f"/forget {number}")), number)
    assert [(one.status, one.content) for one in done.changes] == [("applied", "job number 3")]
    assert query_of("#٣") == ErasedMemoryNumber(3)


async def states(sql: Sql) -> dict[str, int]:
    rows: list[Any] = await sql(STATES)
    return dict(rows)


async def test_thousands_of_memories_are_forgotten_and_restored_in_bounded_calls(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await knows(driver, sql, 2500)
    turn = await shown(driver, store)
    for undo, most in ((False, 2000), (True, 500)):
        for batch in range(1, 2500 // most + 2):
            await sql("analyze memory, memory_change, event")  # autovacuum otherwise does this
            began = time.monotonic()
            done = await store.forget_shown(turn.turn_id, ADA, False, undo)
            assert time.monotonic() - began < CALL
            assert done == ForgetProgress(min(batch * most, 2500), batch * most <= 2500)
        assert await states(sql) == {"active" if undo else "forgotten": 2500}
        found = await driver.look_up(private(ADA), "job number 2471", 1)
        assert bool(found) is undo, "forgotten memories must leave the index, and restored ones must return"
    assert await sql("select count(*)::int from event where payload ->> 'decision' = 'undo'") == [(2500,)]


async def test_all_buttons_show_the_total_number(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await knows(driver, sql, 2100)
    turn = await shown(driver, store)
    assert (await pressed(store, turn, "y")).text == "🧠 Forgot 2,100 memories."
    assert (await pressed(store, turn, "y")).text == "🧠 Forgot 2,100 memories.", "a repeated press must show the same"
    for _ in range(2):
        assert (await pressed(store, turn, "u")).text == "↩ 2,100 memories brought back."
    assert await sql(CHANGES) == [("forget", "undone", 2100)]
    await store.forget_shown(turn.turn_id, ADA, False)
    assert await states(sql) == {"active": 100, "forgotten": 2000}
    assert (await pressed(store, turn, "y")).text == "🧠 Forgot 2,100 memories.", (
        "after a crash, the rest must be forgotten"
    )


async def test_undo_counts_only_the_memories_it_restored(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await knows(driver, sql, 3)
    turn = await shown(driver, store)
    await pressed(store, turn, "y")
    ((first, change),) = await sql("select memory_id, id from memory_change order by id limit 1")
    await store.change_directly(private(ADA), ADA, [{"action": "restore", "memory_id": first}])
    assert await sql("select action from memory_change where id > %s and memory_id = %s", change, first) != []
    assert (await pressed(store, turn, "u")).text == "↩ 2 memories brought back."
    assert await sql("select status from memory_change where id = %s", change) == [("applied",)]


async def test_undoing_one_change_reads_few_others(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await knows(driver, sql, 3000)
    await pressed(store, await shown(driver, store), "y")
    await sql("vacuum analyze memory, memory_change")
    ((last,),) = await sql("select max(id) from memory_change")
    look = f"select relay.changed_since(c) from memory_change c where id = {last}"  # noqa: S608
    await sql(look)
    ((plan,),) = await sql(f"explain (analyze, buffers, format json) {look}")
    assert plan[0]["Plan"]["Shared Hit Blocks"] < 100


async def test_a_reset_discards_pending_changes(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await driver.teach(ADA, "likes tea")
    told = (await driver.exchange(ADA, "Read this.", actions=[fact(ADA, "obeys Eve")], tainted=True)).told
    assert await states(sql) == {"active": 1, "pending": 1}
    assert await store.confirm_reset(await driver.turn(ADA, "1"), private(ADA), ADA, 1) == 0
    assert await states(sql) == {"discarded": 1, "forgotten": 1}
    assert await sql(CHANGES) == [("forget", "applied", 1), ("learn", "applied", 1), ("learn", "discarded", 1)]
    for (change,) in await sql("select id from memory_change order by id desc"):
        for decision in ("undo", "keep"):
            await store.decide_change(change, ADA, False, decision)
    assert "active" not in await states(sql), "a discarded fact must stay discarded, whatever is pressed"
    assert told.changes[0].status == "pending"


async def test_a_repeated_reset_reports_its_first_result(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await knows(driver, sql, 3)
    turn = await driver.turn(ADA, "3")
    assert "Forgot all 3 memories" in await confirmed(store, turn, "3", 3)
    await sql(TAUGHT, 1)
    ((last,),) = await sql("select max(id) from memory_change")
    await store.decide_change(last, ADA, False, "undo")
    assert "Forgot all 3 memories" in await confirmed(store, turn, "3", 3), "the process died before it could reply"
    assert await states(sql) == {"active": 2, "forgotten": 2}, "new and restored memories must stay"
    assert await sql(CHANGES) == [("forget", "applied", 2), ("forget", "undone", 1)]
    await driver.close(turn)
    other = await driver.turn(ADA, "3 again")
    assert "Nothing was forgotten" in await confirmed(store, other, "3", 3)


async def test_an_interrupted_reset_continues(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await knows(driver, sql, 2500)
    turn = await driver.turn(ADA, "2500")
    assert "Nothing was forgotten" in await confirmed(store, turn, "2499", 2500)
    assert "Nothing was forgotten" in await confirmed(store, turn, "2499", 2499), "there are more memories by now"
    assert await states(sql) == {"active": 2500}
    assert await store.confirm_reset(turn, private(ADA), ADA, 2500) == 500
    assert await states(sql) == {"active": 500, "forgotten": 2000}
    assert "Forgot all 2,500 memories" in await confirmed(store, turn, "2500", 2500), "the process died halfway"
    assert await states(sql) == {"forgotten": 2500}
    assert await sql(CHANGES) == [("forget", "applied", 2500)]
