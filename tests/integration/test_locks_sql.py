"""Tests that calls which lock the same rows take them in one order: while one waits, the other goes on. Otherwise they
would wait for each other, until PostgreSQL ends one of them (a deadlock)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import psycopg
import pytest

from relay.core.models import Space, Thread
from relay.memory.store import Store
from tests.integration.conftest import Opened, Sql
from tests.integration.dump import holding
from tests.integration.edits import again
from tests.integration.test_reminder_sql import due, make, tell
from tests.integration.turn_driver import (
    ADA,
    BOT,
    FINISHED,
    GROUP,
    TurnDriver,
    dm,
    fact,
    group,
    incoming_of,
    private,
    reply,
)
from tests.integration.work import claim_summaries, written

Other = psycopg.AsyncConnection[Any]
BLOCKED = """select from pg_stat_activity
    where datname = current_database() and pg_backend_pid() = any (pg_blocking_pids(pid))"""
"""Selects who waits for this connection."""
SEEN = {"type": "style", "pattern": "puns", "polarity": 1, "weight": 1, "reinforcing": 1, "explicit": True}
ADAS = json.dumps(private(ADA).as_json())


@pytest.fixture
async def other(opened: Opened) -> AsyncIterator[Other]:
    """A transaction of another process, which doesn't wait for a lock until PostgreSQL would end the other."""
    async with await psycopg.AsyncConnection.connect(opened.server.url(opened.name, superuser=True)) as connection:
        await connection.execute("set search_path = relay, public, extensions")
        await connection.execute("set lock_timeout = '300ms'")
        await connection.commit()
        yield connection


@asynccontextmanager
async def waiting(other: Other, call: Coroutine[Any, Any, Any]) -> AsyncIterator[None]:
    """Makes a call that waits for the other transaction, and expects it to succeed when that commits."""
    task = asyncio.create_task(call)
    async with asyncio.timeout(10):
        while not await (await other.execute(BLOCKED)).fetchall():  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        yield
        await other.commit()
        await task


async def test_an_answer_is_marked_as_sent_while_messages_of_its_lane_are_erased(
    driver: TurnDriver, store: Store, other: Other
) -> None:
    """The turns of erased messages are changed twice, after which PostgreSQL locks what they refer to: the lane too."""
    first = await driver.exchange(ADA, "My PIN is 4711.")
    second = await driver.exchange(ADA, "Is it safe?", close=False)
    await store.deliver(second.turn, BOT.id, [])
    erase = "select relay.erase_messages(%s, array[%s]::bigint[])"
    await other.execute(erase, (first.context.space_id, first.context.message_id))
    async with asyncio.timeout(5):
        await store.store_sent(second.turn, [], True)


async def test_an_answer_is_saved_while_an_erasure_waits_for_its_turn(
    driver: TurnDriver, store: Store, sql: Sql, other: Other
) -> None:
    await driver.exchange(ADA, "My PIN is 4711.")
    assert await store.claim_jobs("judging", None, 1)
    turn = await driver.turn(ADA, "Is 4711 safe?")
    begun = await store.begin(incoming_of(turn, "Is 4711 safe?", private(ADA)), "m")
    await other.execute("select relay.hold(%s, %s)", (turn.turn_id, turn.fence))
    erase = "select relay.erase_messages(%s, array[%s]::bigint[])"
    async with waiting(other, sql(erase, begun.space_id, begun.message_id)):
        answer = json.dumps(reply("No.", [fact(ADA, "Ada has a PIN.")]))
        await other.execute("select relay_finish(%s, %s, %s)", (turn.turn_id, turn.fence, answer))
    assert await sql("select text from message order by id") == [("My PIN is 4711.",), ("Yes.",), ("No.",)]


async def test_a_title_is_owed_while_an_erasure_waits_for_the_memory(
    driver: TurnDriver, store: Store, sql: Sql, other: Other
) -> None:
    said = (await driver.exchange(ADA, "My PIN is 4711.")).context
    await sql("select relay.owe_title(id, 77) from session")
    assert await store.claim_jobs("title", BOT.id, 1)
    await other.execute("select relay.hold_memory(%s)", (said.space_id,))
    erase = "select relay.erase_messages(%s, array[%s]::bigint[])"
    async with waiting(other, sql(erase, said.space_id, said.message_id)):
        await other.execute("select relay.owe_title(id, 77) from session")


