"""Checks that old records are dropped, and that canonical data and records needed later stay."""

from __future__ import annotations

from datetime import UTC

from relay.jobs.night import tidy
from relay.memory.rows.delivery import PartResult
from relay.memory.rows.turns.edits import EditResult
from relay.memory.rows.turns.record import PromptRecord
from relay.memory.store import Store
from relay.surfaces.chat.history.why import NOT_KEPT, format_explanation
from relay.surfaces.telegram.outgoing.render import message_parts
from relay.surfaces.telegram.parsing.place import Place
from tests.integration.conftest import Sql
from tests.integration.edits import answered as edited
from tests.integration.edits import edit_of
from tests.integration.turn_driver import (
    ADA,
    BEN,
    BOT,
    TurnDriver,
    dm,
    due_announcements,
    fact,
    incoming_of,
    private,
    reply,
)

RECORD = {"soul": 1, "tokens": {"soul": 1000}, "recent": [1, 2], "reply_to": {"message_id": 4}}
OLD = "update turn set done_at = done_at - interval '181 days' where id = %s"


async def answered(driver: TurnDriver, text: str, *facts: str, user_id: int = ADA, tools: tuple[str, ...] = ()) -> int:
    """Delivers an exchange with a record of its prompt, and returns its turn's id."""
    turn = await driver.turn(user_id, text)
    incoming = incoming_of(turn, text, private(user_id))
    await driver.store.begin(incoming, "m")
    said = reply(f"About {text}", [fact(user_id, one) for one in facts]) | {"prompt": RECORD}
    said["told"] |= {"tools": list(tools)}
    await driver.store.finish(incoming, said)
    await driver.store.deliver(turn, BOT.id, message_parts(f"About **{text}**", Place(user_id, 0, True)))
    sent = PartResult(1, "sent", 50_000 + turn.turn_id)
    await driver.store.store_sent(turn, [sent], True)
    return turn.turn_id


async def drop(store: Store) -> int:
    return await tidy(store, keep_days=180)


