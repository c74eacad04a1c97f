"""Tests the outbox: a queued message is sent once per key, when it is due, in order in each chat and topic."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from relay.core.errors import TurnLost
from relay.core.models import Button
from relay.memory.claims import ClaimedTurn
from relay.memory.rows.delivery import Message, Part, PartResult
from relay.memory.store import Store
from tests.integration.conftest import Sql
from tests.integration.turn_driver import ADA, BEN, BOT, GROUP, TurnDriver, send_queued

Another = Callable[[], Store]


def to(chat_id: int, text: str, key: str | None = None, topic_id: int = 0) -> Message:
    return Message(chat_id=chat_id, user_id=ADA, text=text, key=key, topic_id=topic_id)


async def due(store: Store, limit: int = 50) -> dict[str, ClaimedTurn]:
    """Returns the turns of the queued messages that are due, by their texts."""
    turns = (await store.claim(BOT.id, limit))[0]
    return {turn.message.text: turn for turn in turns if turn.message}


async def send(store: Store, turn: ClaimedTurn, number: int = 900) -> None:
    assert turn.message
    await store.deliver(turn, BOT.id, [Part(1, ADA, {"chat_id": ADA, "text": turn.message.text})])
    await store.store_sent(turn, [PartResult(1, "sent", number)], True)


async def test_a_message_is_queued_once_per_key_even_after_it_was_sent(store: Store) -> None:
    assert await store.enqueue(BOT.id, [to(ADA, "one", "a"), to(ADA, "two"), to(ADA, "two")]) == 3
    assert await store.enqueue(BOT.id, [to(ADA, "another", "a")]) == 0
    for _ in range(3):
        for turn in (await due(store)).values():
            await send(store, turn)
    assert await store.enqueue(BOT.id, [to(ADA, "another", "a")]) == 0
    assert await store.enqueue(BOT.id + 1, [to(ADA, "another", "a")]) == 1, "every bot has its own keys"


async def test_a_message_is_never_sent_before_its_time(store: Store, sql: Sql) -> None:
    soon, far = (datetime.now(UTC) + timedelta(seconds=seconds) for seconds in (50, 400 * 86_400))
    await store.enqueue(BOT.id, [replace(to(ADA, "far"), not_before=far), replace(to(ADA, "soon"), not_before=soon)])
    turns, news = await store.claim(BOT.id, 50)
    assert turns == []
    assert news.wait
    assert 40 < news.wait <= 50
    await store.enqueue(BOT.id, [to(ADA, "now")])
    assert list(await due(store)) == ["now"], "a message that is not due must not delay others"
    await sql("update outbox set not_before = now() where request ->> 'text' = 'soon'")
    assert await due(store) == {}, "messages of a chat must be sent one after the other"
    await sql("update turn set status = 'done'")
    assert list(await due(store)) == ["soon"]


async def test_a_message_queued_by_a_fast_clock_is_sent_at_once_after_correction(store: Store, sql: Sql) -> None:
    later = datetime.now(UTC) + timedelta(minutes=90)
    await store.enqueue(BOT.id, [to(ADA, "now"), replace(to(BEN, "later"), not_before=later)])
    await sql("update outbox set created_at = created_at + interval '1 hour'")
    await sql("update outbox set not_before = created_at where request ->> 'text' = 'now'")
    assert list(await due(store)) == ["now"]


async def test_messages_are_sent_one_after_the_other_in_each_chat_and_topic(store: Store, another: Another) -> None:
    given = [to(ADA, "1"), to(ADA, "2"), to(BEN, "ben"), to(GROUP, "topic 1", topic_id=4), to(GROUP, "2", topic_id=5)]
    await store.enqueue(BOT.id, [*given, to(GROUP, "topic 2", topic_id=4)])
    first = await due(store)
    assert sorted(first) == ["1", "2", "ben", "topic 1"]
    assert await due(another()) == {}
    await send(store, first["1"])
    second = await due(another())
    assert list(second) == ["2"]
    assert second["2"].message
    assert second["2"].message.chat_id == ADA


async def test_another_process_finishes_sending_and_the_first_is_fenced_off(
    store: Store, another: Another, sql: Sql
) -> None:
    await store.enqueue(BOT.id, [to(ADA, "one")])
    (turn,) = (await due(store)).values()
    part = Part(1, ADA, {"chat_id": ADA, "text": "one"})
    (row,) = await store.deliver(turn, BOT.id, [part])
    assert (row.status, row.uncertain, row.sending_text) == ("sending", False, "one")
    await sql("update turn set lease_until = now() - interval '1 second'")
    (taken,) = (await another().claim(BOT.id, 5))[0]
    assert (taken.status, taken.message and taken.message.chat_id) == ("answered", ADA)
    assert [one.status for one in taken.parts] == ["sending"]
    (row,) = await another().deliver(taken, BOT.id, [part])
    assert row.uncertain
    with pytest.raises(TurnLost):
        await store.store_sent(turn, [PartResult(1, "sent", 900)], True)


async def test_a_full_worker_takes_no_message_and_a_closed_turn_says_some_wait(
    driver: TurnDriver, store: Store
) -> None:
    turn = await driver.turn(ADA, "hello")
    await store.enqueue(BOT.id, [to(BEN, "one")])
    assert await due(store, limit=0) == {}
    await store.deliver(turn, BOT.id, [])
    assert (await store.store_sent(turn, [], True)).more


async def test_setting_a_turn_aside_queues_its_notice_in_the_same_transaction(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    turn = await driver.turn(ADA, "hello")
    say = [to(ADA, "Something went wrong.", "trouble")]
    for expected in (False, False, True):
        assert await store.fail(turn, "ValueError", 0, say) is expected
        assert await sql("select count(*) from outbox where status = 'queued'") == [(int(expected),)]
        await sql("update turn set not_before = null")
        turn = next((one for one in (await store.claim(BOT.id, 5))[0] if one.updates), turn)


async def test_a_queued_message_follows_its_group(store: Store) -> None:
    await store.enqueue(BOT.id, [replace(to(-4242, "one"), reply_to=7)])
    await store.regroup(BOT.id, -4242, GROUP)
    (turn,) = (await due(store)).values()
    assert turn.message
    assert turn.message.chat_id == GROUP
    assert turn.message.reply_to is None, "message 7 of the new chat is another one"


async def test_long_messages_are_split_and_the_buttons_are_under_the_last_part(store: Store) -> None:
    sent = []

    class Phone:
        async def call(self, method: str, **given: object) -> dict[str, int]:
            sent.append(given)
            return {"message_id": 900 + len(sent)}

    await store.enqueue(BOT.id, [replace(to(ADA, "word " * 1500), rows=[[Button("Open", "n")]], sound=True)])
    await send_queued(store, Phone())  # type: ignore[arg-type]
    assert len(sent) == 2
    assert [bool(given.get("disable_notification")) for given in sent] == [False, True]
    assert [given.get("reply_markup") for given in sent] == [
        None,
        {"inline_keyboard": [[{"text": "Open", "callback_data": "n"}]]},
    ]