async def test_a_title_is_owed_while_the_last_one_waits_to_be_stored(
    driver: TurnDriver, store: Store, sql: Sql, other: Other
) -> None:
    await driver.exchange(ADA, "hello")
    await sql("select relay.owe_title(id, 77) from session")
    (job,) = await store.claim_jobs("title", BOT.id, 1)
    await other.execute("select from session for no key update")
    async with waiting(other, store.store_title(job, "Greetings")):
        await other.execute("select relay.owe_title(id, 77) from session")


async def test_each_step_of_an_erasure_erases_one_batch(driver: TurnDriver, store: Store, sql: Sql) -> None:
    """The memory that one batch locks is needed by the turns for which the next one waits."""
    await driver.exchange(ADA, "My PIN is 4711.", actions=[fact(ADA, "The PIN is 4711.")])
    shown = await store.erase_preview(private(ADA), {"words": "4711"}, ADA, False)
    assert shown
    await store.erase_begin(shown.erasure_id, ADA, False)
    await store.erase_step(shown.erasure_id)
    assert await sql("select text from message") == [("Yes.",)]
    assert await sql("select content from memory") == [("The PIN is 4711.",)]
    await store.erase_step(shown.erasure_id)
    assert await sql("select content from memory") == []


async def test_a_memory_is_forgotten_while_its_erasure_waits(driver: TurnDriver, sql: Sql, other: Other) -> None:
    (change,) = await driver.teach(ADA, "has a PIN")
    ((space_id, turn_id),) = await sql("select space_id, turn_id from memory_change")
    await other.execute("select from turn where id = %s for update", (turn_id,))
    async with waiting(
        other, sql("select relay.erase_memory_rows(%s, array[%s]::bigint[])", space_id, change.memory_id)
    ):
        await other.execute("select relay.hold_memory(%s)", (space_id,))


async def test_two_erasures_of_the_same_turns_take_them_in_order(driver: TurnDriver, sql: Sql, other: Other) -> None:
    first, second = [(await driver.exchange(ADA, text)).turn.turn_id for text in ("My PIN is 4711.", "Or 4712.")]
    await other.execute("select from turn where id = %s for no key update", (first,))
    async with waiting(other, sql("select relay.erase_turns(array[%s, %s]::bigint[])", second, first)):
        await other.execute("select relay.erase_turns(array[%s, %s]::bigint[])", (first, second))


async def test_a_held_turn_can_be_referred_to(driver: TurnDriver, sql: Sql, other: Other) -> None:
    """What the judge finds in a turn's message is stored while the turn is delivered."""
    done = await driver.exchange(ADA, "hello", close=False)
    await other.execute("select relay.hold(%s, %s)", (done.turn.turn_id, done.turn.fence))
    async with asyncio.timeout(5):
        await sql("insert into announcement (turn_id, bot_id, changes) values (%s, 77, '{}')", done.turn.turn_id)


async def test_a_turn_begins_while_another_of_its_thread_is_about_to_finish(
    driver: TurnDriver, store: Store, sql: Sql, other: Other
) -> None:
    """Both change the thread and what is counted of its session."""
    turn = await driver.turn(ADA, "hello")
    incoming = incoming_of(turn, "hello", private(ADA))
    await store.begin(incoming, "m")
    await sql("select relay.count_sessions(array(select id from thread))")
    await other.execute("select relay.ensure_thread(space_id, chat_id, topic_id, 24) from thread")
    async with waiting(other, store.finish(incoming, reply())):
        await other.execute(
            "insert into message (space_id, thread_id, session_id, role, text, blocks)"
            " select space_id, id, session_id, 'user', 'hi', '[]' from thread"
        )


async def test_an_answer_is_replaced_while_a_reaction_to_it_waits(
    driver: TurnDriver, store: Store, sql: Sql, other: Other
) -> None:
    done = await driver.exchange(ADA, "hello")
    ((answer,),) = await sql("select id from message where role = 'assistant'")
    await sql("insert into posted values (%s, %s, 900, %s, %s, true)", BOT.id, ADA, answer, done.turn.turn_id)
    await other.execute("select relay.hold_memory(%s)", (done.context.space_id,))
    async with waiting(other, store.react(BOT.id, ADA, 900, ADA, ["👍"], 2_000_000_000)):
        await other.execute("update message set status = 'replaced' where id = %s", (answer,))


