"""Checks that the cost of a turn is always recorded, and that the daily budget ends a turn."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

import pytest

from relay.conversation.turn import answer
from relay.core.errors import EmptyAnswer, ModelAccountError, ModelRefused, StreamCut, TurnLost
from relay.core.models import ModelRequest, Step
from relay.core.spending.prices import LISTED, Price, Prices
from relay.memory.rows.turns.answer import Answer
from relay.memory.spending.budget import Budget
from relay.memory.spending.gate import Gate
from relay.memory.store import Store
from relay.memory.writing.summaries import Summariser
from tests.integration.conftest import Sql
from tests.integration.test_turn import Room, Scripted, call
from tests.integration.turn_driver import ADA, BEN, TurnDriver, incoming_of, private
from tests.integration.work import summarise_due, title_due
from tests.standins.fakes import FakeSink

PRICES = Prices({**LISTED, "big": Price(10_000.0, 0.0, 0.0), "small": Price(1000.0, 0.0, 0.0)})
"""A call of the scripted model (10 input tokens) costs ten cents, a call of the small model one cent."""
KEPT = "select what, done, user_id, model, input, output, searches from spend order by at, input"


def room_with(driver: TurnDriver, total: float = 0, each: float = 0) -> Room:
    return Room(driver, budget=Budget(total, each, PRICES))


@pytest.fixture
def room(driver: TurnDriver) -> Room:
    return room_with(driver)


async def test_every_model_call_of_a_turn_is_recorded_whatever_its_outcome(room: Room, sql: Sql) -> None:
    cut = StreamCut([{"type": "text", "text": "Once"}], {"input_tokens": 7, "output_tokens": 1}, "big")
    await room.say(ADA, "a story", cut, " upon a time.")
    await room.say(ADA, "search", [call(query="tea")], ModelAccountError("The account is out of credit."))
    await room.say(BEN, "hello", ModelRefused())
    await room.say(BEN, "hello", "   ")
    assert await sql(KEPT) == [
        ("answer", True, ADA, "big", 17, 4, 0),
        ("answer", False, ADA, "big", 10, 3, 0),
        ("answer", False, BEN, "big", 10, 3, 0),
    ]


class Slow:
    """A model whose server reports the input tokens, and then never ends."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()

    async def reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> Step:
        request.used.update(input_tokens=50, web_search_requests=1)
        on_text("Well, ")
        self.begun.set()
        await asyncio.Event().wait()
        raise AssertionError


@pytest.mark.parametrize("how", ["stopped", "cancelled"])
async def test_the_reported_usage_of_a_stopped_call_is_recorded(room: Room, sql: Sql, how: str) -> None:
    slow = Slow()
    engine = replace(room.engine, gate=Gate(slow, room.driver.store))
    turn = await room.driver.turn(ADA, "hello")
    incoming = incoming_of(turn, "hello", private(ADA))
    work = asyncio.create_task(answer(engine, incoming, FakeSink(), room.stop))
    await slow.begun.wait()
    if how == "stopped":
        room.stop.set()
        assert (await work).text == "Well,"
    else:
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
    assert await sql(KEPT) == [("answer", how == "stopped", ADA, "big", 50, 0, 1)]


async def test_the_cost_of_a_lost_turn_is_recorded(room: Room, sql: Sql) -> None:
    turn = await room.driver.turn(ADA, "hello")
    incoming = incoming_of(turn, "hello", private(ADA))
    room.model.script = [lambda _: "Hi!"]
    begin = room.engine.store.begin

    async def begin_and_lose(*given: object, **more: object) -> object:
        context = await begin(*given, **more)
        await sql("update turn set fence = fence + 1")
        return context

    room.engine.store.begin = begin_and_lose
    with pytest.raises(TurnLost):
        await answer(room.engine, incoming, room.sink, room.stop)
    assert await sql(KEPT) == [("answer", False, ADA, "big", 10, 3, 0)]


