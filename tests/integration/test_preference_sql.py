"""What people say about answers, and what follows for the next one."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC
from pathlib import Path
from typing import Any

from relay.archive.export import line, pages
from relay.archive.imports import Import, check
from relay.conversation.prompt import build_prompt
from relay.jobs.tidy import tidy
from relay.memory.rows.turns.preferences import FeedbackResult, Preference
from relay.memory.store import Store
from tests.integration.conftest import Sql
from tests.integration.house import ADA, BEN, BOT, GROUP, House, Json, group, incoming_of, private, reply

SHORT = {"type": "length", "pattern": "short answers", "polarity": 1}


async def tagged(store: Store, turn_id: int, *observed: Json, user_id: int = ADA, **more: Any) -> FeedbackResult:
    act = {
        "kind": "tag",
        "about": {"turn_id": turn_id},
        "value": {"tags": [one["pattern"] for one in observed]},
        "source": "command",
        "observations": [{"weight": 0.3, "reinforcing": 1, **one} for one in observed],
    } | more
    return await store.feedback(private(user_id), user_id, 0, user_id, act)


async def said(store: Store, pattern: str, polarity: int = 1, **at: Any) -> FeedbackResult:
    act = {
        "kind": "said",
        "about": None,
        "value": {"pattern": pattern, "polarity": polarity},
        "source": "command",
        "observations": [{"type": "other", "pattern": pattern, "polarity": polarity, "weight": 1.6, "reinforcing": 2}],
    }
    where = {"space": private(ADA), "chat_id": ADA, "topic_id": 0, "user_id": ADA} | at
    return await store.feedback(act=act, **where)


async def shown(house: House, text: str = "And now?", **where: Any) -> list[tuple[str, int, str]]:
    """What the prompt of the next turn is told."""
    exchange = await house.exchange(ADA, text, **where)
    return [(row.pattern, row.polarity, row.level) for row in exchange.context.preferences]


async def of_ada(store: Store, **where: Any) -> list[Preference]:
    return list((await store.preferences(private(ADA), ADA, 0, ADA)).rows)


async def test_three_answers_tagged_the_same_make_a_preference(house: House, store: Store) -> None:
    for number in range(3):
        turn = (await house.exchange(ADA, f"Question {number}")).turn.turn_id
        done = await tagged(store, turn, SHORT)
        assert [row.pattern for row in done.acts] == (["short answers"] if number == 2 else [])
        again = await tagged(store, turn, SHORT)
        assert again.id == done.id, "the same act within half a minute is one"
    assert await shown(house) == [("short answers", 1, "medium")]
    assert [(row.strength, row.observations) for row in await of_ada(store)] == [(0.45, 3)]


async def test_a_pattern_counts_once_for_an_answer(house: House, store: Store, sql: Sql) -> None:
    turn = (await house.exchange(ADA, "Hello")).turn.turn_id
    for _ in range(3):
        await tagged(store, turn, SHORT)
        await sql("update feedback set settles_at = now() - interval '1 hour'")
    assert [row.observations for row in await of_ada(store)] == [1]
    assert await sql("select count(*) from feedback") == [(3,)]


async def test_what_is_said_outright_acts_at_once_and_is_taken_back_at_once(house: House, store: Store) -> None:
    assert [row.level for row in (await said(store, "puns")).acts] == ["high"]
    assert await shown(house) == [("puns", 1, "high")]
    await said(store, "puns", -1)
    assert await shown(house) == [("puns", -1, "high")]


async def test_only_the_one_who_asked_teaches(house: House, store: Store) -> None:
    turn = (await house.exchange(ADA, "Hello", chat_id=GROUP)).turn.turn_id
    about: Json = {"space": group(), "chat_id": GROUP, "topic_id": 0}
    act: Json = {"kind": "tag", "about": {"turn_id": turn}, "value": {}, "source": "button", "observations": []}
    assert (await store.feedback(user_id=BEN, act=act, **about)).refused == "unknown"
    assert (await store.feedback(user_id=ADA, act=act, **about)).refused is None
    assert (await tagged(store, turn, SHORT)).refused == "unknown", "it is another space's answer"
    assert (await tagged(store, 10**9, SHORT)).refused == "unknown"


async def test_nobody_elses_preferences_are_shown(house: House, store: Store) -> None:
    await said(store, "puns")
    await house.exchange(BEN, "Hello")
    context = (await house.exchange(BEN, "And now?")).context
    assert context.preferences == ()
    assert await shown(house, chat_id=GROUP) == [], "nor one's own among others"
    await said(store, "charts", space=group(), chat_id=GROUP)
    assert await shown(house, chat_id=GROUP) == [("charts", 1, "high")]
    assert await shown(house) == [("puns", 1, "high")]


async def test_off_paused_here_and_off_the_record(house: House, store: Store, sql: Sql) -> None:
    turn = (await house.exchange(ADA, "Hello")).turn.turn_id
    await said(store, "puns")
    here: Any = (private(ADA), ADA, 0, ADA)
    for change, back, why in [
        ({"preferences": "off"}, {"preferences": "on"}, "off"),
        ({"paused_until": "2999-01-01T00:00:00Z"}, {"paused_until": None}, "paused"),
    ]:
        await store.preference_control(*here, change)
        assert (await tagged(store, turn, SHORT)).refused == why
        assert await shown(house) == []
        await store.preference_control(*here, back)
        assert await shown(house) == [("puns", 1, "high")]
    await store.preference_control(*here, {"here": "quiet"})
    assert (await tagged(store, turn, SHORT)).refused == "here"
    assert await shown(house) == [("puns", 1, "high")], "it teaches nothing, and is answered as ever"
    await store.preference_control(*here, {"here": "ignore"})
    assert await shown(house) == []
    await store.preference_control(*here, {"here": "use"})
    await store.private(private(ADA), ADA, 0, True, ADA, True)
    assert (await said(store, "charts")).refused == "private"
    assert await shown(house) == []
    assert await sql("select count(*) from feedback") == [(1,)]


async def test_a_thread_of_its_own_keeps_what_it_teaches(house: House, store: Store) -> None:
    await said(store, "puns")
    await house.exchange(ADA, "Hello", topic_id=5)
    await store.preference_control(private(ADA), ADA, 5, ADA, {"here": "own"})
    await said(store, "puns", -1, topic_id=5)
    rows = (await house.exchange(ADA, "And now?", topic_id=5)).context.preferences
    assert [(row.pattern, row.polarity, row.here) for row in rows] == [("puns", 1, False), ("puns", -1, True)]
    assert await shown(house) == [("puns", 1, "high")]


async def test_what_is_forgotten_stays_forgotten_until_it_is_said_again(house: House, store: Store) -> None:
    await said(store, "puns")
    [row] = await of_ada(store)
    assert await store.forget_preferences(private(BEN), BEN, [row.id]) == []
    [gone] = await store.forget_preferences(private(ADA), ADA, [row.id])
    assert gone.pattern == "puns"
    assert await of_ada(store) == []
    assert await store.recall_preferences(private(BEN), BEN, [gone.decision_id]) == 0
    assert await store.recall_preferences(private(ADA), ADA, [gone.decision_id]) == 1
    [row] = await of_ada(store)
    [gone] = await store.forget_preferences(private(ADA), ADA, [row.id])
    await said(store, "puns")
    assert await store.recall_preferences(private(ADA), ADA, [gone.decision_id]) == 0, "something new was said since"
    assert [row.observations for row in await of_ada(store)] == [1]


async def test_all_are_forgotten_with_their_number(house: House, store: Store) -> None:
    await said(store, "puns")
    await said(store, "charts")
    assert await store.reset_preferences(private(ADA), ADA, 1) is None
    assert await store.reset_preferences(private(ADA), ADA, 2) == 2
    assert await of_ada(store) == []


async def test_where_a_preference_comes_from(house: House, store: Store) -> None:
    turn = (await house.exchange(ADA, "Hello", "A long answer", chat_id=GROUP)).turn.turn_id
    about: Json = {"kind": "tag", "about": {"turn_id": turn}, "value": {}, "source": "button"}
    act = about | {"observations": [{"weight": 0.3, "reinforcing": 1, **SHORT}]}
    await store.feedback(group(), GROUP, 0, ADA, act)
    [row] = (await store.preferences(group(), GROUP, 0, ADA)).rows
    found = await store.preference_source(group(), ADA, row.id)
    assert found is not None
    assert (found.total, found.evidence[0].text, found.evidence[0].kind) == (1, "A long answer", "tag")
    assert await store.preference_source(private(ADA), ADA, row.id) is None


async def test_what_taught_a_preference_is_gone_with_the_answer(house: House, store: Store, sql: Sql) -> None:
    turn = (await house.exchange(ADA, "Hello")).turn.turn_id
    await tagged(store, turn, {**SHORT, "pattern": "zebra crossings"})
    assert len(await of_ada(store)) == 1
    await sql("select relay.erase_messages(space_id, array[id]) from message where role = 'assistant'")
    assert await of_ada(store) == []
    assert await sql("select count(*) from feedback") == [(0,)]
    assert await sql("select count(*) from observation") == [(0,)]


async def test_an_export_brings_preferences_back(house: House, store: Store, sql: Sql, tmp_path: Path) -> None:
    for number in range(3):
        await tagged(store, (await house.exchange(ADA, f"Question {number}")).turn.turn_id, SHORT)
    await said(store, "puns")
    await said(store, "charts", -1)
    [gone] = await store.forget_preferences(private(ADA), ADA, [(await of_ada(store))[0].id])
    before = [(row.pattern, row.polarity, row.strength, row.level) for row in await of_ada(store)]
    path = tmp_path / "relay-export.jsonl"
    path.write_bytes(b"".join([line(row) async for page in pages(store, private(ADA), "1") for row in page]))
    await sql("truncate feedback, observation, preference, preference_decision")
    for _ in range(2):
        again = Import(store, check(path))
        await again.run()
    assert again.added["feedback"] == 0, "each row is added once"
    assert [(row.pattern, row.polarity, row.strength, row.level) for row in await of_ada(store)] == before
    assert len(before) == 2
    assert gone.pattern not in [pattern for pattern, *_ in before]
    await sql("select relay.erase_messages(space_id, array[id]) from message where role = 'assistant'")
    assert "short answers" not in [row.pattern for row in await of_ada(store)], (
        "its answers are known after an import too"
    )


async def test_erasing_a_word_takes_what_was_said_with_it(house: House, store: Store, sql: Sql) -> None:
    await house.exchange(ADA, "I keep zebras")
    await said(store, "zebra puns")
    await said(store, "charts")
    shown = await store.erase_preview(private(ADA), {"words": "zebra"}, ADA, False)
    assert shown is not None
    assert await store.erase_begin(shown.erasure_id, ADA, False)
    while not (step := await store.erase_step(shown.erasure_id)) or not step.done:
        pass
    assert [row.pattern for row in await of_ada(store)] == ["charts"]
    assert await sql("select count(*) from preference_decision where pattern like '%zebra%'") == [(0,)]


async def test_a_group_that_becomes_a_supergroup_keeps_its_preferences(house: House, store: Store) -> None:
    old, new = -555, -1000000000555
    where: Json = {"topic_id": 0, "user_id": ADA}
    await house.exchange(ADA, "Hello", chat_id=old)
    await said(store, "puns", space=group(old), chat_id=old, **where)
    await house.exchange(ADA, "Hello again", chat_id=new)
    await said(store, "charts", space=group(new), chat_id=new, **where)
    await store.regroup(BOT.id, old, new)
    rows = (await store.preferences(group(new), new, 0, ADA)).rows
    assert {row.pattern for row in rows} == {"puns", "charts"}


async def test_why_shows_what_an_answer_was_to_follow(house: House, store: Store) -> None:
    await said(store, "puns")
    turn = await house.turn(ADA, "Hello")
    incoming = incoming_of(turn, "Hello", private(ADA))
    context = await store.begin(incoming, "model-1")
    record = {"preferences": [context.preferences[0].id], "preference_notes": []}
    await store.finish(incoming, reply("Hi") | {"prompt": {"soul": 1} | record})
    found = await store.why(turn.turn_id, ADA)
    assert found is not None
    assert [row.pattern for row in found.preferences] == ["puns"]
    other = await store.why(turn.turn_id, BEN)
    assert other is not None
    assert other.preferences == (), "nobody else's"


async def test_lent_memory_brings_its_owners_preferences_along(house: House, store: Store) -> None:
    await said(store, "puns")
    await said(store, "charts")
    await said(store, "charts", -1, space=group(), chat_id=GROUP)
    turn = await house.turn(ADA, "Hello", chat_id=GROUP)
    incoming = incoming_of(turn, "Hello", group())
    assert [row.pattern for row in (await store.begin(incoming, "m")).preferences] == ["charts"]
    context = await store.begin(replace(incoming, lent=private(ADA)), "m")
    assert [(row.pattern, row.polarity) for row in context.preferences] == [("puns", 1), ("charts", -1)]
    prompt = build_prompt(incoming, context, [], UTC)
    assert "HOW Ada LIKES ANSWERS" in str(prompt.messages[-1])
    assert "LIKES ANSWERS" not in str(prompt.system), "in a group it is nobody else's"
    assert prompt.new_preferences == (), "nor is it told there"


async def test_what_another_version_folded_is_folded_again_by_the_daily_cleanup(
    house: House, store: Store, sql: Sql
) -> None:
    await said(store, "puns")
    await sql("update preference set fold_version = 0, strength = 0.1, level = 0")
    await tidy(store)
    assert [(row.strength, row.level) for row in await of_ada(store)] == [(0.8, "high")]
