"""Tests what people say about answers, and the effect on the next answer."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC
from pathlib import Path
from typing import Any

from relay.archive.export import line, pages
from relay.archive.imports import Import, check
from relay.archive.readable.text import Readable
from relay.conversation.prompt import build_prompt
from relay.core.models import Space, Thread
from relay.jobs.night import tidy
from relay.memory.rows.turns.preferences import FeedbackResult, Preference
from relay.memory.store import Store
from tests.integration.conftest import Sql
from tests.integration.dump import holding
from tests.integration.test_erase_sql import erase
from tests.integration.turn_driver import ADA, BEN, BOT, GROUP, Json, TurnDriver, dm, group, incoming_of, private, reply

KEY = "sk-" + "ant4Secret5Key6" * 2
SHORT = {"type": "length", "pattern": "short answers", "polarity": 1}


async def tagged(store: Store, turn_id: int, *observed: Json, user_id: int = ADA, **more: Any) -> FeedbackResult:
    act = {
        "kind": "tag",
        "about": {"turn_id": turn_id},
        "value": {"tags": [one["pattern"] for one in observed]},
        "source": "command",
        "observations": [{"weight": 0.3, "reinforcing": 1, **one} for one in observed],
    } | more
    return await store.feedback(dm(user_id), user_id, act)


async def said(
    store: Store, pattern: str, polarity: int = 1, at: Thread | None = None, user_id: int = ADA
) -> FeedbackResult:
    act = {
        "kind": "said",
        "about": None,
        "value": {"pattern": pattern, "polarity": polarity},
        "source": "command",
        "observations": [{"type": "other", "pattern": pattern, "polarity": polarity, "weight": 1.6, "reinforcing": 2}],
    }
    return await store.feedback(at or dm(ADA), user_id, act)


async def shown(driver: TurnDriver, text: str = "And now?", **where: Any) -> list[tuple[str, int, str]]:
    """Returns the preferences in the next turn's prompt."""
    exchange = await driver.exchange(ADA, text, **where)
    return [(row.pattern, row.polarity, row.level) for row in exchange.context.preferences]


async def of_ada(store: Store, **where: Any) -> list[Preference]:
    return list((await store.preferences(dm(ADA), ADA)).rows)


async def test_three_answers_with_the_same_tag_make_a_preference(driver: TurnDriver, store: Store) -> None:
    for number in range(3):
        turn = (await driver.exchange(ADA, f"Question {number}")).turn.turn_id
        done = await tagged(store, turn, SHORT)
        assert [row.pattern for row in done.acts] == (["short answers"] if number == 2 else [])
        again = await tagged(store, turn, SHORT)
        assert again.id == done.id, "the same act within half a minute must count once"
    assert await shown(driver) == [("short answers", 1, "medium")]
    assert [(row.strength, row.observations) for row in await of_ada(store)] == [(0.45, 3)]


async def test_a_pattern_counts_once_per_answer(driver: TurnDriver, store: Store, sql: Sql) -> None:
    turn = (await driver.exchange(ADA, "Hello")).turn.turn_id
    for _ in range(3):
        await tagged(store, turn, SHORT)
        await sql("update feedback set settles_at = now() - interval '1 hour'")
    assert [row.observations for row in await of_ada(store)] == [1]
    assert await sql("select count(*) from feedback") == [(3,)]


async def test_a_stated_preference_takes_effect_and_is_reversed_at_once(driver: TurnDriver, store: Store) -> None:
    assert [row.level for row in (await said(store, "puns")).acts] == ["high"]
    assert await shown(driver) == [("puns", 1, "high")]
    await said(store, "puns", -1)
    assert await shown(driver) == [("puns", -1, "high")]


async def test_a_preference_learned_again_after_it_was_put_away_is_announced_again(store: Store, sql: Sql) -> None:
    news = [[one.new for one in (await said(store, "bullet points")).acts] for _ in range(2)]
    assert news == [[True], [False]]
    await sql("update observation set at = at - interval '181 days'")
    await sql("update preference_decision set at = at - interval '181 days'")
    news = [[one.new for one in (await said(store, "bullet points")).acts] for _ in range(2)]
    assert news == [[True], [False]]


