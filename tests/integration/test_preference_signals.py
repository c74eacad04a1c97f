"""Tests what acts on an answer signal: stopping it, asking again, keeping it, and writing a better one."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from relay.commands.context import CommandContext
from relay.commands.preferences.feedback import show_tags, toggle_tag
from relay.core.errors import CommandRefused
from relay.memory.claims import ClaimedTurn
from relay.memory.rows.turns.answer import Answer
from relay.memory.store import Store
from tests.integration.conftest import Sql
from tests.integration.edits import again, answered, edit_of, held
from tests.integration.turn_driver import (
    ADA,
    BEN,
    BOT,
    Json,
    TurnDriver,
    a_house,
    dm,
    fact,
    incoming_of,
    private,
    reply,
)


async def acts(sql: Sql) -> list[tuple[Any, ...]]:
    return await sql("select kind, value, turn_id, other_turn_id from feedback where withdrawn_at is null order by id")


PRESSES = count(1_000_000)


def pressed(store: Store, under: ClaimedTurn) -> CommandContext:
    """Returns the context of a button that Ada presses under an answer."""

    async def no() -> bool:
        return False

    async def sees(_: object) -> bool:
        return True

    turn = replace(under, turn_id=next(PRESSES))
    return CommandContext(a_house(store), turn, BOT.id, private(ADA), ADA, 0, True, ADA, "Ada", False, no, sees)


async def said_again(driver: TurnDriver, of_turn: ClaimedTurn, answer: str = "Yes!", **more: Any) -> ClaimedTurn:
    turn = await driver.turn(ADA, "/retry")
    incoming = incoming_of(turn, "/retry", private(ADA), retry=True, retry_turn=of_turn.turn_id)
    await driver.store.begin(incoming, "m")
    await driver.store.finish(incoming, reply(answer) | {"again": True} | more)
    await driver.close(turn)
    return turn


async def test_stopping_an_answer_signals_that_it_was_not_wanted(driver: TurnDriver, sql: Sql) -> None:
    turn = await driver.turn(ADA, "Hello")
    incoming = incoming_of(turn, "Hello", private(ADA))
    await driver.store.begin(incoming, "m")
    await driver.store.finish(incoming, reply("A long") | {"status": "stopped"})
    assert await acts(sql) == [("abandon", {"how": "stop"}, turn.turn_id, None)]


async def test_asking_again_signals_that_the_answer_was_not_wanted(driver: TurnDriver, sql: Sql) -> None:
    first, *_ = await answered(driver, "hello")
    await said_again(driver, first)
    assert await acts(sql) == [("abandon", {"how": "again"}, first.turn_id, None)]


async def test_asking_again_after_a_positive_reaction_signals_nothing(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    first, *_ = await answered(driver, "hello")
    await store.react(BOT.id, ADA, 900, ADA, ["👍"], 100)
    await said_again(driver, first)
    assert [kind for kind, *_ in await acts(sql)] == ["thumbs"]
    assert await sql("select count(*) from job where kind = 'preference'") == [(1,)]


async def test_retrying_a_failed_answer_signals_nothing(driver: TurnDriver, sql: Sql) -> None:
    first, *_ = await answered(driver, "hello")
    await said_again(driver, first, again=False)
    assert await acts(sql) == []


async def test_an_answer_to_an_edited_message_signals_a_refinement(driver: TurnDriver, store: Store, sql: Sql) -> None:
    first, _, update = await answered(driver, "helo")
    await store.edit(edit_of(update, "hello"))
    turn = await said_again(driver, first)
    assert await acts(sql) == [("refine", {}, turn.turn_id, first.turn_id)]


async def test_keeping_an_answer_as_a_memory_signals_acceptance(driver: TurnDriver, store: Store, sql: Sql) -> None:
    first, *_ = await answered(driver, "hello")
    found = await store.keepable(private(ADA), turn_id=first.turn_id)
    assert found is not None
    action: Json = {
        "action": "learn", "kind": "learning", "category": "knowledge", "content": "Hello means yes", "by": "promoted",
        "promoted_by": ADA, "tainted": False, "ask": True, "source": found.id,
    }  # fmt: skip
    turn = await driver.turn(ADA, "/remember")
    [change] = (await store.change_memory(turn, private(ADA), [action])).changes
    assert await acts(sql) == [], "a proposed memory must not count yet"
    await store.decide_change(change.id, ADA, False, "keep")
    assert await acts(sql) == [("accept", {}, first.turn_id, None)]


async def test_tags_are_added_and_removed_and_opposites_replace_each_other(driver: TurnDriver, store: Store) -> None:
    first, *_ = await answered(driver, "hello")
    where: Any = (private(ADA), ADA, first.turn_id)
    short = {"type": "length", "pattern": "short answers", "weight": 0.3, "reinforcing": 1}

    async def tag(polarity: int) -> None:
        await store.untag(*where, "length", "short answers", -polarity)
        act: Json = {"kind": "tag", "about": {"turn_id": first.turn_id}, "value": {"tags": ["x"]}, "source": "button"}
        act["observations"] = [short | {"polarity": polarity}]
        await store.feedback(dm(ADA), ADA, act)

    await tag(1)
    await tag(-1)
    assert [(one.pattern, one.polarity) for one in await store.answer_tags(*where) or []] == [("short answers", -1)]
    assert not await store.untag(*where, "length", "short answers", 1)
    assert await store.untag(*where, "length", "short answers", -1)
    assert await store.answer_tags(*where) == []
    assert await store.answer_tags(private(ADA), ADA, 10**9) is None
    assert (await store.preferences(dm(ADA), ADA)).rows == ()


async def test_removing_the_last_tag_withdraws_the_act(driver: TurnDriver, store: Store, sql: Sql) -> None:
    first, *_ = await answered(driver, "hello")
    for name in ("long", "serious", "long"):
        await toggle_tag(pressed(store, first), first.turn_id, name)
    assert await acts(sql) == [("tag", {"tags": ["avoid humour"]}, first.turn_id, None)]
    await toggle_tag(pressed(store, first), first.turn_id, "serious")
    assert await acts(sql) == []
    await said_again(driver, first)
    assert [kind for kind, *_ in await acts(sql)] == ["abandon"], "no tag says that the answer was wanted"


async def test_a_refused_tag_leaves_its_opposite(driver: TurnDriver, store: Store) -> None:
    first, *_ = await answered(driver, "hello")
    await toggle_tag(pressed(store, first), first.turn_id, "long")
    await store.preference_control(dm(ADA), ADA, {"paused_until": "2999-01-01T00:00:00Z"})
    with pytest.raises(CommandRefused):
        await toggle_tag(pressed(store, first), first.turn_id, "short")
    assert (await show_tags(pressed(store, first), first.turn_id)).tags == ("long",)


async def test_somebody_elses_answer_can_not_be_tagged(driver: TurnDriver, store: Store, sql: Sql) -> None:
    first, *_ = await answered(driver, "hello")
    with pytest.raises(CommandRefused, match="Only the person who asked"):
        await toggle_tag(replace(pressed(store, first), user_id=BEN), first.turn_id, "long")
    assert await acts(sql) == []


async def test_bringing_an_answer_back_signals_that_it_was_better(driver: TurnDriver, sql: Sql) -> None:
    first, *_ = await answered(driver, "hello", fact(ADA, "Has a cat"))
    newer = await again(driver, first, "Yes?!")
    await driver.close(held(newer))
    turn = await driver.turn(ADA, "back")
    incoming = incoming_of(turn, "", private(ADA), retry=True, retry_turn=newer.turn_id)
    incoming = replace(incoming, replaces=True, brings_back=True)
    context = await driver.store.begin(incoming, "m")
    assert context.former is not None
    assert context.former.text == "Yes."
    await driver.store.finish(incoming, reply(context.former.text) | {"again": "back"})
    assert await acts(sql) == [("revert", {}, turn.turn_id, newer.turn_id)]
    standing = "select text from message where role = 'assistant' and status = 'complete'"
    assert await sql(standing) == [("Yes.",)]
    assert await sql("select exchange_count from thread") == [(1,)]


async def retried(driver: TurnDriver) -> tuple[ClaimedTurn, ClaimedTurn, Answer]:
    """Returns an answer, a second answer to the same message with what it taught, and the second one's result."""
    first, *_ = await answered(driver, "hello")
    turn = await driver.turn(ADA, "/retry")
    incoming = incoming_of(turn, "/retry", private(ADA), retry=True)
    await driver.store.begin(incoming, "m")
    actions = [fact(ADA, "Has a dog")]
    told = await driver.store.finish(incoming, reply("Yes, yes!") | {"again": True, "actions": actions})
    await driver.close(turn)
    return first, turn, told


