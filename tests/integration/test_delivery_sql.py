"""Tests delivery: replies are stored first, each part is sent once, and a part with a lost response is found."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from relay.core.errors import TurnUndone
from relay.memory.claims import ClaimedTurn
from relay.memory.rows.delivery import Delivered, Part, PartResult, RecordedIds
from relay.memory.store import Store
from tests.integration.conftest import Sql
from tests.integration.turn_driver import ADA, BEN, BOT, GROUP, POSTED, TurnDriver, incoming_of, message, private, reply


def parts(*texts: str, chat_id: int = ADA) -> list[dict[str, Any]]:
    return [Part(seq, chat_id, {"chat_id": chat_id, "text": text}) for seq, text in enumerate(texts, 1)]


def states(rows: list[dict[str, Any]]) -> list[tuple[str, bool]]:
    return [(row.status, row.uncertain) for row in rows]


def sent(seq: int, message_id: int) -> dict[str, Any]:
    return PartResult(seq, "sent", message_id)


async def answered(driver: TurnDriver, store: Store) -> ClaimedTurn:
    done = await driver.exchange(ADA, "hello", "Hi!", close=False)
    return done.turn


async def test_parts_are_sent_one_after_the_other(driver: TurnDriver, store: Store, sql: Sql) -> None:
    turn = await answered(driver, store)
    rows = await store.deliver(turn, BOT.id, parts("one", "two", "three"))
    assert states(rows) == [("sending", False), ("waiting", False), ("waiting", False)]
    row = await store.start_sending(turn, [sent(1, 501)], 2)
    assert (row.seq, row.status, row.floor_message_id) == (2, "sending", 10_000 + int(turn.updates[0]["update_id"]))
    await store.start_sending(turn, [sent(2, 502)], 3)
    await store.store_sent(turn, [sent(3, 503)], True)
    assert await sql("select seq, status, telegram_message_id from outbox order by seq") == [
        (1, "sent", 501), (2, "sent", 502), (3, "sent", 503),
    ]  # fmt: skip
    assert await sql("select telegram_message_id from posted where from_bot order by 1") == [(501,), (502,), (503,)]
    assert await sql("select status from turn") == [("done",)]


async def test_a_reply_is_stored_once(driver: TurnDriver, store: Store, sql: Sql) -> None:
    turn = await answered(driver, store)
    await store.deliver(turn, BOT.id, parts("one", "two"))
    rows = await store.deliver(turn, BOT.id, parts("other"))
    assert [row.request["text"] for row in rows] == ["one", "two"]


async def test_a_part_that_the_previous_process_was_sending_is_uncertain(driver: TurnDriver, store: Store) -> None:
    turn = await answered(driver, store)
    await store.deliver(turn, BOT.id, parts("one", "two", "three"))
    await store.start_sending(turn, [sent(1, 501)], 2)
    await store.release()
    (taken,) = await driver.claim()
    rows = await store.deliver(taken, BOT.id, parts("one", "two", "three"))
    assert states(rows) == [("sent", False), ("sending", True), ("waiting", False)]


async def test_a_part_that_was_not_sent_yet_is_not_uncertain(driver: TurnDriver, store: Store) -> None:
    turn = await answered(driver, store)
    await store.release()
    (taken,) = await driver.claim()
    assert (taken.turn_id, taken.status) == (turn.turn_id, "answered")
    assert states(await store.deliver(taken, BOT.id, parts("one"))) == [("sending", False)]


async def test_a_preview_becomes_the_first_part(driver: TurnDriver, store: Store, sql: Sql) -> None:
    turn = await driver.turn(ADA, "hello", GROUP)
    incoming = incoming_of(turn, "hello", private(ADA))
    await store.begin(incoming, "m")
    row = await store.preview(turn, BOT.id, GROUP, {"chat_id": GROUP, "text": "H…"})
    assert row.status == "sending"
    await store.store_sent(turn, [PartResult(1, "preview", 700)], False)
    await store.finish(incoming, reply("Hi!"))
    rows = await store.deliver(turn, BOT.id, parts("Hi!", "more", chat_id=GROUP))
    assert [(r.seq, r.telegram_message_id, r.request["text"]) for r in rows] == [
        (1, 700, "Hi!"), (2, None, "more"),
    ]  # fmt: skip
    await store.store_sent(turn, [sent(1, 700), sent(2, 701)], True)
    assert await sql("select message_id is not null from posted where telegram_message_id = 700") == [(True,)]


async def test_a_preview_whose_response_was_lost_keeps_the_text_that_was_sent(driver: TurnDriver, store: Store) -> None:
    turn = await driver.turn(ADA, "hello", GROUP)
    incoming = incoming_of(turn, "hello", private(ADA))
    await store.begin(incoming, "m")
    await store.preview(turn, BOT.id, GROUP, {"chat_id": GROUP, "text": "H…"})
    await store.finish(incoming, reply("Hi!"))
    await store.release()
    (taken,) = await driver.claim()
    (row,) = await store.deliver(taken, BOT.id, parts("Hi!", chat_id=GROUP))
    assert (row.uncertain, row.sending_text, row.request["text"]) == (True, "H…", "Hi!")


async def test_a_failed_part_is_not_recorded_as_sent(driver: TurnDriver, store: Store, sql: Sql) -> None:
    turn = await answered(driver, store)
    await store.deliver(turn, BOT.id, parts("one"))
    await store.store_sent(turn, [PartResult(1, "failed", error="blocked")], True)
    assert await sql("select status, error from outbox") == [("failed", "blocked")]
    assert await sql("select count(*) from posted where from_bot") == [(0,)]


async def test_private_chats_share_a_message_id_floor_and_a_supergroup_has_its_own(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await sql(POSTED, BOT.id, BEN, 90_000)
    await sql(POSTED, BOT.id, -4242, 91_000)
    await sql(POSTED, BOT.id, GROUP, 99_000)
    await sql(POSTED, BOT.id + 1, ADA, 95_000)
    turn = await answered(driver, store)
    await store.deliver(turn, BOT.id, parts("one"))
    assert await sql("select floor_message_id from outbox") == [(91_000,)]
    await store.store_sent(turn, [], True)
    (turn,) = await driver.say(message(ADA, "x", GROUP))
    await sql("delete from posted where chat_id = %s and telegram_message_id < 99000", GROUP)
    await store.deliver(turn, BOT.id, parts("one", chat_id=GROUP))
    assert await sql("select floor_message_id from outbox where chat_id = %s", GROUP) == [(99_000,)]


async def test_known_message_ids_are_those_of_the_same_counter(store: Store, sql: Sql) -> None:
    for chat, number in ((ADA, 101), (BEN, 102), (-4242, 103), (GROUP, 104), (ADA, 300)):
        await sql(POSTED, BOT.id, chat, number)
    await sql(POSTED, BOT.id + 1, ADA, 105)
    assert await store.list_known_ids(BOT.id, ADA, 100, 50) == RecordedIds(frozenset({101, 102, 103}), 300, ())
    assert await store.list_known_ids(BOT.id, GROUP, 100, 50) == RecordedIds(frozenset({104}), 104, ())
    assert await store.list_known_ids(BOT.id, -1009999999999, 0, 50) == RecordedIds(frozenset(), 0, ())


async def test_closing_a_turn_says_whether_more_messages_wait(driver: TurnDriver, store: Store) -> None:
    turn = await answered(driver, store)
    await store.pass_judging(4)
    await store.index_missing(10)
    await driver.say(message(ADA, "more"))
    assert await store.store_sent(turn, [], True) == Delivered(True, ())
    (turn,) = await driver.claim()
    assert await store.store_sent(turn, [], True) == Delivered(False, ())


async def test_closing_a_turn_says_that_index_entries_are_due(driver: TurnDriver, store: Store) -> None:
    turn = await answered(driver, store)
    await store.pass_judging(4)
    assert await store.store_sent(turn, [], True) == Delivered(False, ("index",))


async def test_closing_the_fifth_exchange_says_that_a_summary_is_due(driver: TurnDriver, store: Store) -> None:
    for number in range(4):
        await driver.exchange(ADA, f"q{number}")
    fifth = await driver.exchange(ADA, "q5", close=False)
    await driver.store.pass_judging(4)
    assert await store.store_sent(fifth.turn, [], True) == Delivered(False, ("summary", "title", "index"))


@pytest.mark.parametrize("done", [True, False])
async def test_a_control_turn_can_end_without_a_message(driver: TurnDriver, store: Store, done: bool) -> None:
    (control,) = await driver.say(message(ADA, "/stop"))
    assert await store.deliver(control, BOT.id, []) == []
    assert await store.store_sent(control, [], done) == Delivered(False, ())


async def test_a_line_replaces_a_voice_note_that_cannot_be_made(driver: TurnDriver, store: Store, sql: Sql) -> None:
    turn = await answered(driver, store)
    say = {"chat_id": ADA, "method": "sendVoice", "say": {"text": "Hi!", "language": "en"}}
    await store.deliver(turn, BOT.id, [*parts("Hi!"), Part(2, ADA, say)])
    row = await store.start_sending(turn, [sent(1, 501)], 2)
    assert (row.status, row.sending_text, row.request) == ("sending", None, say)
    line = {"chat_id": ADA, "text": "I could not.", "say": {}}
    row = await store.replace_sending(turn, 2, line)
    assert (row.status, row.sending_text, row.request) == ("sending", "I could not.", line)
    rows = await store.deliver(turn, BOT.id, [])
    assert states(rows) == [("sent", False), ("sending", True)]
    await store.store_sent(turn, [sent(2, 502)], True)
    assert await sql("select status from turn") == [("done",)]


async def test_the_text_of_a_sent_voice_note_is_not_stored_twice(driver: TurnDriver, store: Store, sql: Sql) -> None:
    turn = await answered(driver, store)
    say = {"chat_id": ADA, "method": "sendVoice", "say": {"text": "Hi!", "language": "en"}}
    await store.deliver(turn, BOT.id, [Part(1, ADA, say)])
    await store.store_sent(turn, [sent(1, 501)], True)
    assert await sql("select request -> 'say' from outbox") == [({"language": "en"},)]


async def test_a_stored_answer_can_be_read_aloud_with_its_space(driver: TurnDriver, store: Store) -> None:
    turn = await answered(driver, store)
    said = await store.answer_said(turn.turn_id)
    assert said is not None
    assert said.text == "Hi!"
    assert (said.space.kind, said.space.owner_id) == ("private", ADA)
    assert await store.answer_said(turn.turn_id + 99) is None


async def test_an_answer_lost_by_the_server_is_not_sent(driver: TurnDriver) -> None:
    """The server crashed before the saved answer reached the disk, but the process still has the answer."""
    turn = await driver.turn(ADA, "Hello")
    incoming = incoming_of(turn, "Hello", private(ADA))
    with pytest.raises(TurnUndone):
        await driver.store.finish(incoming, reply("Hi!"))
    await driver.store.begin(incoming, "model-1")
    with pytest.raises(TurnUndone):
        await driver.store.deliver(replace(turn, status="answered"), BOT.id, parts("Hi!"))
    assert (await driver.store.absorb(turn)).parts == ()
    await driver.store.finish(incoming, reply("Hi!"))
    assert states(await driver.store.deliver(replace(turn, status="answered"), BOT.id, parts("Hi!")))
