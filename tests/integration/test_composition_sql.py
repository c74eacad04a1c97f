"""Tests compositions: parts within a budget, versions that are made first, use in a new session, and refusals."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from relay.core.models import Thread
from relay.memory.contexts.composed import as_markdown
from relay.memory.rows.contexts.composition import ComposeRequest, Composition, CompositionPlan, PartAsked, Refusal
from relay.memory.rows.sessions import SessionEnd
from relay.memory.store import Store
from relay.surfaces.chat.contexts.compose import plan_line
from relay.surfaces.chat.contexts.composition import composed_page
from relay.surfaces.chat.memory.erase import began_line
from tests.integration.conftest import Sql
from tests.integration.turn_driver import ADA, BEN, BOT, GROUP, TurnDriver, dm, group, incoming_of, private, send_queued
from tests.standins.fakes import FakeMessenger

HERE: dict[str, Any] = {"chat_id": ADA, "topic_id": 0, "bot_id": BOT.id, "zone": "Europe/Berlin"}
READY = """update compression set status = 'ready', output_tokens = %s, output_messages = 2, ratio = 10,
    name = name || '_uniform-moderate_1k', rows = %s::jsonb where id = %s"""
INSERT = """insert into compression (space_id, thread_id, session_id, number, name, settings, output_tokens,
    output_messages, ratio, status, rows, tainted, created_by)
    select space_id, thread_id, id, %s, %s, '{}', %s, 3, 10, 'ready', %s::jsonb, %s, 7 from session where id = %s
    returning id"""

MARKED = "My plan: ##keepit0.80## tomatoes##/keepit##, and beans elsewhere"


def rows(*texts: str) -> str:
    at = "2026-01-15T10:00:00Z"
    return json.dumps([{"role": "user", "text": text, "at": at, "from": 1, "through": 2} for text in texts])


async def sessions(driver: TurnDriver, sql: Sql, *sizes: int, topic_id: int = 0, user: int = ADA) -> list[int]:
    """Makes ended sessions of about these sizes in tokens, oldest first, and an empty running one."""
    made: list[int] = []
    for number, size in enumerate(sizes):
        said = await driver.exchange(user, f"word{number} ", "Yes.", topic_id=topic_id)
        longer = "update message set text = text || repeat('x', %s) where id = %s returning session_id"
        [(session,)] = await sql(longer, 4 * size - 12, said.context.message_id)
        await sql("update session set title = %s where id = %s", f"Plan {number}", session)
        await driver.store.new_session(dm(user, topic_id), "")
        made.append(session)
    return made


def request(*parts: int | tuple[int, PartAsked], name: str = "garden", **more: Any) -> ComposeRequest:
    asked = tuple(part if isinstance(part, tuple) else (part, PartAsked()) for part in parts)
    return ComposeRequest(name, asked, **more)


async def compose(store: Store, wanted: ComposeRequest, where: Mapping[str, object] = HERE) -> Composition:
    made = await store.compose(private(ADA), ADA, wanted.as_json() | dict(where))
    assert isinstance(made, Composition), made
    return made


async def refused(store: Store, wanted: ComposeRequest, where: Mapping[str, object] = HERE) -> str:
    made = await store.compose(private(ADA), ADA, wanted.as_json() | dict(where))
    assert isinstance(made, Refusal), made
    return made.refused


async def opened(store: Store, one: Composition) -> Composition:
    found = await store.composition(private(ADA), {"id": one.id}, rows=True)
    assert found is not None
    return found


async def erase_first(sql: Sql, session: int) -> list[str]:
    """Erases the artefacts made from a session's first message, and returns what was erased."""
    [(space, message)] = await sql("select space_id, min(id) from message where session_id = %s group by 1", session)
    [(gone,)] = await sql(
        "select relay.erase_artefacts(%s, array['message:' || %s], '[]', %s, false)", space, message, ADA
    )
    return list(gone)


@pytest.fixture
def driver(store: Store) -> TurnDriver:
    return TurnDriver(store)


