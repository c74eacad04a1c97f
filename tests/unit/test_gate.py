"""The gate to the model: equal requests are one call, and budgets cover calls under way. (test_wiring.py: nothing
bypasses it.)"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

import pytest

from relay.conversation.tools.web import WEB
from relay.core.errors import BudgetUsedUp, ModelUnavailable
from relay.core.models import Block, ModelRequest, Step
from relay.core.spending.charge import Account, Charge, ChargedUse, Spending
from relay.core.spending.prices import Price, Prices
from relay.memory.spending.budget import NOTHING, Budget, Spent, Tally
from relay.memory.spending.gate import Gate
from tests.standins.fakes import FakeLedger

ADA, BEN = 1, 2
PRICES = Prices({"m": Price(0.0, 100_000.0, 0.0)})
"""An output token costs ten cents."""


def request(text: str, most: int = 1) -> ModelRequest:
    return ModelRequest("m", [], [{"role": "user", "content": [{"type": "text", "text": text}]}], most)


class HeldModel:
    """A model that answers when allowed; each answer costs a token."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.running = self.most = 0
        self.may = asyncio.Event()

    async def reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> Step:
        text = request.messages[0]["content"][0]["text"]
        self.asked.append(text)
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await self.may.wait()
            if text == "broken":
                raise ModelUnavailable
            return Step([{"type": "text", "text": text}], "end_turn", {"output_tokens": 1}, "m")
        finally:
            self.running -= 1


async def settle() -> None:
    for _ in range(30):
        await asyncio.sleep(0)


# Calls under way


async def test_equal_simultaneous_requests_are_one_call() -> None:
    model, books = HeldModel(), FakeLedger()
    gate = Gate(model, books)
    same = [gate.ask(request("a"), Charge("digest", user_id=n, space_id=1), 5) for n in (ADA, BEN, ADA)]
    others = [gate.ask(request("a"), Charge("digest", space_id=2), 5), gate.ask(request("b"), Charge("digest"), 5)]
    tasks = [asyncio.create_task(one) for one in (*same, *others)]
    await settle()
    assert model.asked == ["a", "a", "b"], "another space makes its own call"
    model.may.set()
    steps = await asyncio.gather(*tasks)
    assert steps[0] is steps[1] is steps[2]
    assert len(books.spends) == 3
    await gate.ask(request("a"), Charge("digest", space_id=1), 5)
    assert len(model.asked) == 4, "a call that has ended is not shared"


async def test_a_call_continues_while_anyone_waits_for_it() -> None:
    model = HeldModel()
    gate = Gate(model, FakeLedger())
    first, second = (asyncio.create_task(gate.ask(request("a"), Charge("title", space_id=1), 5)) for _ in range(2))
    await settle()
    first.cancel()
    await settle()
    assert model.running == 1
    second.cancel()
    await asyncio.gather(first, second, return_exceptions=True)
    assert model.running == 0


async def test_a_request_does_not_join_a_call_that_is_being_cancelled() -> None:
    class SlowLedger(FakeLedger):
        """A ledger whose database takes a while."""

        async def spend(self, charge: Charge, spending: Spending) -> None:
            await asyncio.sleep(0.05)
            await super().spend(charge, spending)

    model, books = HeldModel(), SlowLedger()
    gate = Gate(model, books)
    asked = request("a")
    asked.used["output_tokens"] = 3
    first = asyncio.create_task(gate.ask(asked, Charge("trial", space_id=1), 5))
    await settle()
    first.cancel()
    await settle()
    model.may.set()
    step = await gate.ask(request("a"), Charge("trial", space_id=1), 5)
    assert step.blocks == [{"type": "text", "text": "a"}]
    await asyncio.gather(first, return_exceptions=True)
    assert [spend.usage for _, spend in books.spends] == [{"output_tokens": 3}, {"output_tokens": 1}]


