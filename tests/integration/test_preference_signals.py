"""What people do to an answer says something about it: they stop it, ask again, keep it, write it better."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from relay.memory.claims import ClaimedTurn
from relay.memory.store import Store
from tests.integration.conftest import Sql
from tests.integration.edits import again, answered, edit_of, held
from tests.integration.house import ADA, BEN, BOT, House, Json, fact, incoming_of, private, reply


async def acts(sql: Sql) -> list[tuple[Any, ...]]:
    return await sql("select kind, value, turn_id, other_turn_id from feedback where withdrawn_at is null order by id")


async def said_again(house: House, of_turn: ClaimedTurn, answer: str = "Yes!", **more: Any) -> ClaimedTurn:
    turn = await house.turn(ADA, "/retry")
    incoming = incoming_of(turn, "/retry", private(ADA), retry=True, retry_turn=of_turn.turn_id)
    await house.store.begin(incoming, "m")
    await house.store.finish(incoming, reply(answer) | {"again": True} | more)
    await house.close(turn)
    return turn


async def test_an_answer_that_is_stopped_was_not_wanted(house: House, sql: Sql) -> None:
    turn = await house.turn(ADA, "Hello")
    incoming = incoming_of(turn, "Hello", private(ADA))
    await house.store.begin(incoming, "m")
    await house.store.finish(incoming, reply("A long") | {"status": "stopped"})
    assert await acts(sql) == [("abandon", {"how": "stop"}, turn.turn_id, None)]


async def test_asking_again_says_that_the_answer_was_not_it(house: House, sql: Sql) -> None:
    first, *_ = await answered(house, "hello")
    await said_again(house, first)
    assert await acts(sql) == [("abandon", {"how": "again"}, first.turn_id, None)]


async def test_asking_again_says_nothing_of_an_answer_that_was_liked(house: House, store: Store, sql: Sql) -> None:
    first, *_ = await answered(house, "hello")
    await store.react(BOT.id, ADA, 900, ADA, ["👍"], 100)
    await said_again(house, first)
    assert [kind for kind, *_ in await acts(sql)] == ["thumbs"]
    assert await sql("select count(*) from job where kind = 'preference'") == [(1,)]


async def test_a_failed_answer_and_one_with_the_web_say_nothing(house: House, sql: Sql) -> None:
    first, *_ = await answered(house, "hello")
    await said_again(house, first, again=False)
    assert await acts(sql) == []


async def test_an_answer_to_a_better_wording_is_the_better_one(house: House, store: Store, sql: Sql) -> None:
    first, _, update = await answered(house, "helo")
    await store.edit(edit_of(update, "hello"))
    turn = await said_again(house, first)
    assert await acts(sql) == [("refine", {}, turn.turn_id, first.turn_id)]


async def test_what_is_kept_of_an_answer_was_right(house: House, store: Store, sql: Sql) -> None:
    first, *_ = await answered(house, "hello")
    found = await store.keepable(private(ADA), turn_id=first.turn_id)
    assert found is not None
    action: Json = {
        "action": "learn", "kind": "learning", "category": "knowledge", "content": "Hello means yes", "by": "promoted",
        "promoted_by": ADA, "tainted": False, "ask": True, "source": found.id,
    }  # fmt: skip
    turn = await house.turn(ADA, "/remember")
    [change] = (await store.change_memory(turn, private(ADA), [action])).changes
    assert await acts(sql) == [], "it is only proposed"
    await store.decide_change(change.id, ADA, False, "keep")
    assert await acts(sql) == [("accept", {}, first.turn_id, None)]


async def test_tags_come_and_go_and_opposites_take_each_others_place(house: House, store: Store) -> None:
    first, *_ = await answered(house, "hello")
    where: Any = (private(ADA), ADA, first.turn_id)
    short = {"type": "length", "pattern": "short answers", "weight": 0.3, "reinforcing": 1}

    async def tag(polarity: int) -> None:
        await store.untag(*where, "length", "short answers")
        act: Json = {"kind": "tag", "about": {"turn_id": first.turn_id}, "value": {"tags": ["x"]}, "source": "button"}
        act["observations"] = [short | {"polarity": polarity}]
        await store.feedback(private(ADA), ADA, 0, ADA, act)

    await tag(1)
    await tag(-1)
    assert [(one.pattern, one.polarity) for one in await store.answer_tags(*where) or []] == [("short answers", -1)]
    assert await store.untag(*where, "length", "short answers")
    assert await store.answer_tags(*where) == []
    assert await store.answer_tags(private(ADA), ADA, 10**9) is None
    assert (await store.preferences(private(ADA), ADA, 0, ADA)).rows == ()


async def test_an_answer_that_is_brought_back_was_the_better_one(house: House, sql: Sql) -> None:
    first, *_ = await answered(house, "hello", fact(ADA, "Has a cat"))
    newer = await again(house, first, "Yes?!")
    await house.close(held(newer))
    turn = await house.turn(ADA, "back")
    incoming = incoming_of(turn, "", private(ADA), retry=True, retry_turn=newer.turn_id)
    incoming = replace(incoming, replaces=True, brings_back=True)
    context = await house.store.begin(incoming, "m")
    assert context.former is not None
    assert context.former.text == "Yes."
    await house.store.finish(incoming, reply(context.former.text) | {"again": "back"})
    assert await acts(sql) == [("revert", {}, turn.turn_id, newer.turn_id)]
    standing = "select text from message where role = 'assistant' and status = 'complete'"
    assert await sql(standing) == [("Yes.",)]
    assert await sql("select exchange_count from thread") == [(1,)]


async def test_of_two_answers_the_chosen_one_stands(house: House, store: Store, sql: Sql) -> None:
    await answered(house, "hello")
    turn = await house.turn(ADA, "/two")
    incoming = incoming_of(turn, "/two", private(ADA), retry=True)
    await store.begin(incoming, "m")
    other = reply("The second")
    second = {"text": "The second", "blocks": other["blocks"], "tainted": False, "order": "ba",
              "actions": [[fact(ADA, "Likes the first")], [fact(ADA, "Likes the second")]]}  # fmt: skip
    await store.finish(incoming, reply("The first") | {"again": True, "other": second})
    await house.close(turn)

    async def stands() -> tuple[list[str], list[str]]:
        messages = await sql("select text from message where role = 'assistant' and status = 'complete'")
        memories = await sql("select content from memory where status = 'active'")
        return [text for (text,) in messages], [content for (content,) in memories]

    where: Any = (private(ADA), ADA, turn.turn_id)
    assert await stands() == (["The first"], []), "what they asked of memory waits for the choice"
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
    context = (await house.exchange(ADA, "thanks")).context
    assert [row.text for row in context.recent] == ["hello", "The second"]