async def test_a_message_is_edited_while_its_erasure_waits(driver: TurnDriver, sql: Sql, other: Other) -> None:
    said = (await driver.exchange(ADA, "My PIN is 4711.")).context
    await other.execute("select from message where id = %s for no key update", (said.message_id,))
    erase = "select relay.erase_messages(%s, array[%s]::bigint[])"
    async with waiting(other, sql(erase, said.space_id, said.message_id)):
        await other.execute("update posted set edited_at = now() where message_id = %s", (said.message_id,))


async def test_a_line_under_an_answer_is_erased_while_its_announcement_waits(
    driver: TurnDriver, store: Store, sql: Sql, other: Other
) -> None:
    turn_id = (await driver.exchange(ADA, "hello")).turn.turn_id
    await sql("insert into outbox (turn_id, seq, bot_id, chat_id, request) values (%s, 1, 77, 1, '{}')", turn_id)
    await sql("insert into announcement (turn_id, bot_id, changes) values (%s, 77, '{}')", turn_id)
    await other.execute("update outbox set sending_text = ''")
    async with waiting(other, store.record_announced(turn_id, 1, {"text": "Hi"})):
        await other.execute("update announcement set before = null")


async def test_a_message_is_retracted_again_while_its_retraction_is_recorded(
    driver: TurnDriver, store: Store, sql: Sql, other: Other
) -> None:
    await driver.exchange(ADA, "hello")
    await sql("insert into erasure (space_id, user_id, status) select id, %s, 'working' from space", ADA)
    await sql("insert into retraction select 77, %s, 900, id, null, now() from erasure", ADA)
    await other.execute("select from erasure for update")
    async with waiting(other, store.record_retraction(77, ADA, 900, "deleted")):
        await other.execute("update retraction set request = '{}'")


async def test_a_summary_is_built_on_one_whose_erasure_waits(driver: TurnDriver, sql: Sql, other: Other) -> None:
    await driver.exchange(ADA, "My PIN is 4711.")
    ((space_id, summary_id),) = await sql(
        "insert into summary (thread_id, session_id, text, from_message_id, through_message_id, message_count, model,"
        " settings, tainted) select id, session_id, 'The PIN is 4711.', 1, 2, 2, 'm', '{}', false from thread"
        " returning (select space_id from thread), id"
    )
    await other.execute("select from thread for no key update")
    async with waiting(other, sql("select relay.erase_summary_rows(%s, array[%s]::bigint[])", space_id, summary_id)):
        await other.execute("select from summary for key share")


async def test_an_old_message_is_edited_while_its_turn_is_erased(
    driver: TurnDriver, store: Store, sql: Sql, other: Other
) -> None:
    turn_id = (await driver.exchange(ADA, "hello")).turn.turn_id
    await sql(
        "insert into outbox (turn_id, seq, bot_id, chat_id, telegram_message_id, request)"
        " values (%s, 1, 77, %s, 900, '{}')",
        turn_id,
        ADA,
    )
    await sql(
        "insert into posted (bot_id, chat_id, telegram_message_id, turn_id, from_bot) values (77, %s, 900, %s, true)",
        ADA,
        turn_id,
    )
    await sql("update turn set dropped = true")
    await other.execute("select from turn where id = %s for no key update", (turn_id,))
    async with waiting(other, store.start_redrawing(BOT.id, ADA, 900, {"text": "Hi"})):
        await other.execute("select relay.erase_turns(array[%s]::bigint[])", (turn_id,))


@pytest.mark.parametrize("said", ["/private off", "/new"])
async def test_an_answer_is_saved_while_the_end_of_its_session_off_the_record_waits(
    driver: TurnDriver, store: Store, other: Other, said: str
) -> None:
    """Saving locks the turn, then its thread."""
    await store.private(dm(ADA), True, ADA)
    turn = await driver.turn(ADA, "hello")
    await store.begin(incoming_of(turn, "hello", private(ADA)), "m")
    await other.execute("select relay.hold(%s, %s)", (turn.turn_id, turn.fence))
    async with waiting(other, store.new_session(dm(ADA), "") if said == "/new" else store.private(dm(ADA), False, ADA)):
        await other.execute("select relay_finish(%s, %s, %s)", (turn.turn_id, turn.fence, json.dumps(reply())))