async def test_a_used_up_budget_ends_all_model_calls_until_the_next_day(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    room = room_with(driver, total=0.2)
    for text in ("one", "two"):
        assert (await room.say(ADA, text, "Yes.")).text == "Yes."
    asked = len(room.model.requests)
    for user_id in (ADA, BEN):
        done = await room.say(user_id, "three")
        assert done.note.startswith("Today's budget of $0.20 is used up; I'll answer again from midnight (UTC).")
        assert (done.text, done.retry) == ("", True)
    assert len(room.model.requests) == asked
    assert await sql("select count(*) from message where text = 'three'") == [(2,)]
    assert await sql("select count(*) from turn where error is not null") == [(0,)]
    await sql("update spend set at = at - interval '1 day'")
    again = await room.say(ADA, "/retry", "Back again.", retry=True)
    assert again.text == "Back again."
    assert "three" in room.prompt


async def test_a_persons_budget_ends_only_their_own_turns(driver: TurnDriver, sql: Sql) -> None:
    room = room_with(driver, total=10, each=0.5)
    said: list[Answer] = [await room.say(ADA, f"{number}", "Yes.") for number in range(5)]
    assert [done.warning.split(" of ")[0] for done in said] == ["", "", "", "💸 $0.40", ""]
    assert "of your $0.50 for today is used (80%)" in said[3].warning
    assert "Your budget of $0.50 for today is used up" in (await room.say(ADA, "6")).note
    assert (await room.say(BEN, "hello", "Hi!")).warning == ""
    await sql("update spend set at = at - interval '1 day'")
    await sql("update budget_warning set told_at = told_at - interval '1 day'")
    said = [await room.say(ADA, f"{number}", "Yes.") for number in range(4)]
    assert [bool(done.warning) for done in said] == [False, False, False, True]


async def test_two_simultaneous_answers_warn_once(driver: TurnDriver) -> None:
    rooms = [room_with(driver, each=0.1), room_with(driver, each=0.1)]
    said = await asyncio.gather(*(room.say(ADA, "hello", "Yes.", topic=topic) for topic, room in enumerate(rooms, 1)))
    assert sorted(bool(done.warning) for done in said) == [False, True]


async def test_a_turn_makes_no_more_calls_after_it_reaches_the_budget(driver: TurnDriver) -> None:
    room = room_with(driver, total=0.2)
    again = [{"type": "text", "text": "Let me look."}, call(query="tea")]
    done = await room.say(ADA, "search", again, again, again)
    assert len(room.model.requests) == 2
    assert done.text == "Let me look.\n\nLet me look."
    assert "Today's budget of $0.20 is used up" in done.note
    assert (await room.say(BEN, "hello")).note.startswith("Today's budget")


async def test_summaries_and_titles_wait_while_the_persons_budget_is_used_up(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    for user_id in (ADA, BEN):
        for number in range(5):
            await driver.exchange(user_id, f"hello {number}")
    await sql("update spend set model = 'big', input = case user_id when %s then 1000 else 0 end", ADA)
    gate = Gate(Scripted("They spoke.", "A title"), store, Budget(each=1.0, prices=PRICES))
    summariser = Summariser(store, gate, "small")
    assert await summarise_due(summariser) == 1
    assert await title_due(summariser) == 1
    assert await sql(KEPT.replace("order", "where model = 'small' order")) == [
        ("summary", True, BEN, "small", 10, 3, 0),
        ("title", True, BEN, "small", 10, 3, 0),
    ]
    waiting = await sql(
        "select kind, failures, last_error from job where due_at > now() and parked_at is null order by 1"
    )
    assert [(kind, failures) for kind, failures, _ in waiting] == [("summary", 0), ("title", 0)], (
        "waiting for the budget must not count as a failure"
    )
    assert all(error.startswith("Your budget") for _, _, error in waiting)


async def test_summaries_and_titles_wait_for_the_next_day(driver: TurnDriver, store: Store, sql: Sql) -> None:
    for number in range(5):
        await driver.exchange(ADA, f"hello {number}")
    await sql("update spend set model = 'big', input = 1000")
    budget = Budget(total=1.0, prices=PRICES)
    model = Scripted("They spoke.", "A title", EmptyAnswer())
    gate = Gate(model, store, budget)
    summariser = Summariser(store, gate, "small")
    assert (await summarise_due(summariser), await title_due(summariser)) == (0, 0)
    assert model.requests == []
    await sql("update spend set at = at - interval '1 day'")
    assert (await summarise_due(summariser), await title_due(summariser)) == (1, 1)
    assert await sql(KEPT.replace("order", "where model = 'small' order")) == [
        ("summary", True, ADA, "small", 10, 3, 0),
        ("title", True, ADA, "small", 10, 3, 0),
    ]
    assert [(row.own, row.model, row.input) for row in await store.sum_spent(budget.day(), ADA)] == [
        (True, "small", 20)
    ]
    assert [row.own for row in await store.sum_spent(budget.day(), BEN)] == [False]
