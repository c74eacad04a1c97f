"""Records of what happened are dropped when they are old: what is canonical, or needed later, stays."""

from __future__ import annotations

from datetime import UTC

from relay.core.models import Space
from relay.core.prices import Prices
from relay.jobs.tidy import tidy
from relay.memory.rows.delivery import PartResult
from relay.memory.rows.turns.edits import EditResult
from relay.memory.rows.turns.record import PromptRecord
from relay.memory.store import Store
from relay.surfaces.chat.history.why import NOT_KEPT, explained
from relay.surfaces.telegram.outgoing.render import message_parts
from relay.surfaces.telegram.parsing.place import Place
from tests.integration.conftest import Sql
from tests.integration.edits import answered as edited
from tests.integration.edits import edit_of
from tests.integration.house import ADA, BEN, BOT, House, due_announcements, fact, incoming_of, private, reply

RECORD = {"soul": 1, "tokens": {"soul": 1000}, "recent": [1, 2], "reply_to": {"message_id": 4}}
OLD = "update turn set done_at = done_at - interval '181 days' where id = %s"


async def answered(house: House, text: str, *facts: str, user_id: int = ADA, tools: tuple[str, ...] = ()) -> int:
    """An exchange with a record of its prompt, delivered; its turn."""
    turn = await house.turn(user_id, text)
    incoming = incoming_of(turn, text, private(user_id))
    await house.store.begin(incoming, "m")
    said = reply(f"About {text}", [fact(user_id, one) for one in facts]) | {"prompt": RECORD}
    said["told"] |= {"tools": list(tools)}
    await house.store.finish(incoming, said)
    await house.store.deliver(turn, BOT.id, message_parts(f"About **{text}**", Place(user_id, 0, True)))
    sent = PartResult(1, "sent", 50_000 + turn.turn_id)
    await house.store.sent(turn, [sent], True)
    return turn.turn_id


async def drop(store: Store) -> int:
    return await tidy(store, keep_days=180)


async def test_old_records_go_and_what_was_said_and_learned_stays(house: House, store: Store, sql: Sql) -> None:
    old = await answered(house, "boats", "has a boat", tools=("searched memory",))
    new = await answered(house, "tea")
    canonical = "select text, blocks from message order by id"
    said, events = await sql(canonical), await sql("select count(*) from event")
    await sql(OLD, old)
    assert await drop(store) == 1
    assert await drop(store) == 0, "once"
    rows = await sql("select id, prompt ? 'soul', told ->> 'text', dropped from turn order by id")
    assert rows == [(old, False, None, True), (new, True, "About tea", False)]
    assert await sql("select request ->> 'text', request ? 'entities' from outbox order by turn_id") == [
        ("", False), ("About tea", True),
    ]  # fmt: skip
    assert await sql(canonical) == said
    assert await sql("select count(*) from event") == events, "events are for ever"
    assert [row.content for row in (await store.memories(private(ADA), 0, 5)).memories] == ["has a boat"]


async def test_for_ever_means_for_ever(house: House, store: Store, sql: Sql) -> None:
    await sql(OLD, await answered(house, "boats"))
    assert await tidy(store, keep_days=0) == 0
    assert await sql("select dropped from turn") == [(False,)]


async def test_why_says_that_it_is_not_kept_and_tells_all_of_newer_answers(
    house: House, store: Store, sql: Sql
) -> None:
    old, new = await answered(house, "boats"), await answered(house, "tea")
    await sql(OLD, old)
    await drop(store)
    found = [await store.why(turn, ADA) for turn in (old, new)]
    told = [explained(one, 1, UTC, Prices()) for one in found if one]
    assert NOT_KEPT in told[0]
    assert "soul: version" not in told[0]
    assert "soul: version 1" in told[1]


async def test_why_about_an_answer_whose_record_was_erased_does_not_fail(house: House, store: Store, sql: Sql) -> None:
    turn = await answered(house, "boats")
    await sql("update turn set prompt = null")
    found = await store.why(turn, ADA)
    assert found is not None
    assert found.prompt == PromptRecord()