async def test_an_erasure_revokes_a_summary_that_waits_for_its_thread(
    driver: TurnDriver, store: Store, sql: Sql, other: Other
) -> None:
    """An answer that is saved has the thread, and waits for the memory, which the erasure has."""
    said = (await driver.exchange(ADA, "hello")).context
    await sql("select relay.owe_summary(session_id, 1, %s) from thread", said.message_id)
    (due,) = await claim_summaries(store, 1)
    await other.execute("select from thread for no key update")
    async with waiting(other, store.store_summary(due.job, written(due, "Greetings."))):
        await other.execute("select relay.erase_under_way(array[%s]::bigint[])", (said.message_id,))
    assert await sql("select id from summary") == []


async def test_a_preview_is_dropped_while_the_end_of_the_session_that_it_names_waits(
    driver: TurnDriver, store: Store, sql: Sql, other: Other
) -> None:
    """An erasure locks turns, then previews that it leaves nothing of."""
    await store.private(dm(ADA), True, ADA)
    done = await driver.exchange(ADA, "My PIN is 4711.")
    assert await store.erase_preview(private(ADA), {"words": "4711"}, ADA, False)
    await other.execute("select from turn where id = %s for no key update", (done.turn.turn_id,))
    async with waiting(other, store.private(dm(ADA), False, ADA)):
        await other.execute("delete from erasure")
    assert await sql("select id from message where text ~ '4711'") == []


async def test_the_end_of_a_session_waits_for_no_preview_that_is_locked(
    driver: TurnDriver, store: Store, sql: Sql, other: Other
) -> None:
    await store.private(dm(ADA), True, ADA)
    await driver.exchange(ADA, "My PIN is 4711.")
    assert await store.erase_preview(private(ADA), {"words": "4711"}, ADA, False)
    await other.execute("select from erasure for update")
    async with asyncio.timeout(5):
        assert (await store.private(dm(ADA), False, ADA)).was
    await other.rollback()


async def test_an_unasked_message_that_is_being_queued_is_held_back_by_quiet(
    driver: TurnDriver, store: Store, sql: Sql, other: Other
) -> None:
    begun = await driver.exchange(ADA, "hello")
    message = {"chat_id": ADA, "user_id": ADA, "space_id": begun.context.space_id, "payload": {}, "key": "digest 1"}
    await other.execute("select relay_enqueue(%s, %s)", (BOT.id, json.dumps([message])))
    async with waiting(other, store.quiet(private(ADA), "infinity")):
        pass
    assert await sql("select not_before::text from outbox where dedupe_key = 'digest 1'") == [("infinity",)]


@pytest.mark.parametrize("space", [private(ADA), group()])
async def test_a_message_that_ends_a_session_off_the_record_waits_for_none_of_its_turns(
    driver: TurnDriver, store: Store, sql: Sql, other: Other, space: Space
) -> None:
    """It was silent for long, or the chat's memory changed hands. A turn locks its thread first, unlike /new."""
    await store.private(Thread(private(ADA), GROUP, 0), True, ADA)
    done = await driver.exchange(ADA, "My PIN is 4711.", chat_id=GROUP, space=private(ADA))
    if space == private(ADA):
        await sql("update thread set last_at = now() - interval '13 hours'")
    turn = await driver.turn(ADA, "hello", GROUP)
    await other.execute("select from turn where id = %s for no key update", (done.turn.turn_id,))
    async with asyncio.timeout(5):
        await store.begin(incoming_of(turn, "hello", space), "m")
    assert await store.sweep_private(12) > 0
    await other.commit()
    await store.sweep_private(12)
    assert await holding(sql, "4711") == {}


