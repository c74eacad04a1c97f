"""Tests deriving again: another version's results are made again, in order, once; nothing is written until applied."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any

import pytest

from relay.core.errors import BudgetUsedUp
from relay.core.models import ModelRequest, Step
from relay.core.spending.prices import Price, Prices
from relay.memory.contexts.markers import markers_in
from relay.memory.rederivation.change import Change
from relay.memory.rederivation.memories import Memories
from relay.memory.rederivation.summaries import Summaries
from relay.memory.rows.upkeep.judging import Candidate, FoundMemory, JudgedMessage, KnownMemory
from relay.memory.rows.upkeep.night import Note
from relay.memory.spending.budget import UNLIMITED, Budget
from relay.memory.spending.gate import Gate
from relay.memory.store import Store
from relay.memory.writing.summaries import Summariser
from tests.integration.conftest import Sql
from tests.integration.turn_driver import ADA, BEN, TurnDriver, fact, forget, incoming_of, private, reply
from tests.integration.work import summarise_due
from tests.judging import learned


class Says:
    """A small model that numbers its answers, and is cancelled after `most` of them."""

    def __init__(self, word: str, most: int = 1_000) -> None:
        self.word, self.most = word, most
        self.requests: list[ModelRequest] = []

    async def reply(self, request: ModelRequest, on_text: Callable[[str], None]) -> Step:
        if len(self.requests) >= self.most:
            raise asyncio.CancelledError
        self.requests.append(request)
        text = f"{self.word} {len(self.requests)}."
        return Step([{"type": "text", "text": text}], "end_turn", {"output_tokens": 7}, request.model)


async def summarised(driver: TurnDriver, store: Store, *people: int, times: int = 2) -> None:
    summariser = Summariser(store, Gate(Says("Old"), store), "old")
    for number in range(times):
        for person in people or (ADA,):
            for turn in range(5):
                await driver.exchange(person, f"q{number}{turn}")
        await summarise_due(summariser)


async def again(
    store: Store, model: Says, name: str = "new", person: int = ADA, budget: Budget = UNLIMITED
) -> tuple[int, list[Change]]:
    """Returns the estimated number of calls, and the changes."""
    work = Summaries(Summariser(store, Gate(model, store, budget), name), private(person), None, 2)
    estimate = await work.estimate()
    steps: list[int] = []
    changes = await work.changes(steps.append)
    assert steps == list(range(1, estimate.calls + 1))
    return estimate.calls, changes


async def test_results_of_the_present_version_are_left_unchanged(driver: TurnDriver, store: Store) -> None:
    await summarised(driver, store)
    model = Says("New")
    assert await again(store, model, "old") == (0, [])
    assert model.requests == []


async def test_summaries_are_derived_in_order_and_changed_only_when_applied(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await summarised(driver, store, ADA, BEN)
    model = Says("New")
    calls, changes = await again(store, model)
    assert calls == len(model.requests) == len(changes) == 2, "only Ada's summaries may be derived"
    more, of_ben = await again(store, model, person=BEN)
    changes += of_ben
    assert more == 2
    assert {text[:3] for (text,) in await sql("select text from summary")} == {"Old"}, (
        "nothing may be written before it is applied"
    )
    second = [r for r in model.requests if "<summary>" in r.messages[0]["content"][0]["text"]]
    assert len(second) == 2
    assert all("<summary>\nNew" in request.messages[0]["content"][0]["text"] for request in second)
    assert [await change.apply() for change in changes] == [True] * 4
    assert [await change.apply() for change in changes] == [False] * 4, "each change may be applied only once"
    assert {text[:3] for (text,) in await sql("select text from summary")} == {"New"}
    assert await again(store, Says("Third")) == (0, []), "every summary now has this version"
    assert await sql("select distinct what from spend where model = 'new'") == [("rederive",)]


async def test_marked_passages_stay_under_a_rederived_summary(driver: TurnDriver, store: Store, sql: Sql) -> None:
    turn = await driver.turn(ADA, "x")
    incoming = incoming_of(turn, "##keepit1.00##the code is 4711", private(ADA))
    await store.begin(replace(incoming, keepits=markers_in(incoming.blocks)), "m")
    await store.finish(incoming, reply())
    await driver.close(turn)
    await summarised(driver, store)
    model = Says("New")
    _, changes = await again(store, model)
    assert [await change.apply() for change in changes] == [True, True]
    texts = [text for (text,) in await sql("select text from summary order by id")]
    assert texts == [f"New {n}.\n\nWord for word:\n- the code is 4711" for n in (1, 2)]
    assert "Word for word" not in model.requests[1].messages[0]["content"][0]["text"]
    assert await again(store, Says("Third")) == (0, [])


async def test_finished_model_calls_are_not_repeated_after_a_kill(driver: TurnDriver, store: Store) -> None:
    await summarised(driver, store, times=4)
    with pytest.raises(asyncio.CancelledError):
        await again(store, Says("New", most=2))
    model = Says("New")
    _, changes = await again(store, model)
    assert (len(changes), len(model.requests)) == (4, 2)


async def test_a_persons_own_summary_is_kept(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await summarised(driver, store)
    await sql("update summary set author_id = %s where id = (select max(id) from summary)", ADA)
    _, changes = await again(store, Says("New"))
    assert len(changes) == 1
    await sql("update summary set text = 'Changed meanwhile.'")
    assert await changes[0].apply() is False


async def test_a_used_up_budget_ends_the_derivation(driver: TurnDriver, store: Store) -> None:
    await summarised(driver, store)
    prices = Prices({"old": Price(1e6, 1e6, 1e6), "new": Price(1.0, 1.0, 1.0)})
    with pytest.raises(BudgetUsedUp):
        await again(store, Says("New"), budget=Budget(1.0, 0, prices))


class Finds:
    """Finds one thing in each message that contains the word."""

    name = "finder"

    def __init__(self, version: str, word: str, how: str) -> None:
        self.version, self.word, self.how = version, word, how
        self.asked = 0

    async def derive(self, messages: Sequence[JudgedMessage], known: Sequence[KnownMemory]) -> list[Candidate]:
        self.asked += 1
        return [
            Candidate(
                kind="fact",
                content=self.how.format(row.text),
                evidence=(row.id,),
                subject_id=row.user_id,
                subject=row.name,
            )
            for row in messages
            if self.word in row.text
        ]

    async def settle(
        self, space_id: int, messages: Sequence[JudgedMessage], fresh: Sequence[FoundMemory], leaving: AbstractSet[int]
    ) -> list[tuple[Note | None, FoundMemory]]:
        return [(None, one) for one in fresh]


async def derive(store: Store, finder: Finds, **more: Any) -> list[Change]:
    work = Memories(store, finder, private(ADA), None, **more)
    await work.estimate()
    return await work.changes(lambda _: None)


async def test_memories_are_added_reworded_and_archived(driver: TurnDriver, store: Store, sql: Sql) -> None:
    for text in ("tea is fine", "boats are better", "nothing else"):
        await driver.exchange(ADA, text, "Ok.")
    first = await derive(store, Finds("1", "tea", "Ada said {}"))
    assert [(change.verdict, change.after) for change in first] == [("added", "Ada said tea is fine")]
    assert await sql("select count(*) from memory") == [(0,)]
    assert await first[0].apply()
    assert await first[0].apply() is False
    assert await derive(store, Finds("1", "tea", "Ada said {}")) == []
    (changed,) = await derive(store, Finds("2", "tea", "Ada has said that {}"))
    assert (changed.verdict, changed.before) == ("changed", "Ada said tea is fine")
    assert await changed.apply()
    swapped = await derive(store, Finds("3", "boats", "{}"))
    assert sorted(change.verdict for change in swapped) == ["added", "gone"]
    assert all([await change.apply() for change in swapped])
    assert await sql(
        "select content, status, derivation ->> 'version', cardinality(evidence), source_message_id = evidence[1]"
        " from memory order by id"
    ) == [
        ("Ada said tea is fine", "superseded", "1", 1, True),
        ("Ada has said that tea is fine", "archived", "2", 1, True),
        ("boats are better", "active", "3", 1, True),
    ]


async def test_an_applied_derivation_is_not_repeated(driver: TurnDriver, store: Store) -> None:
    await driver.exchange(ADA, "tea is fine", "Ok.")
    work = Memories(store, Finds("7", "tea", "Ada said {}"), private(ADA), None)
    assert (await work.estimate()).calls == 1
    assert [await change.apply() for change in await work.changes(lambda _: None)] == [True]
    await work.finish()
    assert (await Memories(store, Finds("7", "tea", "{}"), private(ADA), None).estimate()).calls == 0
    assert (await Memories(store, Finds("8", "tea", "{}"), private(ADA), None).estimate()).calls == 1


async def test_a_memory_based_on_others_words_is_pending(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await driver.exchange(ADA, "tea is fine", "Ok.")
    await sql("update message set untrusted = true where role = 'user'")
    (change,) = await derive(store, Finds("1", "tea", "{}"))
    await change.apply()
    assert await sql("select status, tainted from memory") == [("pending", True)]


async def test_off_the_record_messages_are_not_derived_from(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await driver.exchange(ADA, "tea is fine", "Ok.")
    await sql("update session set private = true")
    finder = Finds("1", "tea", "{}")
    assert await derive(store, finder) == []
    assert finder.asked == 0


@pytest.mark.parametrize("how", ["forgotten", "undone", "discarded"])
async def test_a_rejected_memory_is_not_derived_again(driver: TurnDriver, store: Store, sql: Sql, how: str) -> None:
    done = await driver.exchange(
        ADA, "tea is fine", "Ok.", actions=[fact(ADA, "likes tea")], tainted=how == "discarded"
    )
    if how == "forgotten":
        await driver.exchange(ADA, "forget it", "Ok.", actions=[forget("likes tea")])
    else:
        change = done.told.changes[0].id
        await store.decide_change(change, ADA, False, {"undone": "undo"}.get(how, "discard"))
    await driver.exchange(ADA, "tea with milk", "Ok.")
    (change,) = await derive(store, Finds("1", "tea", "Ada said {}"))
    assert change.after == "Ada said tea with milk"
    kept = learned("Ada drinks tea", done.context.message_id or 0, subject_id=ADA)
    ((space_id,),) = await sql("select id from space")
    assert await store.apply_derived(space_id, None, kept) is False, "a memory forgotten meanwhile must not return"


@pytest.mark.parametrize("action", [None, "refine"])
async def test_a_memory_of_a_message_erased_meanwhile_is_not_applied(
    driver: TurnDriver, store: Store, sql: Sql, action: str | None
) -> None:
    (before,) = await driver.teach(ADA, "Ada likes drinks")
    for text in ("tea is fine", "tea with milk"):
        done = await driver.exchange(ADA, text, "Ok.")
    (change,) = await derive(store, Finds("1", "tea with", "Ada said {}"))
    ((space_id,),) = await sql("select id from space")
    await sql("select relay.erase_messages(%s, array[%s]::bigint[])", space_id, done.context.message_id)
    assert not await change.apply()
    earlier = "select id from message where text = 'tea is fine'"
    evidence = [*(id for (id,) in await sql(earlier)), done.context.message_id]
    kept = learned("Ada drinks tea", *evidence, subject_id=ADA)
    was = Note(before.memory_id, "Ada likes drinks")
    settled = replace(kept, action="refine", memory_id=was.id) if action else kept
    assert await store.apply_derived(space_id, was, settled) is False
    assert await driver.known(private(ADA)) == ["Ada likes drinks"]


@pytest.mark.parametrize("asks", ["the settings", "the person"])
async def test_a_person_who_wants_to_be_asked_gets_pending_memories(
    driver: TurnDriver, store: Store, sql: Sql, asks: str
) -> None:
    await driver.exchange(ADA, "tea is fine", "Ok.")
    if asks == "the person":
        await sql("""insert into choice (user_id, choices) values (%s, '{"learning": "ask"}')""", ADA)
    (change,) = await derive(store, Finds("1", "tea", "{}"), asks=asks == "the settings")
    await change.apply()
    assert await sql("select m.status, c.status from memory m join memory_change c on c.memory_id = m.id") == [
        ("pending", "pending")
    ]


async def test_nothing_is_derived_or_removed_for_a_person_with_learning_off(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await driver.exchange(ADA, "tea is fine", "Ok.")
    (change,) = await derive(store, Finds("1", "tea", "{}"))
    await change.apply()
    await driver.exchange(ADA, "tea with milk", "Ok.")
    assert len(await derive(store, Finds("2", "tea", "Ada: {}"))) == 2
    await sql("""insert into choice (user_id, choices) values (%s, '{"learning": "off"}')""", ADA)
    assert await derive(store, Finds("2", "tea", "Ada: {}")) == []


async def test_a_pending_new_wording_leaves_the_old_one_until_it_is_kept(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await driver.exchange(ADA, "tea is fine", "Ok.")
    (first,) = await derive(store, Finds("1", "tea", "Ada said {}"))
    await first.apply()
    (second,) = await derive(store, Finds("2", "tea", "Ada has said {}"), asks=True)
    await second.apply()
    assert [status for (status,) in await sql("select status from memory order by id")] == ["active", "pending"]
    ((change,),) = await sql("select id from memory_change where status = 'pending'")
    await store.decide_change(change, ADA, False, "keep")
    assert [status for (status,) in await sql("select status from memory order by id")] == ["superseded", "active"]
    await store.decide_change(change, ADA, False, "undo")
    assert [status for (status,) in await sql("select status from memory order by id")] == ["active", "discarded"]
