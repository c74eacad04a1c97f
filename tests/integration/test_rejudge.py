"""Tests judging again with another model: what had ended stays ended, and nothing known is stored twice."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from relay.memory.rederivation import memories
from relay.memory.rederivation.memories import Memories, Rejudge
from relay.memory.review.judging import Judge
from relay.memory.spending.gate import Gate
from relay.memory.store import Store
from tests.integration.conftest import Sql
from tests.integration.test_judging_sql import MOVED, Small, judge
from tests.integration.turn_driver import ADA, TurnDriver, fact, private
from tests.integration.work import judge_due

Json = dict[str, Any]
POTSDAM = "I have been living in Potsdam for ten years now, in a flat near the river."


BOTH = "Ada moved from Berlin to Lisbon."


def deciding(relation: str, word: str) -> Callable[[str], list[Json]]:
    """Relates the first new sentence to the first known one that contains the word."""

    def decide(text: str) -> list[Json]:
        lines = text.partition("New:")[0].splitlines()
        known = next((int(line.split()[0]) for line in lines if word in line), None)
        return [] if known is None else [{"new": 1, "is": relation, "known": known, "sentence": BOTH}]

    return decide


async def again(store: Store, small: Small) -> list[tuple[str, str | None, str | None]]:
    work = Memories(store, Rejudge(Judge(store, Gate(small, store), "small-2")), private(ADA), None)
    await work.estimate()
    changes = await work.changes(lambda _: None)
    assert all([await change.apply() for change in changes])
    return [(change.verdict, change.before, change.after) for change in changes]


async def states(sql: Sql) -> list[tuple[str, str]]:
    return [(text, status) for text, status in await sql("select content, status from memory order by id")]


async def test_a_memory_ended_by_a_later_message_stays_ended(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await driver.exchange(ADA, POTSDAM)
    await judge_due(judge(driver.store, Small(Potsdam="Ada lives in Potsdam.")))
    small = Small(Lisbon="Ada lives in Lisbon.")
    small.decides = deciding("contradicts", "Potsdam")
    await driver.exchange(ADA, MOVED)
    await judge_due(judge(driver.store, small))
    before = await states(sql)
    assert before == [("Ada lives in Potsdam.", "superseded"), ("Ada lives in Lisbon.", "active")]
    assert await again(store, Small(Potsdam="Ada lives in Potsdam.", Lisbon="Ada lives in Lisbon.")) == []
    assert await states(sql) == before


async def test_a_memory_merged_at_night_or_archived_by_a_person_stays_so(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await driver.exchange(ADA, POTSDAM)
    await driver.exchange(ADA, MOVED)
    found = {"Potsdam": "Ada has a flat near the river.", "Lisbon": "Ada moved to Lisbon."}
    await judge_due(judge(driver.store, Small(**found)))
    assert len(await states(sql)) == 2
    rows = await sql("select id, content, space_id from memory order by id")
    older, newer = ({"id": number, "content": content} for number, content, _ in rows)
    merge = {"action": "merge", "older": older, "newer": newer, "content": "Ada left the flat for Lisbon."}
    merge |= {"derivation": {"name": "consolidate", "version": "1"}}
    await sql("select relay.carry_out(%s, %s::jsonb)", rows[0][2], json.dumps([merge]))
    merged = await states(sql)
    assert [status for _, status in merged] == ["superseded", "superseded", "active"]
    assert await again(store, Small(**found)) == []
    assert await states(sql) == merged
    ((number,),) = await sql("select id from memory where status = 'active'")
    turn = await driver.turn(ADA, "away with it")
    await store.change_memory(turn, private(ADA), [{"action": "archive", "memory_id": number}])
    await driver.close(turn)
    assert await again(store, Small(**found)) == []
    assert [status for _, status in await states(sql)] == ["superseded", "superseded", "archived"]


async def test_a_memory_from_messages_of_two_batches_is_not_replaced_by_half_of_it(
    driver: TurnDriver, store: Store, sql: Sql, monkeypatch: pytest.MonkeyPatch
) -> None:
    await driver.exchange(ADA, POTSDAM)
    await driver.exchange(ADA, MOVED)
    small = Small(Lisbon="Ada moved from Potsdam to Lisbon.")
    ((first,),) = await sql("select min(id) from message")
    small.names = [first]
    await judge_due(judge(driver.store, small))
    monkeypatch.setattr(memories, "BATCH", 2)
    assert await again(store, Small(Potsdam="Ada moved to Potsdam.", Lisbon="Ada moved to Lisbon.")) == []
    assert await states(sql) == [("Ada moved from Potsdam to Lisbon.", "active")]


@pytest.mark.parametrize("sentence", ["Ada lives in the city of Lisbon.", "Lisbon is where Ada has her home."])
async def test_a_fact_kept_by_a_tag_is_not_stored_twice(
    driver: TurnDriver, store: Store, sql: Sql, sentence: str
) -> None:
    await driver.exchange(ADA, MOVED, actions=[fact(ADA, "Ada lives in Lisbon.")])
    await judge_due(judge(driver.store, Small()))
    small = Small(Lisbon=sentence)
    small.decides = deciding("same", "Lisbon")
    assert await again(store, small) == []
    assert 'Kept already:\n- "Ada lives in Lisbon."' in small.requests[0].messages[0]["content"][0]["text"]
    assert await states(sql) == [("Ada lives in Lisbon.", "active")]


async def test_a_keyword_finding_is_replaced_by_the_models(driver: TurnDriver, store: Store, sql: Sql) -> None:
    small = Small()
    small.says = ["no idea", "no"]
    await driver.exchange(ADA, MOVED)
    await judge_due(judge(driver.store, small))
    ((_, status),) = await states(sql)
    assert status == "active"
    small = Small(Lisbon="Ada lives in Lisbon.")
    small.decides = deciding("same", "Lisbon")
    await again(store, small)
    assert [text for text, status in await states(sql) if status == "active"] == ["Ada lives in Lisbon."]


@pytest.mark.parametrize(("relation", "left"), [("contradicts", "Ada lives in Lisbon."), ("refined", BOTH)])
async def test_a_new_finding_is_reconciled_with_known_memories(
    driver: TurnDriver, store: Store, sql: Sql, relation: str, left: str
) -> None:
    await driver.teach(ADA, "Ada lives in Berlin.")
    await driver.exchange(ADA, MOVED)
    await judge_due(judge(driver.store, Small()))
    small = Small(Lisbon="Ada lives in Lisbon.")
    small.decides = deciding(relation, "Berlin")
    assert await again(store, small) == [("changed", "Ada lives in Berlin.", left)]
    assert await states(sql) == [("Ada lives in Berlin.", "superseded"), (left, "active")]


async def test_a_finding_that_a_later_message_contradicts_is_not_stored(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await driver.exchange(ADA, POTSDAM)
    await driver.teach(ADA, "Ada lives in Lisbon.")
    await judge_due(judge(driver.store, Small()))
    small = Small(Potsdam="Ada lives in Potsdam.")
    small.decides = deciding("contradicts", "Lisbon")
    assert await again(store, small) == []
    assert await states(sql) == [("Ada lives in Lisbon.", "active")]


@pytest.mark.parametrize("relation", ["contradicts", "refined", "same"])
@pytest.mark.parametrize("whose", ["the message", "the answer to others"])
async def test_others_words_change_no_memory_without_a_tap(
    driver: TurnDriver, store: Store, sql: Sql, relation: str, whose: str
) -> None:
    """A forwarded text contradicts what the person said. Judging it again, discarding it, or judging it once more
    doesn't change what they said; only their tap does."""
    own = ("Ada lives in Berlin.", "active")
    await driver.teach(ADA, own[0])
    await driver.exchange(ADA, MOVED)
    await judge_due(judge(driver.store, Small()))
    of_others = whose == "the message"
    await sql("update message set untrusted = %s, tainted = %s where text = %s", of_others, not of_others, MOVED)
    small = Small(Lisbon="Ada lives in Lisbon.")
    small.decides = deciding(relation, "Berlin")
    await again(store, small)
    assert (await states(sql))[0] == own
    assert {status for _, status in (await states(sql))[1:]} <= {"pending"}
    assert await again(store, Small(Lisbon="Ada lives in Lisbon.")) == []
    assert (await states(sql))[0] == own
    waiting = await sql("select id from memory_change where status = 'pending'")
    for (change,) in waiting:
        await store.decide_change(change, ADA, False, "discard")
    assert (await states(sql))[0] == own
    assert {status for _, status in (await states(sql))[1:]} <= {"discarded"}