@pytest.mark.parametrize("table", ["thread", "reminder", "space"])
async def test_the_job_of_a_chat_is_owed_while_its_reminders_wait_to_be_told(
    driver: TurnDriver, store: Store, sql: Sql, other: Other, table: str
) -> None:
    """By /quiet, by a change of one, or by an answer that one asked for."""
    await driver.exchange(ADA, "hello")
    await due(sql, await make(store))
    await other.execute(f"select from {table} for update")
    async with waiting(other, tell(store)):
        await other.execute("select relay.owe_reminders(%s, %s, 0)", (BOT.id, ADA))


async def test_the_job_of_a_chat_is_owed_while_the_lines_about_a_changed_reminder_are_to_be_corrected(
    driver: TurnDriver, store: Store, sql: Sql, other: Other
) -> None:
    turn_id = (await driver.exchange(ADA, "hello")).turn.turn_id
    made = await make(store)
    told = json.dumps({"reminders": [{"id": made.id}]})
    await sql("update turn set told = %s where id = %s", told, turn_id)
    await sql("update reminder_event set turn_id = %s", turn_id)
    await other.execute("select from space for update")
    async with waiting(other, store.change_reminder(made.id, "changed", ADA, made.next_at, text="Coffee")):
        await other.execute("select relay.owe_reminders(%s, %s, 0)", (BOT.id, ADA))


async def test_quiet_waits_for_no_message_that_is_being_claimed(
    driver: TurnDriver, store: Store, sql: Sql, other: Other
) -> None:
    """The turn that sends it refers to the space."""
    await driver.exchange(ADA, "hello")
    await due(sql, await make(store))
    await tell(store)
    await other.execute("select from outbox where status = 'queued' for update")
    async with asyncio.timeout(5):
        await store.quiet(private(ADA), "infinity")


async def test_a_message_that_is_being_claimed_is_held_back_by_quiet(
    driver: TurnDriver, store: Store, sql: Sql, other: Other
) -> None:
    await driver.exchange(ADA, "hello")
    await due(sql, await make(store))
    await tell(store)
    await other.execute("select from space for update")
    async with waiting(other, store.claim(BOT.id, 5)):
        await other.execute("select relay_quiet(%s, 'infinity')", (ADAS,))
    assert await sql("select not_before::text, turn_id from outbox where status = 'queued'") == [("infinity", None)]


async def test_the_job_of_a_chat_is_owed_while_a_turn_that_begins_again_takes_back_its_changes_of_reminders(
    driver: TurnDriver, store: Store, sql: Sql, other: Other
) -> None:
    told = (await driver.exchange(ADA, "hello")).turn.turn_id
    tea, coffee = await make(store, "Tea"), await make(store, "Coffee")
    line = json.dumps({"reminders": [{"id": coffee.id, "text": "Coffee"}]})
    await sql("update turn set told = %s where id = %s", line, told)
    await sql("update reminder_event set turn_id = %s where reminder_id = %s", told, coffee.id)
    turn = await driver.turn(ADA, "change both")
    begin = incoming_of(turn, "change both", private(ADA))
    await store.begin(begin, "m")
    for one in (tea, coffee):
        change = json.dumps({"text": "Water", "event": "changed", "user_id": ADA, "turn_id": turn.turn_id})
        await sql("select relay_change_reminder(%s, %s, %s)", one.id, one.next_at, change)
    await sql("delete from outbox where request ? 'corrects'")
    await other.execute("select from space for update")
    async with waiting(other, store.begin(begin, "m")):
        await other.execute("select relay.owe_reminders(%s, %s, 0)", (BOT.id, ADA))


async def test_the_job_of_a_group_is_owed_while_the_reminders_of_a_person_who_left_it_are_paused(
    driver: TurnDriver, store: Store, sql: Sql, other: Other
) -> None:
    told = (await driver.exchange(ADA, "hello")).turn.turn_id
    coffee = [await make(store, text, space=group(), chat_id=GROUP) for text in ("Tea", "Coffee")][1]
    line = json.dumps({"reminders": [{"id": coffee.id, "text": "Coffee"}]})
    await sql("update turn set told = %s where id = %s", line, told)
    await sql("update reminder_event set turn_id = %s where reminder_id = %s", told, coffee.id)
    await other.execute("select from space for update")
    async with waiting(other, store.pause_reminders(BOT.id, GROUP, ADA, [])):
        await other.execute("select relay.owe_reminders(%s, %s, 0)", (BOT.id, GROUP))
    assert await sql("select distinct status from reminder") == [("paused",)]