async def test_a_budget_is_divided_over_a_long_a_medium_and_a_short_session(driver: TurnDriver, sql: Sql) -> None:
    ids = await sessions(driver, sql, 100_234, 45_000, 4_000)
    made = await compose(driver.store, request(*ids))
    assert [part.allocation for part in made.parts] == [6_000, 6_000, 4_000]
    assert [part.version for part in made.parts] == ["v001", "v001", "original"]
    assert (made.status, made.total_tokens) == ("making", None)
    settings = [one for (one,) in await sql("select settings from compression order by id")]
    assert [(one["mode"], one["compactionRatio"], one["aggressiveness"]) for one in settings] == [
        ("uniform", 17, "moderate"), ("uniform", 8, "moderate"),
    ]  # fmt: skip
    assert [one["sessionDistance"] for one in settings] == [3, 2]
    assert await sql("select key from job where kind = 'compression' order by id") == [("1",), ("2",)]
    assert await sql("select count(*) from session where registered_at is not null") == [(3,)]


async def test_a_composition_is_ready_when_its_last_version_is(driver: TurnDriver, sql: Sql) -> None:
    ids = await sessions(driver, sql, 100_234, 45_000, 4_000)
    made = await compose(driver.store, request(*ids))
    [(first,), (second,)] = await sql("select id from compression order by id")
    await sql(READY, 5_900, rows("a long one, short"), first)
    await sql("select relay.finish_compositions(%s)", first)
    assert (await opened(driver.store, made)).status == "making"
    assert await sql("select count(*) from outbox where not_before is not null") == [(0,)]
    await sql(READY, 5_600, rows("a middling one", "in two rows"), second)
    await sql("select relay.finish_compositions(%s)", second)
    await sql("select relay.finish_compositions(%s)", second)
    ready = await opened(driver.store, made)
    assert (ready.status, ready.total_messages) == ("ready", 6)
    assert ready.total_tokens is not None
    assert 15_450 < ready.total_tokens <= 15_500
    assert ready.rows is not None
    headings = [row.text for row in ready.rows if row.role == "heading"]
    day = ready.rows[0].at.astimezone(ZoneInfo(HERE["zone"])).date()
    assert [one.removeprefix(f"From {day}, ") for one in headings] == [
        "‘Plan 0’, v001", "‘Plan 1’, v001", "‘Plan 2’, original",
    ]  # fmt: skip
    assert [row.text[:15] for row in ready.rows if row.role != "heading"] == [
        "a long one, sho", "a middling one", "in two rows", "word2 xxxxxxxxx", "Yes.",
    ]  # fmt: skip
    assert [part.version for part in ready.parts] == ["v001_uniform-moderate_1k"] * 2 + ["original"]
    [(told, keys)] = await sql("select count(*), array_agg(request) from outbox where not_before is not null")
    assert (told, keys) == (1, [{"composition_id": made.id}])


async def test_a_composition_that_was_dropped_meanwhile_is_not_announced(driver: TurnDriver, sql: Sql) -> None:
    (one,) = await sessions(driver, sql, 50_000)
    made = await compose(driver.store, request(one))
    await driver.store.drop_composition(private(ADA), made.id)
    await sql(READY, 5_000, rows("it is dropped"), 1)
    await sql("select relay.finish_compositions(1)")
    assert await sql("select count(*) from outbox where not_before is not null") == [(0,)]


async def test_the_specified_allocations_are_exact(driver: TurnDriver, sql: Sql) -> None:
    ids = await sessions(driver, sql, 3_000, 8_000, 5_000)
    given = (3_000, 8_000, 5_000)
    asked = [(one, PartAsked(allocation=tokens)) for one, tokens in zip(ids, given, strict=True)]
    made = await compose(driver.store, request(*asked))
    assert [part.allocation for part in made.parts] == [3_000, 8_000, 5_000]
    assert (made.status, [part.version for part in made.parts]) == ("ready", ["original"] * 3)
    assert made.total_tokens is not None
    assert made.total_tokens <= 16_000


