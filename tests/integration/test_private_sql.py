"""Tests sessions off the record, which leave only their counts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from relay.archive.export import pages
from relay.core.models import Thread
from relay.memory.rows.controls import OffRecord
from relay.memory.rows.delivery import Part, PartResult
from relay.memory.rows.search import SearchQuery
from relay.memory.store import Store
from tests.integration.conftest import Sql
from tests.integration.dump import holding
from tests.integration.turn_driver import (
    ADA,
    BEN,
    BOT,
    GROUP,
    TurnDriver,
    dm,
    fact,
    group,
    incoming_of,
    message,
    private,
    reply,
)

WORDS = ("zanzibarix", "quetzalcoatlus")
SEARCH = SearchQuery("zanzibarix")


async def secret(driver: TurnDriver, sql: Sql, times: int = 6) -> None:
    """Runs a session off the record with a lot of data."""
    await driver.exchange(ADA, "Before it.", "Yes.")
    assert await driver.store.private(dm(ADA), True, ADA) == OffRecord(True, False)
    for number in range(times):
        turn = await driver.turn(ADA, f"Zanzibarix {number} is hidden")
        incoming = incoming_of(turn, f"Zanzibarix {number} is hidden", private(ADA))
        papers = [
            {
                "unique_id": f"u{number}",
                "name": "q.pdf",
                "mime": "",
                "kind": "PDF",
                "pages": 1,
                "parts": ["quetzalcoatlus"],
            }
        ]
        context = await driver.store.begin(replace(incoming, documents=papers), "model-1")
        assert "Before it." not in str(context.recent)
        finished = reply("I keep it: quetzalcoatlus.", [fact(ADA, "hides zanzibarix")])
        told = await driver.store.finish(incoming, finished | {"events": [{"kind": "tool", "input": "zanzibarix"}]})
        assert (told.changes, told.signs) == ([], ("private",))
        request = {"chat_id": ADA, "text": "I keep it: quetzalcoatlus."}
        await driver.store.deliver(turn, BOT.id, [Part(1, ADA, request)])
        sent = [PartResult(1, "sent", 500 + number)]
        await driver.store.store_sent(turn, sent, True)


async def test_nothing_of_an_off_the_record_session_remains_after_its_end(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await secret(driver, sql)
    held = await holding(sql, *WORDS)
    assert held.keys() == {"message", "outbox", "turn"} | (held.keys() & {"posted"}), "no events, no memory, no titles"
    assert await sql("select count(*) from job where kind = 'summary'") == [(1,)], (
        "the summary may only cover earlier messages"
    )
    assert await sql("select count(*) from job j join session s on s.id::text = j.key where private") == [(0,)]
    assert await store.erase_preview(private(ADA), {"words": "zanzibarix"}, ADA, False)
    done = await store.private(dm(ADA), False, ADA)
    assert done == OffRecord(False, True)
    assert await holding(sql, *WORDS) == {}
    assert await sql("select exchange_count from thread") == [(7,)]
    assert await sql("select count(*) from spend") == [(7,)]
    assert await sql("select count(*) from message") == [(2,)]
    after = await driver.exchange(ADA, "After it.")
    assert after.context.recent == ()


async def test_an_update_stored_during_the_end_is_erased_with_its_turn(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    """The update was still being stored while the session was erased, so the erasure didn't see it."""
    await driver.exchange(ADA, "Before it.", "Yes.")
    await store.private(dm(ADA), True, ADA)
    turn = await driver.turn(ADA, "Zanzibarix is hidden")
    ((session,),) = await sql("select session_id from inbox where turn_id = %s", turn.turn_id)
    await sql("update inbox set session_id = null where turn_id = %s", turn.turn_id)
    await store.private(dm(ADA), False, ADA)
    assert await sql("select erased_at is not null from session where id = %s", session) == [(True,)]
    await sql("update inbox set session_id = %s where turn_id = %s", session, turn.turn_id)
    incoming = incoming_of(turn, "Zanzibarix is hidden", private(ADA))
    await store.begin(incoming, "model-1")
    await store.finish(incoming, reply("I keep it: quetzalcoatlus."))
    await driver.close(turn)
    assert await holding(sql, *WORDS) == {}
    assert await sql("select erased_at is not null from session where id = %s", session) == [(True,)]