async def test_a_silent_session_off_the_record_goes_on_while_one_of_its_answers_is_locked(
    driver: TurnDriver, store: Store, sql: Sql, other: Other
) -> None:
    """It ends once its answers can be stopped."""
    await store.private(dm(ADA), True, ADA)
    turn = await driver.turn(ADA, "hello")
    await store.begin(incoming_of(turn, "hello", private(ADA)), "m")
    await sql("update thread set last_at = now() - interval '13 hours'")
    await other.execute("select from turn for no key update")
    await store.sweep_private(12)
    assert await sql("select id from session where private and ended_at is not null") == []
    await other.commit()
    await store.sweep_private(12)
    assert await sql("select stop_asked from turn") == [(True,)]


@pytest.mark.parametrize("call", ["relay_control", "relay_preference_control"])
async def test_an_answer_teaches_while_a_switch_of_its_thread_waits(
    driver: TurnDriver, sql: Sql, other: Other, call: str
) -> None:
    """Saving locks the thread, then the memory."""
    space_id = (await driver.exchange(ADA, "hello")).context.space_id
    change = json.dumps({"recalls": False, "here": "quiet"})
    await other.execute("select from thread for no key update")
    async with waiting(other, sql(f"select {call}(%s, %s, 0, %s, %s)", ADAS, ADA, ADA, change)):
        await other.execute("select relay.hold_memory(%s)", (space_id,))


async def test_a_reaction_to_an_answer_that_told_of_preferences_is_stored_while_its_replacement_waits(
    driver: TurnDriver, sql: Sql, other: Other
) -> None:
    done = await driver.exchange(ADA, "hello")
    await sql(
        "insert into preference_decision (space_id, user_id, type, pattern, action, turn_id)"
        " select space_id, user_id, 'interest', 'puns', 'told', id from turn"
    )
    await other.execute("select relay.hold_memory(%s)", (done.context.space_id,))
    async with waiting(other, again(driver, done.turn, "Hi!")):
        await other.execute("select from message where text = 'Yes.' for no key update")


@pytest.mark.parametrize("replaced", ["by a job", "again", "discarded", "with a reason"])
async def test_an_act_is_erased_while_what_it_taught_waits_to_be_stored(
    driver: TurnDriver, store: Store, sql: Sql, other: Other, replaced: str
) -> None:
    done = await driver.exchange(ADA, "hello")
    ((answer,),) = await sql("select id from message where role = 'assistant'")
    await sql("insert into posted values (%s, %s, 900, %s, %s, true)", BOT.id, ADA, answer, done.turn.turn_id)
    await store.react(BOT.id, ADA, 900, ADA, ["👍"], 2_000_000_000)
    ((act,),) = await sql("select id from feedback")
    (job,) = await store.claim_jobs("preference", None, 1, str(act))
    result = {"observations": [SEEN], "derivation": {}}
    if replaced == "discarded":
        await store.replace_observations(act, result)
        await sql("update observation set pending = true")
    await other.execute("select relay.hold_memory(%s)", (done.context.space_id,))
    call: Coroutine[Any, Any, object]
    match replaced:
        case "by a job":
            call = store.store_observations(job, result)
        case "again":
            call = store.replace_observations(act, result)
        case "with a reason":
            await sql("update feedback set kind = 'compare', value = '{\"chose\": \"a\"}', at = now()")
            call = sql("select relay_choice_reason(%s, %s, %s, 'shorter')", ADAS, ADA, done.turn.turn_id)
        case _:
            call = store.decide_observations(private(ADA), ADA, False)
    async with waiting(other, call):
        await other.execute("select relay.erase_feedback(%s, array[%s]::bigint[])", (done.context.space_id, act))


async def test_an_act_that_was_kept_meanwhile_is_not_discarded(
    driver: TurnDriver, store: Store, sql: Sql, other: Other
) -> None:
    done = await driver.exchange(ADA, "hello")
    about = {"kind": "tag", "about": {"turn_id": done.turn.turn_id}, "source": "command", "value": {"tags": ["puns"]}}
    await store.feedback(dm(ADA), ADA, about | {"observations": [SEEN]})
    await sql("update observation set pending = true")
    await other.execute("select relay_decide_observations(%s, %s, true)", (ADAS, ADA))
    async with waiting(other, store.decide_observations(private(ADA), ADA, False)):
        pass
    assert await sql("select kept, withdrawn_at from feedback") == [(True, None)]