@pytest.mark.parametrize(
    ("strategy", "shares"), [("recency", [2_000, 4_000, 6_000]), ("proportional", [3_000, 6_000, 3_000])]
)
async def test_other_strategies_divide_the_budget_as_specified(
    driver: TurnDriver, sql: Sql, strategy: Any, shares: list[int]
) -> None:
    ids = await sessions(driver, sql, 20_000, 40_000, 20_000)
    made = await compose(driver.store, request(*ids, budget=12_000, strategy=strategy))
    assert [part.allocation for part in made.parts] == shares


async def test_a_part_uses_a_named_a_chosen_or_a_new_version(driver: TurnDriver, sql: Sql) -> None:
    one, two, three = await sessions(driver, sql, 50_000, 50_000, 50_000)
    for session in (one, two):
        await sql(INSERT, 1, "v001_tiered-standard_4k", 4_000, rows("four"), False, session)
        await sql(INSERT, 2, "v002_uniform-aggressive_1k", 1_000, rows("one"), True, session)
    recompress = {"mode": "uniform", "compactionRatio": 40, "aggressiveness": "aggressive"}
    wanted = request((one, PartAsked("v002")), two, (three, PartAsked(recompress=recompress)))
    made = await compose(driver.store, wanted)
    assert [(part.version.split("_")[0], part.allocation, part.reason) for part in made.parts] == [
        ("v002", 1_000, "asked"), ("v001", 7_500, "best"), ("v001", 7_500, "asked"),
    ]  # fmt: skip
    [(settings,)] = await sql("select settings from compression where status = 'due'")
    assert settings == recompress | {"sessionDistance": 1}
    waiting = await opened(driver.store, made)
    assert (waiting.status, [part.tokens for part in waiting.parts]) == ("making", [1_000, 4_000, None])
    ready = await compose(driver.store, request((one, PartAsked("2")), (two, PartAsked("v001")), name="other"))
    assert (ready.status, ready.total_tokens, ready.tainted) == ("ready", 5_000, True)


async def test_a_chosen_version_says_what_it_lacks(driver: TurnDriver, sql: Sql) -> None:
    """Somebody chose the version. Chosen by itself, one that lacks a change would not be used."""
    (one,) = await sessions(driver, sql, 50_000)
    await sql(INSERT, 1, "v001_tiered-standard_4k", 4_000, rows("the code is 1111"), False, one)
    [(said,)] = await sql("select min(id) from message where session_id = %s", one)
    await sql("update compression set through_message_id = %s, inputs = array['message:' || %s]", said, said)
    named = request((one, PartAsked("v001")), name="named")
    made = await compose(driver.store, named)
    assert "v001, 4,000 tokens, without 1 message since" in composed_page(made).text
    await sql(
        "insert into message_version (message_id, text, blocks, untrusted) values (%s, '1111', '[]', false)", said
    )
    again = await compose(driver.store, replace(named, replaces=made.id))
    assert (again.status, again.parts[0].version) == ("ready", "v001_tiered-standard_4k")
    assert again.parts[0].since.told == "1 message and 1 change"
    plan = await driver.store.plan_composition(private(ADA), named)
    assert isinstance(plan, CompositionPlan)
    assert plan_line(plan.parts[0]) == "Plan 0 · v001, 4,000 – as you chose, without 1 message and 1 change since"
    assert (await compose(driver.store, request(one))).parts[0].reason == "new"


async def test_a_composition_over_budget_is_stored_but_unusable_until_changed(driver: TurnDriver, sql: Sql) -> None:
    (one, two) = await sessions(driver, sql, 3_000, 5_000)
    whole = [(one, PartAsked("original")), (two, PartAsked("original"))]
    made = await compose(driver.store, request(*whole, budget=4_000))
    assert (made.status, made.over > 3_900) == ("over", True)
    used = await driver.store.use_composition(dm(ADA), made.id)
    assert isinstance(used, Refusal)
    assert (used.refused, used.over) == ("over", made.over)
    assert await sql("select count(*) from composition_use") == [(0,)]
    changed = await compose(driver.store, request(*whole, budget=8_000, replaces=made.id))
    assert (changed.id, changed.status) == (made.id, "ready")
    assert isinstance(await driver.store.use_composition(dm(ADA), made.id), SessionEnd)