async def test_a_change_is_undone_long_after(house: House, store: Store, sql: Sql) -> None:
    turn = await answered(house, "boats", "has a boat")
    await sql(OLD, turn)
    await drop(store)
    ((change,),) = await sql("select id from memory_change")
    await store.decide_change(change, ADA, False, "undo")
    assert await sql("select status from memory_change") == [("undone",)]
    assert (await store.memories(private(ADA), 0, 5)).memories == ()


async def test_an_edit_of_an_old_message_is_offered_a_new_answer_once_its_words_are_others(
    house: House, store: Store, sql: Sql
) -> None:
    claimed, _, update = await edited(house)
    await sql(OLD, claimed.turn_id)
    assert await drop(store) == 1
    assert await store.edit(edit_of(update, "helo")) == EditResult(), "it says what was answered"
    offer = (await store.edit(edit_of(update, "hello", 2))).offer
    assert (offer.turn_id, offer.message_id) == (claimed.turn_id, 900)
    assert offer.rows, "its buttons are known"


async def test_what_is_not_done_is_left_alone(house: House, store: Store, sql: Sql) -> None:
    turn = await house.turn(ADA, "hello")
    incoming = incoming_of(turn, "hello", private(ADA))
    await house.store.begin(incoming, "m")
    await house.store.finish(incoming, reply("Hi!") | {"prompt": RECORD})
    await store.deliver(turn, BOT.id, message_parts("Hi!", Place(ADA, 0, True)))
    await sql("update turn set created_at = created_at - interval '1 year'")
    assert await drop(store) == 0
    assert await sql("select request ->> 'text', sending_text from outbox") == [("Hi!", "Hi!")]


async def test_which_message_in_the_chat_is_whose_is_known_for_ever(house: House, store: Store, sql: Sql) -> None:
    turn = await answered(house, "boats")
    await sql(OLD, turn)
    await drop(store)
    assert await sql("select count(*) from posted where turn_id = %s and from_bot", turn) == [(1,)]
    assert await store.answered_turn(BOT.id, ADA, 0, 50_000 + turn, Space("private", owner_id=ADA)) == turn


async def test_what_is_learned_later_of_an_old_message_is_told_in_a_message_of_its_own(
    house: House, store: Store, sql: Sql
) -> None:
    turn = await answered(house, "boats", "has a boat")
    await sql(OLD, turn)
    await drop(store)
    await sql("select relay.announce(t, '{1}') from turn t where id = %s", turn)
    (due,) = await due_announcements(store)
    assert due.shown is None, "the answer is not edited into nothing"


async def test_a_text_is_not_kept_twice_once_it_is_sent(house: House, sql: Sql) -> None:
    await answered(house, "boats")
    assert await sql("select status, sending_text, request ->> 'text' from outbox") == [("sent", None, "About boats")]


async def test_what_was_spent_is_kept_as_long_as_usage_reaches_back(house: House, store: Store, sql: Sql) -> None:
    for user_id in (ADA, BEN):
        await answered(house, "boats", user_id=user_id)
    await sql("update spend set at = at - interval '95 days' where user_id = %s", ADA)
    assert await tidy(store, keep_days=1) == 0
    await sql("update spend set at = at - interval '6 days' where user_id = %s", ADA)
    assert await tidy(store, keep_days=1) == 1
    assert await sql("select user_id from spend") == [(BEN,)]


async def test_a_step_drops_no_more_than_it_is_told_to(house: House, store: Store, sql: Sql) -> None:
    for text in ("one", "two", "three"):
        await sql(OLD, await answered(house, text))
    assert [await store.drop_records(180, 2) for _ in range(3)] == [2, 1, 0]


async def test_what_was_set_aside_is_kept_as_long_as_other_records(house: House, store: Store, sql: Sql) -> None:
    for number in (1, 2):
        turn = await house.turn(ADA, f"hello {number}")
        while not await store.fail(turn, "no", 0):
            [turn] = await house.claim()
    await sql(
        "update inbox set received_at = now() - interval '200 days' where payload ->> 'message' like '%%hello 1%%'"
    )
    assert await drop(store) == 1
    assert [text for (text,) in await sql("select payload #>> '{message,text}' from inbox order by received_at")] == [
        None,
        "hello 2",
    ]
