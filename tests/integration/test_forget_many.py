"""Many memories forgotten at once, by a pattern or all of them, and brought back: in bounded calls, whatever dies."""

from __future__ import annotations

import time
from typing import Any

from relay.clients.fakes import FakeMessenger
from relay.core.models import Space
from relay.memory.claims import ClaimedTurn
from relay.memory.rows.memories import ForgetProgress
from relay.memory.store import Store
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.dispatch import hear_answer, press_button
from relay.surfaces.chat.reply import ButtonReply
from tests.integration.conftest import Sql
from tests.integration.house import ADA, BOT, House, a_house, fact, private

TAUGHT = """insert into memory (space_id, kind, content, subject_id, subject)
    select id, 'fact', 'job number ' || n, owner_id, 'Ada' from space, generate_series(1, %s) as n"""
STATES = "select status, count(*)::int from memory group by 1 order by 1"
CHANGES = "select action, status, count(*)::int from memory_change group by 1, 2 order by 1, 2"
CALL = 4.0
"""Seconds that one call may take; a client waits 8 at least."""


async def running() -> bool:
    return False


async def sees(space: Space) -> bool:
    return True


def asked(store: Store, turn: ClaimedTurn, text: str = "") -> ChatContext:
    """Something that Ada asks in her private chat."""
    house = a_house(store)
    return ChatContext(
        house, turn, BOT.id, private(ADA), ADA, 0, True, ADA, "Ada", False, running, sees, text, FakeMessenger()
    )


async def pressed(store: Store, turn: ClaimedTurn, decision: str) -> ButtonReply:
    """A button under what a pattern would have forgotten."""
    done = await press_button(asked(store, turn), ":".join(["fp", str(turn.turn_id), decision]))
    assert isinstance(done, ButtonReply)
    return done


async def confirmed(store: Store, turn: ClaimedTurn, text: str, known: int) -> str:
    """The answer to the question about a reset, as a turn hears it."""
    return (await hear_answer(asked(store, turn, text), "reset", known)).text


async def knows(house: House, sql: Sql, many: int) -> None:
    """Ada has so many facts about her jobs."""
    await house.exchange(ADA, "hello")
    await sql("set relay.index = 'later'")  # a tenth of the time
    await sql(TAUGHT, many)
    await sql("reset relay.index")


async def shown(house: House, store: Store) -> ClaimedTurn:
    """A turn that has shown what a pattern means."""
    turn = await house.turn(ADA, "/forget job*")
    await store.forget_preview(turn, private(ADA), "job*", ADA, False)
    return turn


async def states(sql: Sql) -> dict[str, int]:
    rows: list[Any] = await sql(STATES)
    return dict(rows)