async def test_a_failed_version_fails_the_composition_which_can_be_made_again(driver: TurnDriver, sql: Sql) -> None:
    (one,) = await sessions(driver, sql, 50_000)
    made = await compose(driver.store, request(one))
    await sql("update compression set status = 'failed', error = 'The model is away.'")
    await sql("select relay.finish_compositions(1)")
    failed = await opened(driver.store, made)
    assert (failed.status, failed.error) == ("failed", "The model is away.")
    assert await refused(driver.store, request(one)) == "name"
    again = await compose(driver.store, request(one, replaces=made.id))
    assert (again.status, again.parts[0].version) == ("making", "v002")
    assert await refused(driver.store, request(one, replaces=made.id)) == "making"


async def test_a_version_made_without_a_model_lets_the_composition_continue(driver: TurnDriver, sql: Sql) -> None:
    (one,) = await sessions(driver, sql, 50_000)
    made = await compose(driver.store, request(one))
    await sql("update compression set status = 'failed', error = 'The model is away.'")
    await sql("select relay.finish_compositions(1)")
    assert await driver.store.make_without_model(private(ADA), 1)
    assert (await opened(driver.store, made)).status == "making"
    await sql(READY, 5_900, rows("the gate is green"), 1)
    await sql("select relay.finish_compositions(1)")
    ready = await opened(driver.store, made)
    assert (ready.status, ready.error) == ("ready", None)


async def test_erasing_deletes_the_former_text_of_a_composition_being_remade(driver: TurnDriver, sql: Sql) -> None:
    one, two, three = await sessions(driver, sql, 100, 100, 50_000)
    first = await compose(driver.store, request(one))
    second = await compose(driver.store, request(two, name="second"))
    await compose(driver.store, request(three, replaces=first.id))
    await compose(driver.store, request((three, PartAsked("new")), name="second", replaces=second.id))
    assert (await opened(driver.store, first)).rows is not None, "the composition must still have its former text"
    assert await erase_first(sql, one) == [f"composition:{first.id}"]
    await sql(READY, 5_900, rows("the gate is green"), 1)
    await sql("update compression set status = 'ready', output_tokens = 9, output_messages = 1, rows = '[]'")
    await sql("select relay.finish_compositions(id) from compression")
    assert (await opened(driver.store, second)).status == "ready"
    assert await erase_first(sql, two) == [], "the new text doesn't come from the erased session"


async def test_a_pruned_version_keeps_its_text_in_the_composition(driver: TurnDriver, sql: Sql) -> None:
    (one,) = await sessions(driver, sql, 50_000)
    await sql(INSERT, 1, "v001", 4_000, rows("the boat is called Zanzibarix"), False, one)
    made = await compose(driver.store, request(one))
    await sql("delete from compression")
    gone = await opened(driver.store, made)
    assert (gone.parts[0].version, gone.parts[0].gone) == ("v001", True)
    assert gone.rows is not None
    assert gone.rows[1].text == "the boat is called Zanzibarix"
    assert isinstance(await driver.store.use_composition(dm(ADA), made.id), SessionEnd)


async def test_only_one_of_two_simultaneous_compositions_gets_a_name(driver: TurnDriver, sql: Sql) -> None:
    (one,) = await sessions(driver, sql, 100)
    where = [HERE, HERE | {"topic_id": 7}]
    made = await asyncio.gather(*(
        driver.store.compose(private(ADA), user, request(one, name=name).as_json() | here)
        for here in where for user, name in ((ADA, "garden"), (BEN, "Garden"), (ADA, "GARDEN"))
    ))  # fmt: skip
    for three in (made[:3], made[3:]):
        assert sorted(type(found).__name__ for found in three) == ["Composition", "Refusal", "Refusal"]
    assert await sql("select count(*) from composition") == [(2,)]
    assert await sql("select count(*) from composition_part") == [(2,)]