async def test_old_records_are_dropped_and_messages_and_memories_stay(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    old = await answered(driver, "boats", "has a boat", tools=("searched memory",))
    new = await answered(driver, "tea")
    canonical = "select text, blocks from message order by id"
    said, events = await sql(canonical), await sql("select count(*) from event")
    await sql(OLD, old)
    assert await drop(store) == 1
    assert await drop(store) == 0, "each record may be dropped only once"
    rows = await sql("select id, prompt ? 'soul', told ->> 'text', dropped from turn order by id")
    assert rows == [(old, False, None, True), (new, True, "About tea", False)]
    assert await sql("select request ->> 'text', request ? 'entities' from outbox order by turn_id") == [
        ("", False), ("About tea", True),
    ]  # fmt: skip
    assert await sql(canonical) == said
    assert await sql("select count(*) from event") == events, "events must be kept"
    assert [row.content for row in (await store.memories(private(ADA), 0, 5)).memories] == ["has a boat"]


async def test_records_kept_forever_are_never_dropped(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await sql(OLD, await answered(driver, "boats"))
    assert await tidy(store, keep_days=0) == 0
    assert await sql("select dropped from turn") == [(False,)]


async def test_why_says_that_an_old_record_is_no_longer_kept(driver: TurnDriver, store: Store, sql: Sql) -> None:
    old, new = await answered(driver, "boats"), await answered(driver, "tea")
    await sql(OLD, old)
    await drop(store)
    found = [await store.explain(turn, ADA) for turn in (old, new)]
    told = [format_explanation(one, 1, UTC) for one in found if one]
    assert NOT_KEPT in told[0]
    assert "soul: version" not in told[0]
    assert "soul: version 1" in told[1]


async def test_why_does_not_fail_if_the_record_was_erased(driver: TurnDriver, store: Store, sql: Sql) -> None:
    turn = await answered(driver, "boats")
    await sql("update turn set prompt = null")
    found = await store.explain(turn, ADA)
    assert found is not None
    assert found.prompt == PromptRecord()


async def test_a_change_can_be_undone_after_its_record_was_dropped(driver: TurnDriver, store: Store, sql: Sql) -> None:
    turn = await answered(driver, "boats", "has a boat")
    await sql(OLD, turn)
    await drop(store)
    ((change,),) = await sql("select id from memory_change")
    await store.decide_change(change, ADA, False, "undo")
    assert await sql("select status from memory_change") == [("undone",)]
    assert (await store.memories(private(ADA), 0, 5)).memories == ()


async def test_an_edited_old_message_is_offered_a_new_answer_only_if_its_text_differs(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    claimed, _, update = await edited(driver)
    await sql(OLD, claimed.turn_id)
    assert await drop(store) == 1
    assert await store.edit(edit_of(update, "helo")) == EditResult(), "the edit has the text that was answered"
    offer = (await store.edit(edit_of(update, "hello", 2))).offer
    assert (offer.turn_id, offer.message_id) == (claimed.turn_id, 900)
    assert offer.rows, "the buttons must still be known"


async def test_the_records_of_an_unfinished_turn_are_kept(driver: TurnDriver, store: Store, sql: Sql) -> None:
    turn = await driver.turn(ADA, "hello")
    incoming = incoming_of(turn, "hello", private(ADA))
    await driver.store.begin(incoming, "m")
    await driver.store.finish(incoming, reply("Hi!") | {"prompt": RECORD})
    await store.deliver(turn, BOT.id, message_parts("Hi!", Place(ADA, 0, True)))
    await sql("update turn set created_at = created_at - interval '1 year'")
    assert await drop(store) == 0
    assert await sql("select request ->> 'text', sending_text from outbox") == [("Hi!", "Hi!")]


async def test_the_turn_of_a_chat_message_is_known_forever(driver: TurnDriver, store: Store, sql: Sql) -> None:
    turn = await answered(driver, "boats")
    await sql(OLD, turn)
    await drop(store)
    assert await sql("select count(*) from posted where turn_id = %s and from_bot", turn) == [(1,)]
    assert await store.find_answered_turn(BOT.id, dm(ADA), 50_000 + turn) == turn


async def test_a_late_finding_of_an_old_message_is_announced_in_a_new_message(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    turn = await answered(driver, "boats", "has a boat")
    await sql(OLD, turn)
    await drop(store)
    await sql("select relay.announce(t, '{1}') from turn t where id = %s", turn)
    (due,) = await due_announcements(store)
    assert due.shown is None, "the old answer must not be edited"


async def test_a_sent_text_is_not_stored_twice(driver: TurnDriver, sql: Sql) -> None:
    await answered(driver, "boats")
    assert await sql("select status, sending_text, request ->> 'text' from outbox") == [("sent", None, "About boats")]


async def test_a_text_whose_edit_was_never_confirmed_is_dropped_again(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    turn = await answered(driver, "boats")
    await sql(OLD, turn)
    await drop(store)
    ((message_id,),) = await sql("select telegram_message_id from outbox")
    assert await store.start_redrawing(BOT.id, ADA, message_id, {"text": "Sails instead"})
    assert await sql("select sending_text from outbox") == [("Sails instead",)]
    await drop(store)
    assert await sql("select sending_text from outbox") == [(None,)]


async def test_spending_is_kept_as_long_as_the_usage_report_needs_it(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    for user_id in (ADA, BEN):
        await answered(driver, "boats", user_id=user_id)
    await sql("update spend set at = at - interval '95 days' where user_id = %s", ADA)
    assert await tidy(store, keep_days=1) == 0
    await sql("update spend set at = at - interval '6 days' where user_id = %s", ADA)
    assert await tidy(store, keep_days=1) == 1
    assert await sql("select user_id from spend") == [(BEN,)]


async def test_a_step_drops_at_most_the_given_number_of_records(driver: TurnDriver, store: Store, sql: Sql) -> None:
    for text in ("one", "two", "three"):
        await sql(OLD, await answered(driver, text))
    assert [await store.drop_records(180, 2) for _ in range(3)] == [2, 1, 0]


async def test_updates_set_aside_are_kept_as_long_as_other_records(driver: TurnDriver, store: Store, sql: Sql) -> None:
    for number in (1, 2):
        turn = await driver.turn(ADA, f"hello {number}")
        while not await store.fail(turn, "no", 0):
            [turn] = await driver.claim()
    await sql(
        "update inbox set received_at = now() - interval '200 days' where payload ->> 'message' like '%%hello 1%%'"
    )
    assert await drop(store) == 1
    assert [text for (text,) in await sql("select payload #>> '{message,text}' from inbox order by received_at")] == [
        None,
        "hello 2",
    ]
