"""Tests the lifecycle of memories: repeated, refined, contradicted, archived, restored, and undone days later."""

from __future__ import annotations

import json
from typing import Any

import pytest

from relay.memory.rows.memories import LastChange, MemoryFilter
from relay.memory.rows.turns.answer import Answer
from relay.memory.store import Store
from tests.integration.conftest import Sql
from tests.integration.turn_driver import (
    ADA,
    BEN,
    BOT,
    GROUP,
    TurnDriver,
    fact,
    forget,
    group,
    incoming_of,
    private,
    reply,
)

Json = dict[str, Any]


async def taught(driver: TurnDriver, text: str, user_id: int = ADA, **more: Any) -> int:
    """Teaches a fact, and returns its id."""
    done = await driver.exchange(user_id, "Listen.", actions=[fact(user_id, text) | more])
    return int(done.told.changes[0].memory_id)


async def did(driver: TurnDriver, *actions: Json, user_id: int = ADA, **more: Any) -> Answer:
    return (await driver.exchange(user_id, "Do it.", actions=actions, **more)).told


async def states(sql: Sql) -> dict[str, str]:
    rows: list[Any] = await sql("select content, status from memory order by id")
    return dict(rows)


async def test_a_newer_fact_ends_the_one_it_contradicts(driver: TurnDriver, store: Store, sql: Sql) -> None:
    old = await taught(driver, "lives in Berlin")
    told = await did(driver, {"action": "supersede", "memory_id": old, "content": "lives in Lisbon", "by": "judge"})
    (change,) = told.changes
    assert (change.action, change.before, change.content) == (
        "supersede", "lives in Berlin", "lives in Lisbon",
    )  # fmt: skip
    rows = await sql("select status, replaced_by, valid_until <= now(), content from memory where id = %s", old)
    assert rows == [("superseded", change.memory_id, True, "lives in Berlin")]
    (new,) = await sql(
        "select subject_id, derivation ->> 'name', derivation #>> '{inputs,0}' from memory where id = %s",
        change.memory_id,
    )
    assert new == (ADA, "judge", f"memory:{old}")
    assert await driver.known(private(ADA)) == ["lives in Lisbon"]
    await sql("update memory_change set created_at = created_at - interval '9 days'")
    await store.decide_change(change.id, ADA, False, "undo")
    assert await states(sql) == {"lives in Berlin": "active", "lives in Lisbon": "discarded"}
    assert await sql("select replaced_by, valid_until from memory where id = %s", old) == [(None, None)]
    after = await store.decide_change(change.id, ADA, False, "undo")
    assert after is not None
    assert [one.status for one in after] == ["undone"]


async def test_a_refined_memory_keeps_pin_and_evidence(driver: TurnDriver, sql: Sql) -> None:
    done = await driver.exchange(ADA, "I sail", actions=[fact(ADA, "sails")])
    old, said = done.told.changes[0].memory_id, done.context.message_id
    await sql("update memory set pinned = true, evidence = array[%s::bigint] where id = %s", said, old)
    more = await driver.exchange(ADA, "on Lake Zurich, every Sunday")
    action = {"action": "refine", "memory_id": old, "content": "sails on Lake Zurich on Sundays", "importance": 7}
    told = await did(driver, action | {"evidence": [more.context.message_id, 10**15]})
    (change,) = told.changes
    assert change.action == "merge"
    rows = await sql("select pinned, importance, evidence, valid_until from memory where id = %s", change.memory_id)
    assert rows == [(True, 7, [said, more.context.message_id], None)]
    assert await sql("select status, valid_until from memory where id = %s", old) == [("superseded", None)]