async def test_a_refused_composition_leaves_nothing(driver: TurnDriver, sql: Sql) -> None:
    one, two = await sessions(driver, sql, 20_000, 20_000)
    [(theirs,)] = (await sessions(driver, sql, 100, user=BEN),)
    for wanted, why in (
        (request(one, 999_999), "no_session"),
        (request(one, theirs), "no_session"),
        (request(one, one), "twice"),
        (request((one, PartAsked("v007"))), "no_version"),
        (request((one, PartAsked("original")), two), "nothing_left"),
        (request(one, replaces=77), "gone"),
    ):
        assert await refused(driver.store, wanted) == why
    [(running,)] = await sql("select session_id from thread where chat_id = %s", ADA)
    assert await refused(driver.store, request(one, running)) == "empty"
    await driver.store.private(dm(ADA), True, ADA, True)
    assert await refused(driver.store, request(one)) == "off_record"
    [(secret,)] = await sql("select id from session where private")
    assert await refused(driver.store, request(one, secret), HERE | {"topic_id": 9}) == "no_session"
    assert await sql("select count(*) from composition") == [(0,)]
    assert await sql("select count(*) from compression") == [(0,)]
    assert await sql("select count(*) from session where registered_at is not null") == [(0,)]


async def test_a_refusal_names_a_session_without_a_title_by_its_first_words(driver: TurnDriver, sql: Sql) -> None:
    said = await driver.exchange(ADA, "the blue door", "Yes.")
    assert said.context.message_id
    [(one,)] = await sql("select distinct session_id from message")
    for wanted in (request(one, one), request((one, PartAsked("v007")))):
        made = await driver.store.compose(private(ADA), ADA, wanted.as_json() | HERE)
        assert isinstance(made, Refusal)
        assert "the blue door" in (made.what, made.session)


async def test_a_composition_says_who_tells_when_it_is_ready(driver: TurnDriver, sql: Sql) -> None:
    (one,) = await sessions(driver, sql, 50_000)
    asked = await compose(driver.store, request(one, name="in the chat"))
    assert "I'll tell you when it's ready." in composed_page(asked).text
    asked = await compose(driver.store, request(one, name="in the shell"), HERE | {"bot_id": 0})
    assert "/compose list shows when it's ready." in composed_page(asked).text


async def test_the_running_session_is_included_up_to_its_last_answer(driver: TurnDriver, sql: Sql) -> None:
    await driver.exchange(ADA, "keep ##keepit0.80##the blue door##/keepit## in mind", "I do.")
    turn = await driver.turn(ADA, "and this is not answered yet")
    await driver.store.begin(incoming_of(turn, "and this is not answered yet", private(ADA)), "m")
    [(running,)] = await sql("select session_id from thread where chat_id = %s", ADA)
    made = await opened(driver.store, await compose(driver.store, request(running)))
    assert made.rows is not None
    assert [row.text for row in made.rows[1:]] == ["keep the blue door in mind", "I do."]


async def test_messages_said_while_a_version_is_made_count(driver: TurnDriver, sql: Sql) -> None:
    (old,) = await sessions(driver, sql, 50_000)
    await driver.exchange(ADA, "the door is blue", "I see.")
    [(running,)] = await sql("select session_id from thread where chat_id = %s", ADA)
    made = await compose(driver.store, request(old, (running, PartAsked("original")), budget=6_000))
    said = await driver.exchange(ADA, "the fence is new", "Long.")
    await sql("update message set text = repeat('x', 20000) where id = %s", said.context.message_id)
    await sql(READY, 5_000, rows("the gate is green"), 1)
    await sql("select relay.finish_compositions(1)")
    now = await opened(driver.store, made)
    assert now.rows is not None
    assert now.rows[-1].text == "Long."
    assert (now.status, now.total_tokens) == ("over", 5_000 + 4 + 2 + 5_000 + 2)
    [(inputs,)] = await sql("select inputs from composition")
    assert f"message:{said.context.message_id}" in inputs