async def test_a_failure_is_raised_for_everyone_who_waited() -> None:
    model = HeldModel()
    gate = Gate(model, FakeLedger())
    tasks = [asyncio.create_task(gate.ask(request("broken"), Charge("title"), 5)) for _ in range(3)]
    await settle()
    model.may.set()
    assert {type(one) for one in await asyncio.gather(*tasks, return_exceptions=True)} == {ModelUnavailable}
    assert len(model.asked) == 1


async def test_a_model_that_takes_too_long_gives_an_error_sentence() -> None:
    with pytest.raises(ModelUnavailable, match="longer than"):
        await Gate(HeldModel(), FakeLedger()).ask(request("a"), Charge("title"), 0.01)


async def test_waiting_for_a_free_slot_does_not_count_as_the_models_time() -> None:
    model = HeldModel()
    few = Gate(model, FakeLedger()).limit(3)
    tasks = [asyncio.create_task(few.ask(request(str(n)), Charge("title"), 0.5)) for n in range(10)]
    await settle()
    assert model.asked == ["0", "1", "2"]
    tasks[9].cancel()
    await asyncio.sleep(0.2)
    model.may.set()
    done = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(one) for one in done].count(Step) == 9
    assert model.most == 3


# Budgets


async def test_simultaneous_calls_do_not_overshoot_a_persons_budget() -> None:
    model = HeldModel()
    gate = Gate(model, FakeLedger(), Budget(each=0.35, prices=PRICES))

    async def one(number: int, person: int) -> Step:
        async with gate.work(Charge("answer", user_id=person), "m") as work:
            return await work.reply(request(str(number)), lambda _: None)

    tasks = [asyncio.create_task(one(number, ADA)) for number in range(10)]
    await settle()
    assert len(model.asked) == 3, "their maximum cost is reserved"
    other = asyncio.create_task(one(99, BEN))
    await settle()
    assert model.asked[-1] == "99", "another person has their own budget"
    model.may.set()
    await other
    done = await asyncio.gather(*tasks, return_exceptions=True)
    ended = [type(one) for one in done]
    assert ended.count(Step) + ended.count(BudgetUsedUp) == 10
    assert len(model.asked) - 1 <= 4, "overshot by one call at most"


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image", "source": {"type": "base64", "media_type": "image/jpeg", "data": "AAAA"}},
        {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "A" * 4000}},
        {"type": "tool_result", "tool_use_id": "t", "content": "found " * 1000},
    ],
)
async def test_pictures_documents_and_tool_results_count_in_what_running_calls_may_cost(block: Block) -> None:
    model = HeldModel()
    gate = Gate(model, FakeLedger(), Budget(each=1.5, prices=Prices({"m": Price(1_000.0, 0.0, 0.0)})))

    async def one(number: int) -> Step:
        asked = request(str(number))
        asked.messages[0]["content"].append(block)
        async with gate.work(Charge("answer", user_id=ADA), "m") as work:
            return await work.reply(asked, lambda _: None)

    tasks = [asyncio.create_task(one(number)) for number in range(4)]
    await settle()
    assert model.asked == ["0"], "each costs more than a dollar"
    model.may.set()
    await asyncio.gather(*tasks)


async def test_web_searches_count_in_what_running_calls_may_cost() -> None:
    model = HeldModel()
    gate = Gate(model, FakeLedger(), Budget(each=0.07, prices=Prices({"m": Price(0.0, 0.0, 0.0)})))

    async def one(number: int) -> Step:
        async with gate.work(Charge("answer", user_id=ADA), "m") as work:
            return await work.reply(replace(request(str(number)), tools=WEB), lambda _: None)

    tasks = [asyncio.create_task(one(number)) for number in range(4)]
    await settle()
    assert model.asked == ["0"], "five searches cost five cents"
    model.may.set()
    await asyncio.gather(*tasks)


async def test_the_total_budget_limits_all_people_together() -> None:
    model = HeldModel()
    gate = Gate(model, FakeLedger(), Budget(total=0.25, prices=PRICES))
    tasks = [asyncio.create_task(gate.ask(request(str(n)), Charge("judge", user_id=n), 5)) for n in range(8)]
    await settle()
    assert len(model.asked) == 2
    model.may.set()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert model.most == 2