async def test_new_ends_an_off_the_record_session_too(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await secret(driver, sql, 2)
    assert (await store.new_session(dm(ADA), "Next")).private
    assert await holding(sql, *WORDS) == {}
    assert await sql("select title from session order by id desc limit 1") == [("Next",)]


async def test_twelve_hours_of_silence_end_an_off_the_record_session(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await secret(driver, sql, 2)
    assert await store.sweep_private(12) == 0
    assert await holding(sql, *WORDS)
    await sql("update thread set last_at = now() - interval '13 hours'")
    assert await store.sweep_private(12) == 0
    assert await holding(sql, *WORDS) == {}


async def test_a_message_after_the_idle_gap_begins_on_the_record(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await secret(driver, sql, 2)
    await sql("update thread set last_at = now() - interval '30 hours'")
    said = await driver.exchange(ADA, "On the record.")
    assert said.context.recent == ()
    assert await holding(sql, *WORDS) == {}
    assert await sql("select private from session order by id desc limit 1") == [(False,)]


async def test_a_running_turn_at_the_end_is_erased_when_it_closes(
    driver: TurnDriver, store: Store, sql: Sql, another: Any
) -> None:
    await secret(driver, sql, 1)
    turn = await driver.turn(ADA, "Zanzibarix once more")
    incoming = incoming_of(turn, "Zanzibarix once more", private(ADA))
    await store.begin(incoming, "model-1")
    await store.private(dm(ADA), False, ADA)
    assert await store.sweep_private(12) == 1
    await store.begin(incoming, "model-1")  # runs again after a crash
    await store.finish(incoming, reply("Zanzibarix indeed", [fact(ADA, "zanzibarix")]))
    await driver.close(turn)
    assert await holding(sql, *WORDS) == {}
    assert await another().sweep_private(12) == 0
    assert await sql("select count(*) from session where private and erased_at is null") == [(0,)]


async def test_searches_exports_and_lists_omit_an_off_the_record_session(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await secret(driver, sql, 2)
    assert (await store.find(private(ADA), BOT.id, SEARCH, 0, 5)).total == 0
    lines = [row async for page in pages(store, private(ADA), "1") for row in page]
    assert "anzibarix" not in str(lines)
    assert "Before it." in str(lines)
    assert "q.pdf" not in str(lines)
    assert (await store.sessions(dm(ADA), 0, 10)).total == 1


async def test_backups_and_moves_omit_an_off_the_record_session(
    driver: TurnDriver, store: Store, sql: Sql, database: Any, tmp_path: Path
) -> None:
    await secret(driver, sql, 2)
    turn = await driver.turn(ADA, "Zanzibarix under way")
    await store.begin(incoming_of(turn, "Zanzibarix under way", private(ADA)), "model-1")
    state = await database.call("move_state")
    copied = ""
    for table in state["tables"]:
        page = await database.call("move_page", table=table["name"], after=None, most_rows=1000, most_bytes=10**7)
        copied += str(page["rows"])
    assert "Before it." in copied
    assert not [word for word in WORDS if word in copied.lower()]


async def test_a_message_waiting_at_the_end_is_answered_and_erased(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await secret(driver, sql, 1)
    claimed = await driver.turn(ADA, "Zanzibarix was claimed")
    assert await driver.say(message(ADA, "Zanzibarix waited", entities=[{"type": "bot_command"}])) == []
    await store.private(dm(ADA), False, ADA)
    first = incoming_of(claimed, "Zanzibarix was claimed", private(ADA))
    await store.begin(first, "model-1")
    after = await sql("select session_id from thread")
    told = await store.finish(first, reply("Zanzibarix!", [fact(ADA, "zanzibarix")]))
    assert (told.changes, told.signs) == ([], ("private",))
    await driver.close(claimed)
    (waited,) = await driver.claim()
    second = incoming_of(waited, "Zanzibarix waited", private(ADA))
    await store.begin(second, "model-1")
    await store.finish(second, reply("Zanzibarix!"))
    await driver.close(waited)
    assert await holding(sql, *WORDS) == {}
    assert await sql("select count(*) from message where session_id = %s", after[0][0]) == [(0,)]
    assert await sql("select count(*) from session where private and erased_at is null") == [(0,)]
    on = await driver.exchange(ADA, "On the record again.")
    assert on.context.recent == ()
    assert await sql("select count(*) from message where session_id = %s", after[0][0]) == [(2,)]


async def test_a_turn_set_aside_before_it_began_is_erased_too(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await secret(driver, sql, 1)
    turn = await driver.turn(ADA, "Zanzibarix breaks it")
    for _ in range(3):
        aside = await store.fail(turn, "broken", 0.0)
        if not aside:
            (turn,) = await driver.claim()
    assert "inbox" in await holding(sql, *WORDS)
    await store.private(dm(ADA), False, ADA)
    assert await holding(sql, *WORDS) == {}


async def test_waiting_off_the_record_messages_are_in_no_copy(
    driver: TurnDriver, store: Store, sql: Sql, database: Any
) -> None:
    await secret(driver, sql, 1)
    await driver.say(message(ADA, "Zanzibarix waits"), limit=0)
    copied = ""
    for table in (await database.call("move_state"))["tables"]:
        page = await database.call("move_page", table=table["name"], after=None, most_rows=1000, most_bytes=10**7)
        copied += str(page["rows"])
    assert not [word for word in WORDS if word in copied.lower()]
    assert "pending" not in copied


@pytest.mark.parametrize("joined", [True, False])
async def test_a_session_stays_off_the_record_when_the_chats_memory_changes(
    driver: TurnDriver, store: Store, sql: Sql, joined: bool
) -> None:
    """Someone joined a group that one person had to themselves, or all others left."""
    before, after = (private(ADA), group()) if joined else (group(), private(ADA))
    await driver.exchange(ADA, "Before it.", chat_id=GROUP, space=after)
    await store.private(Thread(before, GROUP, 0), True, ADA, True)
    await driver.exchange(ADA, "Zanzibarix is hidden", chat_id=GROUP, space=before)
    for text in ("Quetzalcoatlus too", "Quetzalcoatlus again"):
        said = await driver.exchange(ADA, text, chat_id=GROUP, space=after, actions=[fact(ADA, "hides quetzalcoatlus")])
        assert "Zanzibarix" not in str(said.context.recent), "that was said in the conversation of another memory"
        assert said.told.signs == ("private",)
    assert "Quetzalcoatlus too" in str(said.context.recent)
    assert "zanzibarix" not in await holding(sql, "zanzibarix")
    assert (await store.private(Thread(after, GROUP, 0), None, ADA, True)).private
    assert await store.private(Thread(after, GROUP, 0), False, ADA) == OffRecord(False, True)
    assert not (await store.private(Thread(after, GROUP, 0), None, ADA, True)).private
    assert await holding(sql, *WORDS) == {}
    assert await sql("select count(*) from message") == [(2,)]
    later = await driver.exchange(ADA, "After it.", chat_id=GROUP, space=after)
    assert later.context.recent == ()


async def test_a_late_update_is_erased_even_if_the_chats_memory_changed(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await store.private(Thread(private(ADA), GROUP, 0), True, ADA, True)
    turn = await driver.turn(ADA, "Zanzibarix is hidden", GROUP)
    await store.private(Thread(private(ADA), GROUP, 0), False, ADA)
    incoming = incoming_of(turn, "Zanzibarix is hidden", group())
    await store.begin(incoming, "model-1")
    await store.finish(incoming, reply("I keep it: quetzalcoatlus."))
    await driver.close(turn)
    assert await holding(sql, *WORDS) == {}
    assert not (await store.private(Thread(group(), GROUP, 0), None, ADA, True)).private


async def test_a_session_can_be_ended_after_the_chats_memory_changed(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await store.private(Thread(private(ADA), GROUP, 0), True, ADA, True)
    await driver.exchange(ADA, "Zanzibarix is hidden", chat_id=GROUP, space=private(ADA))
    assert await store.private(Thread(group(), GROUP, 0), False, ADA) == OffRecord(False, True)
    assert await holding(sql, *WORDS) == {}


async def test_in_a_group_only_who_began_an_off_the_record_session_or_admins_end_it(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await driver.exchange(ADA, "Hello", chat_id=GROUP)
    refused = OffRecord(False, False, refused=True)
    assert await store.private(Thread(group(), GROUP, 0), True, BEN, False) == refused
    assert (await store.private(Thread(group(), GROUP, 0), True, ADA, True)).private
    assert await store.private(Thread(group(), GROUP, 0), False, BEN, False) == OffRecord(True, True, refused=True)
    assert await store.private(Thread(group(), GROUP, 0), False, ADA, False) == OffRecord(False, True)
    assert (await store.private(Thread(group(), GROUP, 0), True, ADA, True)).private
    assert await store.private(Thread(group(), GROUP, 0), False, BEN, True) == OffRecord(False, True)


async def test_a_persona_set_off_the_record_is_erased_with_the_session(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await driver.exchange(ADA, "Before it.", "Yes.")
    await store.set_persona(ADA, 0, "You are a pirate", ADA, "Ada")
    await store.private(dm(ADA), True, ADA)
    now = (await store.set_persona(ADA, 0, "You know of the zanzibarix", ADA, "Ada")).present
    assert now is not None
    assert now.session_id is not None
    exported = await store.export_space(private(ADA))
    assert exported is not None
    assert [one["text"] for one in exported.personas] == ["You are a pirate"]
    await store.private(dm(ADA), False, ADA)
    assert await holding(sql, *WORDS) == {}
    present = await store.persona(ADA, 0)
    assert present is not None
    assert present.text == "You are a pirate", "the previous persona must be active again"