async def test_a_session_keeps_its_composition_until_the_next_new(driver: TurnDriver, sql: Sql) -> None:
    one, two = await sessions(driver, sql, 100, 100)
    made = await compose(driver.store, request(two, one))
    await sql("update session set last_accessed_at = null")
    ended = await driver.store.use_composition(dm(ADA, 5), made.id)
    assert isinstance(ended, SessionEnd)
    assert await sql("select count(*) from session where last_accessed_at is not null") == [(2,)]
    for _ in range(2):
        said = await driver.exchange(ADA, "What did we plan?", topic_id=5)
        composed = said.context.composed
        assert composed is not None
        assert composed.name == "garden"
        assert [row.text[:5] for row in composed.rows][1::3] == ["word0", "word1"], "the oldest session must come first"
    assert (await driver.exchange(ADA, "And here?")).context.composed is None
    await sql("update thread set last_at = now() - interval '3 days' where topic_id = 5")
    assert (await driver.exchange(ADA, "Back again", topic_id=5)).context.composed is not None, (
        "silence must not end the use of a composition"
    )
    assert (await opened(driver.store, made)).active == 1
    await driver.store.new_session(dm(ADA, 5), "")
    assert (await driver.exchange(ADA, "And now?", topic_id=5)).context.composed is None
    assert (await opened(driver.store, made)).active == 0


async def test_new_removes_the_composition_from_an_empty_session(driver: TurnDriver, sql: Sql) -> None:
    (one,) = await sessions(driver, sql, 100)
    made = await compose(driver.store, request(one))
    for _ in range(2):
        await driver.store.use_composition(dm(ADA), made.id)
    await driver.store.new_session(dm(ADA), "")
    assert (await driver.exchange(ADA, "Hello")).context.composed is None


async def test_a_dropped_composition_is_deleted_after_its_last_use_ends(driver: TurnDriver, sql: Sql) -> None:
    (one,) = await sessions(driver, sql, 100)
    made = await compose(driver.store, request(one))
    await driver.store.use_composition(dm(ADA), made.id)
    dropped = await driver.store.drop_composition(private(ADA), made.id)
    assert dropped is not None
    assert (dropped.name, dropped.active) == ("garden", 1)
    assert await driver.store.drop_composition(private(ADA), made.id) is None
    assert await driver.store.composition(private(ADA), {"id": made.id}) is None
    again = await compose(driver.store, request(one))
    await driver.store.tidy(14, 100)
    assert (await driver.exchange(ADA, "Hello")).context.composed is not None
    await driver.store.new_session(dm(ADA), "")
    await driver.store.tidy(14, 100)
    assert await sql("select id from composition") == [(again.id,)]


async def test_a_name_is_found_here_first_and_never_in_another_space(driver: TurnDriver, sql: Sql) -> None:
    (one,) = await sessions(driver, sql, 100)
    here = await compose(driver.store, request(one))
    there = await compose(driver.store, request(one), HERE | {"topic_id": 3})
    for topic_id, found in ((0, here), (3, there), (9, there)):
        which = {"name": "GARDEN", "chat_id": ADA, "topic_id": topic_id}
        named = await driver.store.composition(private(ADA), which)
        assert named is not None
        assert named.id == found.id
    listed = await driver.store.compositions(dm(ADA), 0, 10)
    assert (listed.total, [one.id for one in listed.compositions]) == (2, [here.id, there.id])
    for other in (private(BEN), group(GROUP)):
        assert await driver.store.composition(other, {"id": here.id}) is None
        used = await driver.store.use_composition(Thread(other, BEN, 0), here.id)
        assert isinstance(used, Refusal)
        assert used.refused == "gone"
        assert await driver.store.drop_composition(other, here.id) is None
        assert (await driver.store.compositions(Thread(other, BEN, 0), 0, 10)).total == 0