async def preferred_first(driver: TurnDriver, newer: ClaimedTurn) -> tuple[ClaimedTurn, Answer]:
    turn = await driver.turn(ADA, "first")
    incoming = incoming_of(turn, "", private(ADA), retry=True, retry_turn=newer.turn_id)
    incoming = replace(incoming, replaces=True, brings_back=True, prefers_first=True)
    context = await driver.store.begin(incoming, "m")
    assert context.former is not None
    brought = reply(context.former.text) | {"again": "back", "preferred": True}
    told = await driver.store.finish(incoming, brought)
    await driver.close(turn)
    return turn, told


async def test_choosing_between_an_answer_and_the_previous_one_is_recorded(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    first, newer, told = await retried(driver)
    assert told.before == first.turn_id
    act: Json = {"kind": "compare", "about": {"turn_id": newer.turn_id}, "over": first.turn_id, "source": "button"}
    await store.feedback(dm(ADA), ADA, act | {"value": {"chose": "a", "dimensions": []}})
    compared = ("compare", {"chose": "a", "dimensions": []})
    assert (await acts(sql))[1:] == [(*compared, newer.turn_id, first.turn_id)]
    done = await store.choice_reason(private(ADA), ADA, newer.turn_id, "tone")
    assert done is not None
    assert done.reasons == ("tone",)
    # Ada looks again, and prefers the first answer.
    back, told = await preferred_first(driver, newer)
    assert told.reasons
    assert (await acts(sql))[1:] == [(*compared, back.turn_id, newer.turn_id)], (
        "the new choice must replace the earlier one"
    )
    assert await sql("select text from message where role = 'assistant' and status = 'complete'") == [("Yes.",)]
    assert await driver.known(private(ADA)) == [], "memories from the newer answer must be undone"


async def test_the_first_answer_is_brought_back_also_while_learning_is_off(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    _, newer, _ = await retried(driver)
    await store.preference_control(dm(ADA), ADA, {"preferences": "off"})
    _, told = await preferred_first(driver, newer)
    assert not told.reasons
    assert [kind for kind, *_ in await acts(sql)] == ["abandon"]
    assert await sql("select text from message where role = 'assistant' and status = 'complete'") == [("Yes.",)]


async def test_the_chosen_one_of_two_answers_stays(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await answered(driver, "hello")
    turn = await driver.turn(ADA, "/two")
    incoming = incoming_of(turn, "/two", private(ADA), retry=True)
    await store.begin(incoming, "m")
    other = reply("The second")
    second = {"text": "The second", "blocks": other["blocks"], "tainted": False, "order": "ba",
              "actions": [[fact(ADA, "Likes the first")], [fact(ADA, "Likes the second")]]}  # fmt: skip
    await store.finish(incoming, reply("The first") | {"again": True, "other": second})
    await driver.close(turn)

    async def stands() -> tuple[list[str], list[str]]:
        messages = await sql("select text from message where role = 'assistant' and status = 'complete'")
        memories = await sql("select content from memory where status = 'active'")
        return [text for (text,) in messages], [content for (content,) in memories]

    where: Any = (private(ADA), ADA, turn.turn_id)
    assert await stands() == (["The first"], []), "memory actions must wait for the choice"
    assert await store.choose_answer(private(BEN), BEN, turn.turn_id, "a") is None
    for choice, expected in [
        ("a", (["The second"], ["Likes the second"])),
        ("b", (["The first"], ["Likes the first"])),
        ("neither", (["The first"], [])),
        ("both", (["The first"], ["Likes the first"])),
        ("a", (["The second"], ["Likes the second"])),
    ]:
        done = await store.choose_answer(*where, choice)
        assert done is not None
        assert done.refused is None
        assert await stands() == expected, choice
    assert [kind for kind, *_ in await acts(sql)] == ["abandon", "compare"]
    reasons = await store.choice_reason(*where, "shorter")
    assert reasons is not None
    assert reasons.reasons == ("shorter",)
    await sql("update feedback set settles_at = now() - interval '1 second'")
    done = await store.choose_answer(*where, "b")
    assert done is not None
    assert done.refused == "late"
    context = (await driver.exchange(ADA, "thanks")).context
    assert [row.text for row in context.recent] == ["hello", "The second"]


async def test_what_the_second_of_two_answers_repeats_of_others_waits_for_a_tap(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    """Only the second answer read a web page."""
    await answered(driver, "hello")
    turn = await driver.turn(ADA, "/two")
    incoming = incoming_of(turn, "/two", private(ADA), retry=True)
    await store.begin(incoming, "m")
    second = {"text": "The second", "blocks": reply("The second")["blocks"], "tainted": True, "order": "ab",
              "actions": [[fact(ADA, "Likes the first")], [fact(ADA, "Likes the page")]]}  # fmt: skip
    await store.finish(incoming, reply("The first") | {"again": True, "other": second})
    await driver.close(turn)
    where: Any = (private(ADA), ADA, turn.turn_id)
    attributable = "select relay.attribution_of(max(id)) -> 'attributable' from feedback where kind = 'compare'"
    for choice, known, tainted, told in [
        ("a", ["Likes the first"], False, [("Likes the first", "applied")]),
        ("b", [], True, [("Likes the first", "undone"), ("Likes the page", "pending")]),
        ("a", ["Likes the first"], False, [("Likes the page", "discarded"), ("Likes the first", "applied")]),
    ]:
        done = await store.choose_answer(*where, choice)
        assert done is not None
        assert [(one.content, one.status) for one in done.changes] == told
        assert await sql("select content from memory where status = 'active'") == [(one,) for one in known]
        assert await sql("select tainted from turn where id = %s", turn.turn_id) == [(tainted,)]
        assert await sql(attributable) == [(False,)], "others' words must not teach how answers are liked"