@pytest.mark.parametrize(
    ("table", "call"),
    [
        ("observation", "relay_untag(%s, %s, (select turn_id from feedback), to_jsonb(o)) from observation o"),
        ("preference", "relay_forget_preferences(%s, %s, (select jsonb_agg(id) from preference))"),
        ("preference_decision", "relay_recall_preferences(%s, %s, (select jsonb_agg(id) from preference_decision))"),
    ],
)
async def test_preferences_are_learned_while_a_change_of_them_waits(
    driver: TurnDriver, store: Store, sql: Sql, other: Other, table: str, call: str
) -> None:
    """Learning locks the memory first."""
    done = await driver.exchange(ADA, "hello")
    about = {"kind": "tag", "about": {"turn_id": done.turn.turn_id}, "source": "command", "value": {"tags": ["puns"]}}
    await store.feedback(dm(ADA), ADA, about | {"observations": [SEEN]})
    if table == "preference_decision":
        await sql("select relay_forget_preferences(%s, %s, (select jsonb_agg(id) from preference))", ADAS, ADA)
    await other.execute("select relay.hold_memory(%s)", (done.context.space_id,))
    async with waiting(other, sql("select " + call, ADAS, ADA)):
        await other.execute(f"select from {table} for no key update")


@pytest.mark.parametrize(
    ("table", "call"),
    [
        ("turn", "relay_choose_answer(private(1001), 1001, id, 'a') from turn"),
        ("turn", "relay_forget_shown(id, 1001, false, false) from turn"),
        ("session", "make_version(id, 1001, '{\"sessionDistance\": 1}') from session"),
        ("space", "relay_reset_preferences(private(1001), 1001, 0)"),
        ("thread", "turn_page(id) from thread"),
        ("thread", "relay_import_finish(id) from space"),
    ],
)
async def test_what_a_call_locks_can_be_referred_to(
    driver: TurnDriver, sql: Sql, other: Other, table: str, call: str
) -> None:
    await driver.exchange(ADA, "hello")
    await sql("update turn set prompt = '{\"forget\": []}'")
    await sql("update thread set session_id = null, context_from = 0 where %s", "import_finish" in call)
    space = "jsonb_build_object('kind', 'private', 'owner_id', 1001)"
    await other.execute("select " + call.replace("private(1001)", space))
    async with asyncio.timeout(5):
        await sql(f"select from {table} for key share")


async def test_an_erasure_clears_what_replaced_a_memory_while_it_waited(
    driver: TurnDriver, store: Store, sql: Sql, other: Other
) -> None:
    """Learned again by then, and replaced by something else: the words are only in the new memory's history."""
    add = "insert into memory (space_id, subject_id, content, number) values (%s, %s, %s, %s) returning id"
    replace = """with replaced as (update memory set status = 'superseded', replaced_by = %s where id = %s returning *)
        insert into memory_change (space_id, memory_id, user_id, action, before)
        select space_id, %s, subject_id, 'supersede', to_jsonb(r) from replaced r"""
    await driver.exchange(ADA, "My PIN is 4711.")
    ((space,),) = await sql("select id from space")
    shown = await store.erase_preview(private(ADA), {"words": "4711"}, ADA, False)
    assert shown is not None
    await store.erase_begin(shown.erasure_id, ADA, False)
    while await sql("select work ->> 'phase' from erasure") != [("memories",)]:
        await store.erase_step(shown.erasure_id)
    ((again,),) = await sql(add, space, ADA, "The PIN is 4711", 1)
    await other.execute("select relay.hold_memory(%s)", (space,))
    ((new,),) = await (await other.execute(add, (space, ADA, "The PIN is new", 2))).fetchall()
    async with waiting(other, store.erase_step(shown.erasure_id)):
        await other.execute(replace, (new, again, new))
    while not (await store.erase_step(shown.erasure_id) or FINISHED).done:
        pass
    assert await sql("select content, action, before from memory left join memory_change on memory_id = memory.id") == [
        ("The PIN is new", "learn", None)
    ]