class BookedMeanwhile(FakeLedger):
    """A ledger that another call ends and books in after each of its first readings."""

    def __init__(self, gate: Callable[[], Gate], times: int) -> None:
        super().__init__()
        self.gate = gate
        self.times = times
        self.read = 0

    async def find_account(self, charge: Charge, since: datetime) -> Account:
        self.read += 1
        tokens = sum(spending.usage["output_tokens"] for _, spending in self.spends)
        if self.read <= self.times:
            booked = Charge("answer", user_id=ADA, turn_id=self.read)
            async with self.gate().work(booked, "m") as work:
                await work.reply(request(f"other {self.read}"), lambda _: None)
                spent = work.tally.make_spending(done=True)
                assert spent
                await self.spend(booked, spent)
        use = ChargedUse(model="m", own=True, input=0, cached=0, written=0, output=tokens, searches=0)
        return Account(charge.user_id, (use,))


async def test_what_is_booked_while_an_account_is_read_counts() -> None:
    model = HeldModel()
    model.may.set()
    books: BookedMeanwhile = BookedMeanwhile(lambda: gate, 2)
    gate = Gate(model, books, Budget(each=0.15, prices=PRICES))
    with pytest.raises(BudgetUsedUp):
        await gate.ask(request("over"), Charge("judge", user_id=ADA), 5)
    assert "over" not in model.asked
    assert books.read == 3


async def test_what_is_booked_while_a_turn_begins_counts() -> None:
    model = HeldModel()
    model.may.set()
    books: BookedMeanwhile = BookedMeanwhile(lambda: gate, 0)
    gate = Gate(model, books, Budget(each=0.15, prices=PRICES))
    charge = Charge("answer", user_id=ADA)
    async with gate.work(charge, "m") as work:
        for number in (1, 2):
            await gate.ask(request(str(number)), Charge("judge", user_id=ADA), 5)
        await gate.count_before(work, charge, NOTHING)
        assert work.tally.spent.own == pytest.approx(0.2)
        with pytest.raises(BudgetUsedUp):
            await work.reply(request("over"), lambda _: None)
    read = books.read
    async with gate.work(charge, "m") as work:
        await gate.count_before(work, charge, NOTHING)
        assert books.read == read, "nothing ended: it is not read again"
    gate.budget = Budget(prices=PRICES)
    async with gate.work(charge, "m") as work:
        await gate.ask(request("3"), Charge("judge", user_id=ADA), 5)
        await gate.count_before(work, charge, NOTHING)
        assert books.read == read, "there is no budget: it is not read again"


class SpentLedger(FakeLedger):
    """A ledger in which each person has used so many tokens today."""

    def __init__(self, tokens: int) -> None:
        super().__init__()
        self.tokens = tokens

    async def find_account(self, charge: Charge, since: datetime) -> Account:
        use = ChargedUse(model="m", own=True, input=0, cached=0, written=0, output=self.tokens, searches=0)
        return Account(charge.user_id, (use,))


class OneByOne(HeldModel):
    """A model whose answers are released one by one, by their request's text."""

    def __init__(self) -> None:
        super().__init__()
        self.released: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)

    async def reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> Step:
        self.asked.append(text := request.messages[0]["content"][0]["text"])
        await self.released[text].wait()
        return Step([{"type": "text", "text": text}], "end_turn", {}, "m")

    async def release(self, text: str) -> None:
        self.released[text].set()
        await settle()


def asking(gate: Gate, text: str, person: int, most: int = 1) -> asyncio.Task[Step]:
    return asyncio.create_task(gate.ask(request(text, most), Charge("judge", user_id=person), 5))


async def test_near_their_own_budget_a_person_does_not_wait_for_others() -> None:
    model = OneByOne()
    gate = Gate(model, SpentLedger(9), Budget(each=1, prices=PRICES))
    held = asking(gate, "ben", BEN)
    await settle()
    dear = asking(gate, "ada", ADA, most=100)
    await settle()
    assert model.asked == ["ben", "ada"]
    again = asking(gate, "ada again", ADA)
    await settle()
    assert model.asked == ["ben", "ada"], "a person waits for their own calls"
    for text in ("ada", "ada again", "ben"):
        await model.release(text)
    await asyncio.gather(held, dear, again)


