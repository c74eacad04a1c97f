"""Tests that estimates follow the acts: they change as acts are undone, forgotten or moved, and as time passes."""

from __future__ import annotations

from relay.core.models import Thread
from relay.memory.store import Store
from tests.integration.conftest import Sql
from tests.integration.test_preference_attribution import Observer, answered, learned, pattern, runner, settled
from tests.integration.test_preference_sql import SHORT, tagged
from tests.integration.turn_driver import ADA, BOT, TurnDriver, dm, group, private

COPY = """
with turns as (
    insert into turn (kind, bot_id, lane_id, user_id, space_id, thread_id, session_id, status, model, answered_at,
        done_at)
    select kind, bot_id, lane_id, user_id, space_id, thread_id, session_id, status, model, answered_at, done_at
    from turn, generate_series(2, %(number)s) where id = %(turn)s returning id),
messages as (
    insert into message (space_id, thread_id, session_id, turn_id, role, user_id, name, text, blocks)
    select space_id, thread_id, session_id, turns.id, role, user_id, name, text || turns.id, blocks
    from message m, turns where turn_id = %(turn)s order by turns.id, m.id returning *)
insert into posted (bot_id, chat_id, telegram_message_id, message_id, turn_id, from_bot)
select bot_id, chat_id, 50000 + m.turn_id, m.id, m.turn_id, true
from messages m, posted p where p.turn_id = %(turn)s and p.from_bot and role = 'assistant'
returning telegram_message_id"""
SIDES = """update turn t set user_message_id = (select min(id) from message where turn_id = t.id),
    assistant_message_id = (select max(id) from message where turn_id = t.id)"""


async def many_answered(driver: TurnDriver, sql: Sql, number: int, chat_id: int | None = None) -> list[int]:
    """Delivers answers to Ada: one as usual, and copies of it. Returns the ids of their messages."""
    first = await answered(driver, sql, text="Question", chat_id=chat_id)
    await sql("set relay.index = 'later'")
    copies = await sql(COPY % {"number": number, "turn": first - 50_000})
    await sql(SIDES)
    await sql("reset relay.index")
    return [first, *(message for (message,) in copies)]


async def liked(driver: TurnDriver, store: Store, sql: Sql, number: int = 48) -> list[int]:
    """Ada likes this many answers for being short, enough for a preference. Returns their messages' ids."""
    messages = await many_answered(driver, sql, number)
    for message in messages:
        await store.react(BOT.id, ADA, message, ADA, ["👍"], 100)
    await settled(sql)
    await learned(store, Observer(pattern("short answers")))
    return messages


async def acting(store: Store) -> list[tuple[str, int, str]]:
    rows = (await store.preferences(dm(ADA), ADA)).rows
    return [(row.pattern, row.polarity, row.level) for row in rows if row.status == "stable"]


SURE = [("short answers", 1, "medium")]


async def test_withdrawn_reactions_no_longer_count(driver: TurnDriver, store: Store, sql: Sql) -> None:
    messages = await liked(driver, store, sql)
    assert await acting(store) == SURE
    for message in messages[:-1]:
        await store.react(BOT.id, ADA, message, ADA, [], 200)
    await learned(store, Observer())
    assert await acting(store) == []
    await store.react(BOT.id, ADA, messages[-1], ADA, [], 200)
    await learned(store, Observer())
    assert await sql("select count(*) from preference") == [(0,)]