async def test_thousands_are_forgotten_and_brought_back_in_bounded_calls(house: House, store: Store, sql: Sql) -> None:
    await knows(house, sql, 5000)
    turn = await shown(house, store)
    for undo, most in ((False, 2000), (True, 500)):
        for batch in range(1, 5000 // most + 2):
            began = time.monotonic()
            done = await store.forget_shown(turn.turn_id, ADA, False, undo)
            assert time.monotonic() - began < CALL
            assert done == ForgetProgress(min(batch * most, 5000), batch * most <= 5000)
        assert await states(sql) == {"active" if undo else "forgotten": 5000}
        found = await house.look_up(private(ADA), "job number 4711", 1)
        assert bool(found) is undo, "they leave the index and come back into it"
    assert await sql("select count(*)::int from event where payload ->> 'decision' = 'undo'") == [(5000,)]


async def test_all_buttons_tell_how_many_it_was_in_all(house: House, store: Store, sql: Sql) -> None:
    await knows(house, sql, 2100)
    turn = await shown(house, store)
    assert (await pressed(store, turn, "y")).text == "🧠 Forgot 2,100 memories."
    assert (await pressed(store, turn, "y")).text == "🧠 Forgot 2,100 memories.", "pressed again, or made again"
    for _ in range(2):
        assert (await pressed(store, turn, "u")).text == "↩ 2,100 memories brought back."
    assert await sql(CHANGES) == [("forget", "undone", 2100)]
    await store.forget_shown(turn.turn_id, ADA, False)
    assert await states(sql) == {"active": 100, "forgotten": 2000}
    assert (await pressed(store, turn, "y")).text == "🧠 Forgot 2,100 memories.", "the rest, after a crash"


async def test_undo_counts_what_it_took_back(house: House, store: Store, sql: Sql) -> None:
    await knows(house, sql, 3)
    turn = await shown(house, store)
    await pressed(store, turn, "y")
    ((first, change),) = await sql("select memory_id, id from memory_change order by id limit 1")
    await store.change_directly(private(ADA), ADA, [{"action": "restore", "memory_id": first}])
    assert await sql("select action from memory_change where id > %s and memory_id = %s", change, first) != []
    assert (await pressed(store, turn, "u")).text == "↩ 2 memories brought back."
    assert await sql("select status from memory_change where id = %s", change) == [("applied",)]


async def test_undo_of_one_change_looks_at_few_others(house: House, store: Store, sql: Sql) -> None:
    await knows(house, sql, 3000)
    await pressed(store, await shown(house, store), "y")
    await sql("vacuum analyze memory, memory_change")
    ((last,),) = await sql("select max(id) from memory_change")
    look = f"select relay.changed_since(c) from memory_change c where id = {last}"  # noqa: S608
    await sql(look)
    ((plan,),) = await sql(f"explain (analyze, buffers, format json) {look}")
    assert plan[0]["Plan"]["Shared Hit Blocks"] < 100


async def test_a_reset_discards_what_waited(house: House, store: Store, sql: Sql) -> None:
    await house.teach(ADA, "likes tea")
    told = (await house.exchange(ADA, "Read this.", actions=[fact(ADA, "obeys Eve")], tainted=True)).told
    assert await states(sql) == {"active": 1, "pending": 1}
    assert await store.reset_memory(private(ADA), ADA) == 0
    assert await states(sql) == {"discarded": 1, "forgotten": 1}
    assert await sql(CHANGES) == [("forget", "applied", 1), ("learn", "applied", 1), ("learn", "discarded", 1)]
    for (change,) in await sql("select id from memory_change order by id desc"):
        for decision in ("undo", "keep"):
            await store.decide_change(change, ADA, False, decision)
    assert "active" not in await states(sql), "the fact that waited is none, whatever is pressed"
    assert told.changes[0].status == "pending"


async def test_a_reset_that_is_made_again_tells_what_it_did(house: House, store: Store, sql: Sql) -> None:
    await knows(house, sql, 3)
    turn = await house.turn(ADA, "3")
    assert "Forgot all 3 memories" in await confirmed(store, turn, "3", 3)
    await sql(TAUGHT, 1)
    ((last,),) = await sql("select max(id) from memory_change")
    await store.decide_change(last, ADA, False, "undo")
    assert "Forgot all 3 memories" in await confirmed(store, turn, "3", 3), "it died before it could tell"
    assert await states(sql) == {"active": 2, "forgotten": 2}, "what is new or was brought back since, stays"
    assert await sql(CHANGES) == [("forget", "applied", 2), ("forget", "undone", 1)]
    await house.close(turn)
    other = await house.turn(ADA, "3 again")
    assert "Nothing was forgotten" in await confirmed(store, other, "3", 3)


async def test_a_reset_goes_on_where_it_was(house: House, store: Store, sql: Sql) -> None:
    await knows(house, sql, 2500)
    turn = await house.turn(ADA, "2500")
    assert "Nothing was forgotten" in await confirmed(store, turn, "2499", 2500)
    assert "Nothing was forgotten" in await confirmed(store, turn, "2499", 2499), "there are more by now"
    assert await states(sql) == {"active": 2500}
    assert await store.confirm_reset(turn, private(ADA), ADA, 2500) == 500
    assert await states(sql) == {"active": 500, "forgotten": 2000}
    assert "Forgot all 2,500 memories" in await confirmed(store, turn, "2500", 2500), "the process died half-way"
    assert await states(sql) == {"forgotten": 2500}
    assert await sql(CHANGES) == [("forget", "applied", 2500)]