async def test_facts_of_two_people_are_never_merged(driver: TurnDriver, sql: Sql) -> None:
    await driver.exchange(ADA, "hi", chat_id=GROUP, actions=[fact(ADA, "likes tea")])
    ((old,),) = await sql("select id from memory")
    for action in ("supersede", "refine"):
        told = await did(
            driver, fact(BEN, "likes coffee") | {"action": action, "memory_id": old}, user_id=BEN, chat_id=GROUP
        )
        assert told.changes == []
        assert told.failed[0].failed == "it is about somebody or something else"
    told = await did(driver, forget("tea"), fact(BEN, "likes green tea"), user_id=BEN, chat_id=GROUP)
    assert [one.action for one in told.changes] == ["learn"]
    assert await states(sql) == {"likes tea": "active", "likes green tea": "active"}


async def test_memories_of_another_space_cannot_be_changed(driver: TurnDriver, sql: Sql) -> None:
    old = await taught(driver, "likes tea", BEN)
    for action in ("supersede", "refine", "refresh", "archive", "restore", "pin"):
        told = await did(driver, {"action": action, "memory_id": old, "content": "x"})
        assert (told.changes, len(told.failed)) == ([], 1)
    assert await states(sql) == {"likes tea": "active"}


async def test_repeating_a_fact_halves_its_doubt(driver: TurnDriver, store: Store, sql: Sql) -> None:
    old = await taught(driver, "likes tea", confidence=0.6)
    said = (await driver.exchange(ADA, "tea, as always")).context.message_id
    told = await did(driver, {"action": "refresh", "memory_id": old, "evidence": [said]})
    assert await sql("select confidence::float, evidence from memory") == [(pytest.approx(0.8), [said])]
    await store.decide_change(told.changes[0].id, ADA, False, "undo")
    assert await sql("select confidence::float, evidence from memory") == [(pytest.approx(0.6), [])]


async def test_fact_kinds_are_merged_with_each_other_but_not_with_learnings(driver: TurnDriver, sql: Sql) -> None:
    await taught(driver, "likes strong tea")
    told = await did(driver, fact(ADA, "Likes strong tea.") | {"kind": "preference", "importance": 8})
    assert [one.action for one in told.changes] == ["refresh"]
    told = await did(
        driver, {"action": "learn", "kind": "learning", "content": "likes strong tea", "category": "identity"}
    )
    assert [one.action for one in told.changes] == ["learn"]
    assert await sql("select kind, importance from memory order by id") == [("preference", 8), ("learning", 5)]


@pytest.mark.parametrize(
    ("old", "words", "new", "linked"),
    [
        ("has a sister called Laura", "sister is called Laura", "Has a sister called Nora", True),
        ("lives in Berlin", "lives in Berlin", "Lives in Lisbon", True),
        ("works at Acme", "Acme", "Has a dog", False),
        ("Ada works at Acme", "Acme", "Ada has a dog", False),
        ("Der Hund heißt Rex und ist alt", "Rex", "Fährt mit der Bahn und ist müde", False),
        ("Wohnt mit der Familie in Wien", "Wien", "Wohnt mit der Familie in Graz", True),
    ],
)
async def test_a_forget_and_a_learn_about_the_same_become_one_change(
    driver: TurnDriver, store: Store, sql: Sql, old: str, words: str, new: str, linked: bool
) -> None:
    await taught(driver, old)
    told = await did(driver, forget(words), fact(ADA, new))
    assert [one.action for one in told.changes] == (["supersede"] if linked else ["forget", "learn"])
    assert await states(sql) == {old: "superseded" if linked else "forgotten", new: "active"}


async def test_two_learned_facts_beside_a_forget_are_linked_to_neither(driver: TurnDriver) -> None:
    await taught(driver, "lives in Berlin")
    told = await did(driver, forget("Berlin"), fact(ADA, "lives in Lisbon"), fact(ADA, "lives with Tom"))
    assert [one.action for one in told.changes] == ["forget", "learn", "learn"]