async def test_removing_a_tag_leaves_the_estimate_from_reactions(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await liked(driver, store, sql)
    ((turn,),) = await sql("select max(id) from turn")
    await tagged(store, turn, SHORT)
    assert [row.observations for row in (await store.preferences(dm(ADA), ADA)).rows] == [1]
    await store.untag(private(ADA), ADA, turn, "length", "short answers", 1)
    assert [row.observations for row in (await store.preferences(dm(ADA), ADA)).rows] == [0]
    await learned(store, Observer())
    assert await acting(store) == SURE


async def test_a_tag_for_the_opposite_holds_until_it_is_removed(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await liked(driver, store, sql)
    ((turn,),) = await sql("select max(id) from turn")
    await tagged(store, turn, {**SHORT, "polarity": -1, "weight": 1.6, "reinforcing": 2})
    await learned(store, Observer())
    assert await acting(store) == [("short answers", -1, "high")]
    await store.untag(private(ADA), ADA, turn, "length", "short answers", -1)
    await learned(store, Observer())
    assert await acting(store) == SURE


async def test_a_forgotten_preference_is_restored_with_undo_and_a_reset_is_complete(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await liked(driver, store, sql)
    [row] = (await store.preferences(dm(ADA), ADA)).rows
    [gone] = await store.forget_preferences(private(ADA), ADA, [row.id])
    await learned(store, Observer())
    assert await acting(store) == []
    await store.recall_preferences(private(ADA), ADA, [gone.decision_id])
    await learned(store, Observer())
    assert await acting(store) == SURE
    for one in range(6):
        await store.react(BOT.id, ADA, await answered(driver, sql, text=f"Joke {one}"), ADA, ["👍"], 100)
    await settled(sql)
    await learned(store, Observer(pattern("humour", "tone")))
    assert await acting(store) == SURE, "the estimate for jokes is not certain yet"
    assert await store.reset_preferences(private(ADA), ADA, 1) == 1
    assert await acting(store) == [], "the reset must take effect at once"
    await store.react(BOT.id, ADA, await answered(driver, sql, text="One more"), ADA, ["👍"], 100)
    await settled(sql)
    await learned(store, Observer(pattern("humour", "tone")))
    assert await sql("select count(*) from preference") == [(0,)], "reactions from before the reset must not count"


async def test_a_reset_also_forgets_acts_that_have_not_settled(driver: TurnDriver, store: Store, sql: Sql) -> None:
    for message in await many_answered(driver, sql, 48):
        await store.react(BOT.id, ADA, message, ADA, ["👍"], 100)
    assert await store.reset_preferences(private(ADA), ADA, 0) == 0
    await settled(sql)
    model = Observer(pattern("short answers"))
    await learned(store, model)
    assert (model.asked, await acting(store)) == ([], [])


async def test_a_preference_fades_with_the_age_of_its_last_supporting_act(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await liked(driver, store, sql)
    for days, expected in ((89, SURE), (91, [("short answers", 1, "low")]), (181, [])):
        await sql("update observation set at = now() - make_interval(days => %s)", days)
        shown = await answered(driver, sql, text=f"After {days} days")
        await store.react(BOT.id, ADA, shown, ADA, ["👍"], 100)
        await settled(sql)
        await learned(store, Observer(pattern("humour", "tone")))
        assert await acting(store) == expected, days
        await store.react(BOT.id, ADA, shown, ADA, [], 200)


async def test_a_preference_keeps_its_id_while_it_exists(driver: TurnDriver, store: Store, sql: Sql) -> None:
    """/why names the preferences of an answer by their numbers."""
    await liked(driver, store, sql)
    before = await sql("select id from preference")
    await liked(driver, store, sql, 1)
    assert await sql("select id from preference") == before


async def test_an_estimate_begun_before_the_last_act_is_not_stored(driver: TurnDriver, store: Store, sql: Sql) -> None:
    messages = await liked(driver, store, sql)
    await store.react(BOT.id, ADA, messages[0], ADA, [], 200)
    [job] = await store.claim_jobs("estimate", None, 1)
    assert len(await store.estimate_work(job) or ()) == len(messages) - 1
    await store.react(BOT.id, ADA, messages[1], ADA, [], 200)
    wrong = [{"type": "length", "pattern": "short answers", "polarity": -1, "sureness": 9.0}]
    assert await store.store_estimates(job, wrong) is False
    assert await store.finish_job(job) is False, "the job must still be due"
    assert await acting(store) == SURE
    await learned(store, Observer())
    assert await sql("select count(*) from job where kind = 'estimate'") == [(0,)]


async def test_a_crash_between_patterns_and_estimates_loses_nothing(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await liked(driver, store, sql)
    ((before,),) = await sql("select sureness from preference")
    await store.react(BOT.id, ADA, await answered(driver, sql), ADA, ["👍"], 100)
    await settled(sql)
    await runner(store, Observer(pattern("short answers"))).run_due("preference")
    assert await sql("select sureness from preference") == [(before,)]
    await runner(store, Observer()).run_due("estimate")  # by the next process
    ((after,),) = await sql("select sureness from preference")
    assert after > before


async def test_preferences_are_recomputed_after_a_move(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await liked(driver, store, sql)
    await sql("delete from preference")  # a move doesn't copy it
    await sql("select relay.owe_all_estimates()")
    await learned(store, Observer())
    assert await acting(store) == SURE


async def test_a_group_keeps_its_preferences_as_a_supergroup(driver: TurnDriver, store: Store, sql: Sql) -> None:
    old, new = -555, -1000000000555
    for message in await many_answered(driver, sql, 48, old):
        await store.react(BOT.id, old, message, ADA, ["👍"], 100)
    await settled(sql)
    await learned(store, Observer(pattern("short answers")))
    await driver.exchange(ADA, "Hello again", chat_id=new)
    await store.regroup(BOT.id, old, new)
    await learned(store, Observer())
    rows = (await store.preferences(Thread(group(new), new, 0), ADA)).rows
    assert [(row.pattern, row.level) for row in rows] == [("short answers", "medium")]


async def test_a_tag_replaces_its_opposite_within_half_a_minute(driver: TurnDriver, store: Store) -> None:
    turn = (await driver.exchange(ADA, "Hello")).turn.turn_id
    await tagged(store, turn, SHORT)
    await tagged(store, turn, {**SHORT, "polarity": -1})
    assert [row.polarity for row in (await store.preferences(dm(ADA), ADA)).rows] == [-1]


async def test_an_imported_old_reaction_can_be_withdrawn(driver: TurnDriver, store: Store, sql: Sql) -> None:
    shown = await answered(driver, sql)
    await store.react(BOT.id, ADA, shown, ADA, ["👍"], 100)
    await sql("update feedback set source = 'backfill', settles_at = '-infinity'")
    await store.react(BOT.id, ADA, shown, ADA, ["👎"], 200)
    assert await sql("select value, source from feedback where withdrawn_at is null") == [({"up": False}, "reaction")]