async def test_sessions_to_choose_from_are_listed_here_and_everywhere(driver: TurnDriver, sql: Sql) -> None:
    here = await sessions(driver, sql, 100, 200)
    (there,) = await sessions(driver, sql, 300, topic_id=4)
    await sessions(driver, sql, 400, user=BEN)
    found = await driver.store.composable_sessions(dm(ADA), False, 0, 10)
    assert (found.total, [one.id for one in found.sessions]) == (2, here[::-1])
    everywhere = await driver.store.composable_sessions(dm(ADA), True, 0, 10)
    assert [(one.id, one.here) for one in everywhere.sessions] == [(there, False), (here[1], True), (here[0], True)]
    await sql(
        "insert into session_link (source_session_id, target_thread_id, space_id, linked_by) "
        "select %s, id, space_id, 1 from thread where topic_id = 0 and chat_id = %s", there, ADA,
    )  # fmt: skip
    assert (await driver.store.composable_sessions(dm(ADA), False, 0, 10)).total == 3


async def test_a_session_has_as_many_tokens_in_a_composition_as_in_the_list(driver: TurnDriver, sql: Sql) -> None:
    (ended,) = await sessions(driver, sql, 100)
    await sql("update message set text = %s where session_id = %s and role = 'user'", MARKED, ended)
    [listed] = [one for one in (await driver.store.sessions(dm(ADA), 0, 10)).sessions if one.id == ended]
    [offered] = (await driver.store.composable_sessions(dm(ADA), False, 0, 10)).sessions
    made = await compose(driver.store, request(ended))
    assert [listed.tokens, made.parts[0].tokens, made.total_tokens] == [offered.tokens] * 3
    assert offered.words == made.parts[0].words == "My plan: tomatoes, and beans elsewhere", (
        "a marker's signs are no words"
    )


async def test_the_dates_of_a_download_are_in_the_zone_of_its_headings(driver: TurnDriver, sql: Sql) -> None:
    (ended,) = await sessions(driver, sql, 100)
    await sql("update message set created_at = '2026-01-15T20:00:00Z'")
    made = await compose(driver.store, request(ended), HERE | {"zone": "Pacific/Kiritimati"})
    text = as_markdown(await opened(driver.store, made), ZoneInfo("Pacific/Kiritimati"))
    assert "## From 2026-01-16, ‘Plan 0’, original\n\n**user** (2026-01-16): word0" in text


async def test_erasing_a_session_erases_its_compositions(driver: TurnDriver, sql: Sql) -> None:
    one, two = await sessions(driver, sql, 100, 100)
    await compose(driver.store, request(one))
    kept = await compose(driver.store, request(two, name="kept"))
    assert await erase_first(sql, one) == ["composition:1"]
    assert kept.id == 2


async def test_an_erasure_names_a_composition_that_a_running_conversation_loses(driver: TurnDriver, sql: Sql) -> None:
    one, two = await sessions(driver, sql, 100, 100)
    made = await compose(driver.store, request(one))
    await compose(driver.store, request(one, two, name="unused"))
    await driver.store.use_composition(dm(ADA), made.id)
    found = await driver.store.erase_preview(private(ADA), {"words": "word0"}, ADA, False)
    assert found is not None
    assert (found.counts.artefacts, found.began) == (2, ("garden",))
    assert began_line("garden") == (
        "A running conversation began with “garden”, which goes too. Compose it again afterwards."
    )


async def test_a_finished_composition_is_announced_in_the_chat_with_a_start_button(
    driver: TurnDriver, sql: Sql
) -> None:
    (one,) = await sessions(driver, sql, 50_000)
    made = await compose(driver.store, request(one, name="the garden"))
    await sql(READY, 5_900, rows("the gate is green"), 1)
    await sql("select relay.finish_compositions(1)")
    messenger = FakeMessenger()
    await send_queued(driver.store, messenger)
    ((method, sent),) = messenger.calls
    assert (method, sent["chat_id"]) == ("sendMessage", ADA)
    assert sent["text"].startswith(
        "🧩 the garden · ✅ ready\n\n5,900 of 16,000 tokens (3% of my context)\n\n1. Plan 0 · v001"
    )
    buttons = [one["callback_data"] for row in sent["reply_markup"]["inline_keyboard"] for one in row]
    assert buttons[0] == f"bu:{made.id}"