async def test_only_the_person_who_asked_can_teach(driver: TurnDriver, store: Store) -> None:
    turn = (await driver.exchange(ADA, "Hello", chat_id=GROUP)).turn.turn_id
    act: Json = {"kind": "tag", "about": {"turn_id": turn}, "value": {}, "source": "button", "observations": []}
    assert (await store.feedback(Thread(group(), GROUP, 0), BEN, act)).refused == "unknown"
    assert (await store.feedback(Thread(group(), GROUP, 0), ADA, act)).refused is None
    assert (await tagged(store, turn, SHORT)).refused == "unknown", "the answer belongs to another space"
    assert (await tagged(store, 10**9, SHORT)).refused == "unknown"


async def test_other_peoples_preferences_are_not_shown(driver: TurnDriver, store: Store) -> None:
    await said(store, "puns")
    await driver.exchange(BEN, "Hello")
    context = (await driver.exchange(BEN, "And now?")).context
    assert context.preferences == ()
    assert await shown(driver, chat_id=GROUP) == [], "personal preferences must not be used in a group"
    await said(store, "charts", at=Thread(group(), GROUP, 0))
    assert await shown(driver, chat_id=GROUP) == [("charts", 1, "high")]
    assert await shown(driver) == [("puns", 1, "high")]


async def test_preferences_rest_while_off_paused_ignored_here_or_off_the_record(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    turn = (await driver.exchange(ADA, "Hello")).turn.turn_id
    await said(store, "puns")
    for change, back, why in [
        ({"preferences": "off"}, {"preferences": "on"}, "off"),
        ({"paused_until": "2999-01-01T00:00:00Z"}, {"paused_until": None}, "paused"),
    ]:
        await store.preference_control(dm(ADA), ADA, change)
        assert (await tagged(store, turn, SHORT)).refused == why
        assert await shown(driver) == []
        await store.preference_control(dm(ADA), ADA, back)
        assert await shown(driver) == [("puns", 1, "high")]
    await store.preference_control(dm(ADA), ADA, {"here": "quiet"})
    assert (await tagged(store, turn, SHORT)).refused == "here"
    assert await shown(driver) == [("puns", 1, "high")], "a quiet place teaches nothing but still uses preferences"
    await store.preference_control(dm(ADA), ADA, {"here": "ignore"})
    assert await shown(driver) == []
    await store.preference_control(dm(ADA), ADA, {"here": "use"})
    await store.private(dm(ADA), True, ADA, True)
    assert (await said(store, "charts")).refused == "private"
    assert await shown(driver) == []
    assert await sql("select count(*) from feedback") == [(1,)]


async def test_a_command_off_the_record_teaches_nothing_about_an_earlier_answer(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    turn = (await driver.exchange(ADA, "Hello")).turn.turn_id
    await store.private(dm(ADA), True, ADA, True)
    by = (await driver.turn(ADA, "/tag too long")).turn_id
    assert (await tagged(store, turn, SHORT, by=by)).refused == "private"
    assert await sql("select count(*) from feedback") == [(0,)]


async def test_a_thread_with_its_own_preferences_keeps_them(driver: TurnDriver, store: Store) -> None:
    await said(store, "puns")
    await driver.exchange(ADA, "Hello", topic_id=5)
    await store.preference_control(dm(ADA, 5), ADA, {"here": "own"})
    await said(store, "puns", -1, at=dm(ADA, 5))
    context = (await driver.exchange(ADA, "And now?", topic_id=5)).context
    assert 0 < context.preference_seconds < 5
    rows = context.preferences
    assert [(row.pattern, row.polarity, row.here) for row in rows] == [("puns", 1, False), ("puns", -1, True)]
    assert await shown(driver) == [("puns", 1, "high")]


async def test_a_forgotten_preference_stays_forgotten_until_it_is_stated_again(
    driver: TurnDriver, store: Store
) -> None:
    await said(store, "puns")
    [row] = await of_ada(store)
    assert await store.forget_preferences(private(BEN), BEN, [row.id]) == []
    [gone] = await store.forget_preferences(private(ADA), ADA, [row.id])
    assert (gone.pattern, gone.polarity) == ("puns", 1)
    assert await of_ada(store) == []
    assert await store.recall_preferences(private(BEN), BEN, [gone.decision_id]) == 0
    assert await store.recall_preferences(private(ADA), ADA, [gone.decision_id]) == 1
    [row] = await of_ada(store)
    [gone] = await store.forget_preferences(private(ADA), ADA, [row.id])
    await said(store, "puns")
    assert await store.recall_preferences(private(ADA), ADA, [gone.decision_id]) == 0, (
        "a newer statement was made since"
    )
    assert [row.observations for row in await of_ada(store)] == [1]


async def test_resetting_preferences_requires_their_number(driver: TurnDriver, store: Store) -> None:
    await said(store, "puns")
    await said(store, "charts")
    assert await store.reset_preferences(private(ADA), ADA, 1) is None
    assert await store.reset_preferences(private(ADA), ADA, 2) == 2
    assert await of_ada(store) == []


async def test_a_preference_shows_the_answer_it_comes_from(driver: TurnDriver, store: Store) -> None:
    turn = (await driver.exchange(ADA, "Hello", "A long answer", chat_id=GROUP)).turn.turn_id
    about: Json = {"kind": "tag", "about": {"turn_id": turn}, "value": {}, "source": "button"}
    act = about | {"observations": [{"weight": 0.3, "reinforcing": 1, **SHORT}]}
    await store.feedback(Thread(group(), GROUP, 0), ADA, act)
    [row] = (await store.preferences(Thread(group(), GROUP, 0), ADA)).rows
    found = await store.preference_source(group(), ADA, row.id)
    assert found is not None
    assert (found.total, found.evidence[0].text, found.evidence[0].kind) == (1, "A long answer", "tag")
    assert await store.preference_source(private(ADA), ADA, row.id) is None


async def test_a_preference_is_deleted_with_the_answer_that_taught_it(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    turn = (await driver.exchange(ADA, "Hello")).turn.turn_id
    await tagged(store, turn, {**SHORT, "pattern": "zebra crossings"})
    assert len(await of_ada(store)) == 1
    await sql("select relay.erase_messages(space_id, array[id]) from message where role = 'assistant'")
    assert await of_ada(store) == []
    assert await sql("select count(*) from feedback") == [(0,)]
    assert await sql("select count(*) from observation") == [(0,)]


async def test_an_export_restores_preferences(driver: TurnDriver, store: Store, sql: Sql, tmp_path: Path) -> None:
    for number in range(3):
        await tagged(store, (await driver.exchange(ADA, f"Question {number}")).turn.turn_id, SHORT)
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
    assert again.added["feedback"] == 0, "each row may be added only once"
    assert [(row.pattern, row.polarity, row.strength, row.level) for row in await of_ada(store)] == before
    assert len(before) == 2
    assert gone.pattern not in [pattern for pattern, *_ in before]
    await sql("select relay.erase_messages(space_id, array[id]) from message where role = 'assistant'")
    assert "short answers" not in [row.pattern for row in await of_ada(store)], (
        "the answers that taught it must be known after an import too"
    )


async def test_a_pending_observation_is_still_pending_after_an_import(
    driver: TurnDriver, store: Store, sql: Sql, tmp_path: Path
) -> None:
    await tagged(store, (await driver.exchange(ADA, "Hello")).turn.turn_id, SHORT)
    await sql("update observation set pending = true")
    path = tmp_path / "relay-export.jsonl"
    path.write_bytes(b"".join([line(row) async for page in pages(store, private(ADA), "1") for row in page]))
    await sql("truncate feedback, observation, preference")
    await Import(store, check(path)).run()
    assert (await store.preferences(dm(ADA), ADA)).waiting == 1


async def readable(store: Store, space: Space) -> str:
    text = Readable("Ada's", UTC)
    return "".join([text.add(page) async for page in pages(store, space, "1")]) + text.end()


async def test_the_readable_export_lists_preferences_and_what_taught_them(driver: TurnDriver, store: Store) -> None:
    assert "likes answers" not in await readable(store, private(ADA))
    for number in range(3):
        turn = (await driver.exchange(ADA, f"Question {number}", f"Answer {number}, my key is {KEY}")).turn.turn_id
        await tagged(store, turn, SHORT)
    await tagged(store, turn, {**SHORT, "pattern": "tables"})
    await said(store, "puns", -1)
    await said(store, "puns", -1)
    await said(store, "puns")
    text = await readable(store, private(ADA))
    assert KEY not in text
    about, _, rest = text.partition("\n## How you like answers\n")[2].partition("\n## ")
    assert [line for line in about.splitlines() if not line.startswith("  ")] == [
        "", "### Prefer", "", "- puns (high)", "- short answers (medium)", "- tables (low: not sure yet)",
        "", "### Avoid", "", "- puns (retired)",
    ]  # fmt: skip
    assert re.search(r"- short answers.*\n  - from a tag \(20\d\d-.*\): “Answer 2, my key is \[redacted\]”\n", about)
    assert re.search(r"- puns \(high\)\n  - from saying so \(20\d\d-.*\)\n  - against it: saying so", about)
    assert rest.startswith("Private chat"), "the section must come before the conversations"


async def test_a_groups_export_names_the_person_of_each_preference(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await sql("insert into person (user_id, bot_id, name, role) values (%s, 1, 'Ada', 'user')", ADA)
    await driver.exchange(ADA, "Hello", chat_id=GROUP)
    await said(store, "charts", at=Thread(group(), GROUP, 0))
    await said(store, "puns")
    text = await readable(store, group())
    assert "## How Ada likes answers\n\n### Prefer\n\n- charts (high)\n" in text
    assert "puns" not in text, "Ada's personal preferences must not be in it"


async def test_a_persons_better_version_of_an_answer_is_exported_without_secrets(
    driver: TurnDriver, store: Store
) -> None:
    turn = (await driver.exchange(ADA, "Hello")).turn.turn_id
    act = {"kind": "refine", "about": {"turn_id": turn}, "value": {"text": f"Say {KEY}"}, "source": "command"}
    await store.feedback(dm(ADA), ADA, act)
    [row] = [row async for page in pages(store, private(ADA), "1") for row in page if row.get("type") == "feedback"]
    assert row["value"] == {"text": "Say [redacted]"}


async def test_erasing_a_word_erases_preferences_with_that_word(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await driver.exchange(ADA, "I keep zebras")
    await said(store, "zebra puns")
    await said(store, "charts")
    await erase(store, private(ADA), {"words": "zebra"})
    assert [row.pattern for row in await of_ada(store)] == ["charts"]
    assert await sql("select count(*) from preference_decision where pattern like '%zebra%'") == [(0,)]


async def test_an_erasure_reports_the_preferences_erased_with_the_answers(driver: TurnDriver, store: Store) -> None:
    for number in range(3):
        turn = (await driver.exchange(ADA, f"Zebra {number}", f"Answer {number}")).turn.turn_id
        await tagged(store, turn, SHORT, {**SHORT, "pattern": "tables"})
    await tagged(store, (await driver.exchange(ADA, "And now?")).turn.turn_id, SHORT)
    shown = await erase(store, private(ADA), {"words": "zebra"})
    assert (shown.counts.messages, shown.counts.feedback, shown.counts.preferences) == (3, 3, 1)
    assert shown.preferences == ("tables",), "the other preference has another observation"
    step = await store.erase_step(shown.erasure_id)
    assert step is not None
    assert (step.counts.feedback, step.counts.preferences) == (3, 1)
    assert [(row.pattern, row.observations) for row in await of_ada(store)] == [("short answers", 1)]


async def test_a_preference_is_erased_even_if_no_message_mentions_it(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await driver.exchange(ADA, "Hello")
    await said(store, "zebra puns")
    await said(store, "stripes")
    [forgotten] = await store.forget_preferences(private(ADA), ADA, [(await of_ada(store))[1].id])
    await sql("delete from feedback where value ->> 'pattern' = 'stripes'")
    shown = await erase(store, private(ADA), {"words": "zebra puns"})
    assert (shown.counts.feedback, shown.counts.preferences, shown.preferences) == (1, 1, ("zebra puns",))
    await driver.exchange(ADA, "Nice stripes")
    await erase(store, private(ADA), {"words": forgotten.pattern})
    assert await holding(sql, "zebra", "stripes") == {}, "decisions about it must be erased too"


async def test_an_erasure_does_not_match_the_field_names_of_preferences(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    turn = (await driver.exchange(ADA, "Hello")).turn.turn_id
    await tagged(store, turn, SHORT, source="button")
    await said(store, "puns")
    await sql(
        "select public.relay_enqueue(1, jsonb_build_array(jsonb_build_object('chat_id', 1, 'topic_id', 0, 'user_id', 1,"
        " 'space_id', (select id from space), 'payload', jsonb_build_object('text', 'Hi'))))"
    )
    for word in ("pattern", "button", "source", "text", "value"):
        await driver.exchange(ADA, f"My {word}")
        await erase(store, private(ADA), {"words": word})
    assert [row.pattern for row in await of_ada(store)] == ["puns", "short answers"]
    assert await sql("select count(*) from outbox where request ->> 'text' = 'Hi'") == [(1,)]


async def test_in_a_group_nobody_can_erase_other_peoples_preferences(driver: TurnDriver, store: Store) -> None:
    await driver.exchange(ADA, "Zebras", chat_id=GROUP)
    for person in (ADA, BEN):
        await said(store, "zebra puns", at=Thread(group(), GROUP, 0), user_id=person)
    shown = await erase(store, group(), {"words": "zebra"}, BEN)
    assert (shown.counts.messages, shown.counts.feedback, shown.counts.preferences) == (0, 1, 1)
    assert (await store.preferences(Thread(group(), GROUP, 0), BEN)).rows == ()
    assert [row.pattern for row in (await store.preferences(Thread(group(), GROUP, 0), ADA)).rows] == ["zebra puns"]


async def test_a_group_that_becomes_a_supergroup_keeps_its_preferences(driver: TurnDriver, store: Store) -> None:
    old, new = -555, -1000000000555
    await driver.exchange(ADA, "Hello", chat_id=old)
    await said(store, "puns", at=Thread(group(old), old, 0))
    await driver.exchange(ADA, "Hello again", chat_id=new)
    await said(store, "charts", at=Thread(group(new), new, 0))
    await store.regroup(BOT.id, old, new)
    rows = (await store.preferences(Thread(group(new), new, 0), ADA)).rows
    assert {row.pattern for row in rows} == {"puns", "charts"}


async def test_why_shows_the_preferences_an_answer_was_to_follow(driver: TurnDriver, store: Store) -> None:
    await said(store, "puns")
    turn = await driver.turn(ADA, "Hello")
    incoming = incoming_of(turn, "Hello", private(ADA))
    context = await store.begin(incoming, "model-1")
    record = {"preferences": [context.preferences[0].id], "preference_notes": []}
    await store.finish(incoming, reply("Hi") | {"prompt": {"soul": 1} | record})
    found = await store.explain(turn.turn_id, ADA)
    assert found is not None
    assert [row.pattern for row in found.preferences] == ["puns"]
    other = await store.explain(turn.turn_id, BEN)
    assert other is not None
    assert other.preferences == (), "another person's preferences must not be shown"


async def test_lent_memory_includes_its_owners_preferences(driver: TurnDriver, store: Store) -> None:
    await said(store, "puns")
    await said(store, "charts")
    await said(store, "charts", -1, at=Thread(group(), GROUP, 0))
    turn = await driver.turn(ADA, "Hello", chat_id=GROUP)
    incoming = incoming_of(turn, "Hello", group())
    assert [row.pattern for row in (await store.begin(incoming, "m")).preferences] == ["charts"]
    context = await store.begin(replace(incoming, lent=private(ADA)), "m")
    assert [(row.pattern, row.polarity) for row in context.preferences] == [("puns", 1), ("charts", -1)]
    prompt = build_prompt(incoming, context, [], UTC)
    assert "HOW Ada LIKES ANSWERS" in str(prompt.messages[-1])
    assert "LIKES ANSWERS" not in str(prompt.system), "personal preferences must not be in a group's system prompt"
    assert prompt.new_preferences == (), "a new preference must not be announced in a group"


async def test_preferences_of_another_version_are_recomputed_by_the_daily_cleanup(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await said(store, "puns")
    await sql("update preference set fold_version = 0, strength = 0.1, level = 0")
    await tidy(store)
    assert [(row.strength, row.level) for row in await of_ada(store)] == [(0.8, "high")]


async def test_of_more_than_a_thousand_preferences_those_unused_for_longest_are_dropped_until_taught_again(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    one = await driver.exchange(ADA, "Hello")
    await tagged(store, one.turn.turn_id, SHORT)
    await said(store, "tables")
    await sql("update preference set used_at = now() - interval '1 year'")
    await sql(
        "insert into preference (space_id, user_id, thread_id, type, pattern, polarity, strength, level, status,"
        " reinforced, observations, sessions, last_seen, fold_version)"
        " select space_id, user_id, thread_id, type, 'pattern ' || n, polarity, strength, level, status,"
        " reinforced, observations, sessions, last_seen, fold_version"
        " from preference, generate_series(1, 999) n where pattern = 'tables'"
    )
    two = await driver.exchange(ADA, "And now?")
    await sql(
        "update turn set prompt = coalesce(prompt, '{}') || jsonb_build_object('preferences',"
        " (select jsonb_agg(id) from preference where pattern = 'tables')) where id = %s",
        two.turn.turn_id,
    )
    await store.begin_night()
    kept = {pattern for (pattern,) in await sql("select pattern from preference")}
    assert len(kept) == 1000
    assert "tables" in kept
    assert "short answers" not in kept
    await tagged(store, two.turn.turn_id, SHORT)
    assert await sql("select observations from preference where pattern = 'short answers'") == [(2,)]