@pytest.mark.parametrize("budget", [Budget(each=1, prices=PRICES), Budget(total=1, prices=PRICES)])
async def test_calls_that_wait_for_the_same_budget_come_in_their_order(budget: Budget) -> None:
    model = OneByOne()
    gate = Gate(model, SpentLedger(5), budget)
    tasks = [asking(gate, "first", ADA)]
    await settle()
    tasks += [asking(gate, "dear", ADA, most=100)]
    await settle()
    tasks += [asking(gate, "later", ADA), asking(gate, "latest", ADA)]
    await settle()
    assert model.asked == ["first"], "what would fit does not overtake"
    await model.release("first")
    assert model.asked == ["first", "dear"]
    await model.release("dear")
    assert model.asked == ["first", "dear", "later", "latest"]
    await model.release("later")
    await model.release("latest")
    await asyncio.gather(*tasks)


async def test_who_stops_waiting_lets_the_next_one_begin() -> None:
    model = OneByOne()
    gate = Gate(model, SpentLedger(5), Budget(each=1, prices=PRICES))
    held = asking(gate, "held", ADA)
    await settle()
    dear = asking(gate, "dear", ADA, most=100)
    await settle()
    small = asking(gate, "small", ADA)
    await settle()
    dear.cancel()
    await settle()
    assert model.asked == ["held", "small"]
    await model.release("held")
    await model.release("small")
    await asyncio.gather(held, small)


async def test_who_waits_for_their_own_budget_holds_nobody_else_up() -> None:
    model = OneByOne()
    gate = Gate(model, SpentLedger(9), Budget(total=100, each=1, prices=PRICES))
    tasks = [asking(gate, "ada", ADA)]
    await settle()
    tasks += [asking(gate, "ada waits", ADA), asking(gate, "ben", BEN)]
    await settle()
    assert model.asked == ["ada", "ben"]
    for text in ("ben", "ada", "ada waits"):
        await model.release(text)
    await asyncio.gather(*tasks)


async def test_any_remaining_budget_allows_one_more_call() -> None:
    model = HeldModel()
    model.may.set()
    gate = Gate(model, FakeLedger(), Budget(each=0.15, prices=PRICES))
    charge = Charge("answer", user_id=ADA)
    async with gate.work(charge, "m") as work:
        await gate.count_before(work, charge, Spent(0, 0.1))
        await work.reply(request("dear", most=1000), lambda _: None)
        with pytest.raises(BudgetUsedUp, match=r"Your budget of \$0\.15"):
            await work.reply(request("more"), lambda _: None)
    assert model.asked == ["dear"]


def test_a_budget_is_used_up_by_sums_that_binary_fractions_make_a_little_less() -> None:
    tally = Tally("m", Budget(total=0.8, each=0.8, prices=PRICES), Spent(0.7, 0.7))
    tally.count({"output_tokens": 1})
    assert tally.spent.total < 0.8
    assert tally.used_up
    assert "used up your budget" in tally.budget.nearly_used_up(tally.spent)
    assert "(80%)" in Budget(each=0.1).nearly_used_up(Spent(own=0.08))


async def test_the_cost_of_a_cancelled_call_is_recorded_and_counted() -> None:
    model, books = HeldModel(), FakeLedger()
    gate = Gate(model, books, Budget(each=1, prices=PRICES))
    async with gate.work(Charge("answer", user_id=ADA, turn_id=2), "m") as lasting:

        async def cut_off() -> None:
            async with gate.work(Charge("answer", user_id=ADA, turn_id=1), "m") as work:
                asked = request("a")
                asked.used["output_tokens"] = 3
                await work.reply(asked, lambda _: None)

        task = asyncio.create_task(cut_off())
        await settle()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert [(one.turn_id, spend.usage) for one, spend in books.spends] == [(1, {"output_tokens": 3})]
        assert lasting.tally.spent.own == pytest.approx(0.3)