async def test_a_tainted_contradiction_is_pending_and_leaves_the_old_memory(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await taught(driver, "lives in Berlin")
    told = await did(driver, forget("Berlin"), fact(ADA, "lives in Minsk"), tainted=True)
    (change,) = told.changes
    assert (change.action, change.status) == ("supersede", "pending")
    assert await states(sql) == {"lives in Berlin": "active", "lives in Minsk": "pending"}
    await store.decide_change(change.id, ADA, False, "keep")
    assert await states(sql) == {"lives in Berlin": "superseded", "lives in Minsk": "active"}
    assert await sql("select count(*) from memory where replaced_by is not null") == [(1,)]
    await store.decide_change(change.id, ADA, False, "undo")
    assert await states(sql) == {"lives in Berlin": "active", "lives in Minsk": "discarded"}


async def test_a_discarded_contradiction_changes_nothing(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await taught(driver, "lives in Berlin")
    told = await did(driver, forget("Berlin"), fact(ADA, "lives in Minsk"), tainted=True)
    await store.decide_change(told.changes[0].id, ADA, False, "discard")
    assert await states(sql) == {"lives in Berlin": "active", "lives in Minsk": "discarded"}


async def test_a_replacement_that_was_known_before_stays_after_undo(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await taught(driver, "lives in Lisbon")
    old = await taught(driver, "has a flat at Berlin")
    told = await did(driver, {"action": "supersede", "memory_id": old, "content": "lives in Lisbon"})
    assert await states(sql) == {"lives in Lisbon": "active", "has a flat at Berlin": "superseded"}
    await store.decide_change(told.changes[0].id, ADA, False, "undo")
    assert await states(sql) == {"lives in Lisbon": "active", "has a flat at Berlin": "active"}


async def test_a_chain_of_changes_is_undone_from_the_last_one_back(driver: TurnDriver, store: Store, sql: Sql) -> None:
    first = await taught(driver, "lives in Berlin")
    one = (await did(driver, {"action": "supersede", "memory_id": first, "content": "lives in Lisbon"})).changes[0]
    two = (await did(driver, {"action": "supersede", "memory_id": one.memory_id, "content": "lives in Minsk"})).changes[
        0
    ]
    still = await store.decide_change(one.id, ADA, False, "undo")
    assert still is not None
    assert still[0].status == "applied"
    await store.decide_change(two.id, ADA, False, "undo")
    await store.decide_change(one.id, ADA, False, "undo")
    assert await states(sql) == {
        "lives in Berlin": "active", "lives in Lisbon": "discarded", "lives in Minsk": "discarded",
    }  # fmt: skip


async def test_archiving_restoring_and_older_wordings_can_be_undone(driver: TurnDriver, store: Store, sql: Sql) -> None:
    one = await taught(driver, "likes tea")
    put = (await did(driver, {"action": "archive", "memory_id": one})).changes[0]
    assert (put.action, await driver.known(private(ADA))) == ("archive", [])
    page = await store.memories(private(ADA), 0, 8, MemoryFilter(past=True))
    assert [(row.content, row.status) for row in page.memories] == [("likes tea", "archived")]
    assert page.past == 1
    back = (await did(driver, {"action": "restore", "memory_id": one})).changes[0]
    assert await driver.known(private(ADA)) == ["likes tea"]
    await store.decide_change(back.id, ADA, False, "undo")
    assert await states(sql) == {"likes tea": "archived"}
    await store.decide_change(put.id, ADA, False, "undo")
    assert await driver.known(private(ADA)) == ["likes tea"]
    await did(driver, {"action": "edit", "memory_id": one, "content": "likes coffee"})
    past = await store.memory_past(one, 0, 8)
    last = past.changes[0]
    assert (last.action, last.before, last.restores) == ("refresh", "likes tea", True)
    await did(driver, {"action": "restore", "memory_id": one, "change_id": past.changes[0].id})
    assert await driver.known(private(ADA)) == ["likes tea"]
    past = await store.memory_past(one, 0, 8)
    assert (past.changes[0].action, past.changes[0].restores) == ("restore", True)


async def test_a_replaced_memory_shows_its_replacement_and_can_be_restored(driver: TurnDriver, store: Store) -> None:
    old = await taught(driver, "lives in Berlin")
    new = (await did(driver, {"action": "supersede", "memory_id": old, "content": "lives in Lisbon"})).changes[0]
    row = await store.open_memory(old, ADA, False)
    assert row is not None
    assert (row.status, row.replaced_by) == ("superseded", new.memory_id)
    assert row.last == LastChange(new.id, "supersede")
    past = await store.memory_past(old, 0, 8)
    assert [one.action for one in past.changes] == ["supersede", "learn"]
    assert not any(one.restores for one in past.changes)
    await did(driver, {"action": "restore", "memory_id": old})
    assert sorted(await driver.known(private(ADA))) == ["lives in Berlin", "lives in Lisbon"]


async def test_prompts_omit_expired_and_replaced_memories(driver: TurnDriver, sql: Sql) -> None:
    await taught(driver, "wants to run a marathon", kind="goal", valid_until="2020-01-01T00:00:00Z")
    await taught(driver, "wants to learn Greek", kind="goal", valid_until="2999-01-01T00:00:00Z")
    old = await taught(driver, "lives in Berlin")
    await did(driver, {"action": "supersede", "memory_id": old, "content": "lives in Lisbon"})
    context = (await driver.exchange(ADA, "hello")).context
    assert [row.content for row in context.memories] == ["wants to learn Greek", "lives in Lisbon"]
    assert context.memory_counts == {"fact": 1, "goal": 1}


async def test_a_learning_without_support_disappears_from_prompts(driver: TurnDriver, store: Store, sql: Sql) -> None:
    learning = {"kind": "learning", "category": "knowledge"}
    names = ("idle", "recalled", "pinned", "said again", "reworded", "young", "her own word")
    ids = {name: await taught(driver, f"{name}: figs ripen late", **learning) for name in names}
    ids["fact"] = await taught(driver, "an old fact")
    await sql('update memory set derivation = \'{"name": "user"}\' where id = %s', ids["her own word"])
    await sql("update memory set created_at = now() - interval '181 days', updated_at = now() - interval '181 days'")
    await sql("update memory set created_at = now() - interval '179 days' where id = %s", ids["young"])
    await sql("update memory set updated_at = created_at where id = %s", ids["young"])
    await did(driver, {"action": "pin", "memory_id": ids["pinned"]})
    await taught(driver, "said again: figs ripen late", **learning)
    await did(driver, {"action": "edit", "memory_id": ids["reworded"], "content": "reworded: figs ripen in autumn"})
    await sql("select relay.count_uses(%s)", json.dumps({"memories": list(ids.values()), "bearing": [ids["recalled"]]}))
    context = (await driver.exchange(ADA, "hello")).context
    assert sorted({row.id for row in context.memories}) == sorted(id for name, id in ids.items() if name != "idle")
    assert (context.faded, context.memory_counts["knowledge"]) == (1, 7)
    row = await store.open_memory(ids["idle"], ADA, False)
    assert row is not None
    assert row.faded
    found = await store.look_up(private(ADA), {}, {"text": "idle figs", "vector": None, "model": None}, 8)
    assert ids["idle"] in [one.id for one in found or [] if one.kind == "memory"], "a search must still find it"
    await sql("select relay.count_uses(%s)", json.dumps({"recalled_memories": [ids["idle"]], "bearing": [ids["idle"]]}))
    assert (await driver.exchange(ADA, "hello again")).context.faded == 0


async def test_switched_off_memory_is_neither_read_nor_taught(driver: TurnDriver, sql: Sql) -> None:
    await taught(driver, "likes tea")
    for off, on in (
        ("update space set memory = 'off'", "update space set memory = 'on'"),
        ("update space set paused_until = now() + interval '1 hour'", "update space set paused_until = null"),
    ):
        await sql(off)
        done = await driver.exchange(ADA, "hello", actions=[fact(ADA, "has a boat")])
        assert (done.context.memories, done.context.memory_counts) == ((), {})
        assert (done.told.changes, done.told.unlearned) == ([], True)
        await sql(on)
    await sql("update thread set recalls = false")
    assert (await driver.exchange(ADA, "hello")).context.memories == ()
    await sql("update thread set recalls = true, teaches = false")
    done = await driver.exchange(ADA, "hello", actions=[fact(ADA, "has a boat"), forget("likes tea")])
    assert [one.action for one in done.told.changes] == ["forget"]


async def test_a_memory_used_in_a_prompt_is_counted_as_used(driver: TurnDriver, store: Store, sql: Sql) -> None:
    one, two = await taught(driver, "likes tea"), await taught(driver, "has a boat")
    turn = await driver.turn(ADA, "hello")
    incoming = incoming_of(turn, "hello", private(ADA))
    await store.begin(incoming, "model-1")
    changed = await sql("select updated_at from memory order by id")
    answer = reply() | {"prompt": {"memories": [one], "recalled_memories": [two]}}
    await store.finish(incoming, answer)
    await store.finish(incoming, answer)
    assert await sql("select uses, last_used_at is not null from memory order by id") == [(1, True), (1, True)]
    assert await sql("select updated_at from memory order by id") == changed
    for _ in range(2):  # use by every prompt counts once an hour, use by recall each time
        await driver.close(turn)
        turn = await driver.turn(ADA, "and?")
        again = incoming_of(turn, "and?", private(ADA))
        await store.begin(again, "model-1")
        await store.finish(again, answer)
    assert await sql("select uses from memory order by id") == [(1,), (3,)]


async def test_a_message_is_remembered_with_its_source(driver: TurnDriver, store: Store, sql: Sql) -> None:
    done = await driver.exchange(ADA, "Water the ferns on Mondays.")
    ((message_id, telegram_id),) = await sql(
        "select message_id, telegram_message_id from posted where not from_bot and message_id is not null"
    )
    found = await store.keepable(private(ADA), BOT.id, ADA, telegram_id)
    assert found is not None
    assert (found.id, found.text, found.private) == (message_id, "Water the ferns on Mondays.", False)
    assert await store.keepable(private(BEN), BOT.id, ADA, telegram_id) is None
    answer = await store.keepable(private(ADA), turn_id=done.turn.turn_id)
    assert answer is not None
    assert answer.text == "Yes."
    turn = await driver.turn(ADA, "/remember ferns: Mondays")
    action = {"action": "learn", "kind": "learning", "category": "knowledge", "content": "ferns: Mondays"}
    told = await store.change_memory(
        turn, private(ADA), [action | {"by": "promoted", "promoted_by": ADA, "source": message_id, "ask": True}]
    )
    assert [one.status for one in told.changes] == ["pending"]
    rows = await sql(
        "select m.promoted_by, m.source_message_id, m.session_id = s.session_id, m.thread_id = s.thread_id, m.status"
        " from memory m join message s on s.id = m.source_message_id"
    )
    assert rows == [(ADA, message_id, True, True, "pending")]
    edit = await driver.turn(ADA, "better")
    await store.change_memory(
        edit, private(ADA), [{"action": "edit", "memory_id": told.changes[0].memory_id, "content": "better"}]
    )
    assert await states(sql) == {"better": "active"}


async def test_a_groups_message_can_be_remembered_by_any_member(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await driver.exchange(ADA, "The key is under the mat.", chat_id=GROUP)
    ((message_id,),) = await sql("select id from message where role = 'user'")
    turn = await driver.turn(BEN, "/remember", chat_id=GROUP)
    action = {"action": "learn", "kind": "learning", "content": "key: under the mat", "source": message_id}
    told = await store.change_memory(turn, group(), [action | {"promoted_by": BEN, "by": "promoted"}])
    change = told.changes[0].id
    assert await store.decide_change(change, 4242, False, "undo") is None
    assert await store.decide_change(change, BEN, False, "undo") is not None
