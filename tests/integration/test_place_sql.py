"""Tests what is answered in groups and whose memory is lent, in the database, in the queue and in turns."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from relay.core.errors import DatabaseError
from relay.memory.calls.people import EVERYWHERE
from relay.memory.claims import ClaimedTurn
from relay.memory.rows.delivery import Part, PartResult
from relay.memory.rows.people import GroupPlace
from relay.memory.store import Store
from tests.integration.conftest import Sql
from tests.integration.turn_driver import ADA, BEN, BOT, GROUP, TurnDriver, group, incoming_of, message, private
from tests.telegram_objects import sorted_row

Json = dict[str, Any]
SMALL = -4242
EVERYBODY = frozenset([ADA, BEN])


async def said(
    store: Store, text: str, topic_id: int = 0, *, group_open: bool = False, user_id: int = ADA
) -> list[ClaimedTurn]:
    """Sends a message in the group, and returns its turns."""
    update = message(user_id, text, GROUP, topic_id)
    turns, _ = await store.intake(BOT.id, [sorted_row(update, BOT, EVERYBODY, group_open)], 64)
    for turn in turns:
        await store.deliver(turn, BOT.id, [])
        await store.store_sent(turn, [], True)
    return turns


async def test_a_place_has_no_settings_at_first(store: Store) -> None:
    assert await store.place(GROUP, 5) == GroupPlace(None, None, None)


async def test_a_topics_setting_overrides_the_groups(store: Store) -> None:
    await store.set_place(GROUP, EVERYWHERE, "addressed", ADA)
    assert await store.set_place(GROUP, 5, "all", BEN) == GroupPlace("all", "addressed", None)
    (in_topic,) = await said(store, "just talking", 5)
    assert in_topic.answers == "all"
    assert await said(store, "just talking", 6) == []
    (addressed,) = await said(store, "@relay_bot hello", 6)
    assert addressed.answers == "addressed"
    await store.set_place(GROUP, 5, "off", ADA)
    assert await said(store, "@relay_bot hello", 5) == []
    assert await store.set_place(GROUP, EVERYWHERE, "all", ADA) == GroupPlace("all", "all", None)
    assert (await store.place(GROUP, 5)).here is None
    assert len(await said(store, "just talking", 5)) == 1


@pytest.mark.parametrize("group_open", [False, True])
async def test_the_setting_off_overrides_everything_and_stores_no_message(
    store: Store, sql: Sql, group_open: bool
) -> None:
    await store.set_place(GROUP, EVERYWHERE, "off", ADA)
    for text in ("my secret thing", "@relay_bot my secret thing"):
        assert await said(store, text, group_open=group_open) == []
    assert await sql("select count(*) from inbox where payload is not null") == [(0,)]
    assert await sql("select count(*) from event where payload::text like '%%secret%%'") == [(0,)]
    (command,) = await said(store, "/status@relay_bot", group_open=group_open)
    assert (command.kind, command.answers) == ("control", "off")


async def test_an_unknown_setting_is_refused(store: Store) -> None:
    with pytest.raises(DatabaseError):
        await store.set_place(GROUP, EVERYWHERE, "sometimes", ADA)


async def test_one_memory_is_lent_at_a_time_and_only_its_owner_ends_it(store: Store) -> None:
    assert await store.link(GROUP, ADA) == ADA
    assert await store.link(GROUP, ADA) == ADA
    assert await store.link(GROUP, BEN) == ADA
    (turn,) = await said(store, "@relay_bot hello", user_id=BEN)
    assert turn.linked_to == ADA
    assert await store.unlink(GROUP, BEN) is False
    assert await store.unlink(GROUP, ADA) is True
    assert await store.unlink(GROUP, ADA) is False
    assert await store.link(GROUP, BEN) == BEN


async def test_a_turn_with_lent_memory_reads_and_recalls_it(driver: TurnDriver, store: Store) -> None:
    await driver.teach(ADA, "collects stamps")
    await driver.exchange(ADA, "the marmalade recipe of my aunt needs quinces")
    await driver.exchange(ADA, "in the group: the marmalade recipe of Ben needs oranges", chat_id=GROUP)
    text = "which fruit does the marmalade recipe need?"
    turn = await driver.turn(ADA, text, GROUP, 5)
    alone = incoming_of(turn, text, group())
    lent = replace(alone, lent=private(ADA))
    assert [row.content for row in (await store.begin(lent, "m")).lent] == ["collects stamps"]
    assert (await store.begin(alone, "m")).lent == ()
    found = [[row.snippet for row in await store.recall(alone, space)] for space in (None, private(ADA))]
    assert "oranges" in str(found[0])
    assert "quinces" not in str(found[0])
    assert "quinces" in str(found[1])
    assert "oranges" not in str(found[1])


async def test_an_empty_lent_memory_adds_nothing(driver: TurnDriver, store: Store) -> None:
    turn = await driver.turn(BEN, "hello", GROUP)
    context = await store.begin(replace(incoming_of(turn, "hello", group()), lent=private(BEN)), "m")
    assert context.lent == ()


# A group that becomes a supergroup


@pytest.mark.parametrize("times", [1, 2])
async def test_the_settings_of_a_group_follow_it_to_its_new_id(store: Store, sql: Sql, times: int) -> None:
    await store.set_place(SMALL, EVERYWHERE, "all", ADA)
    await store.link(SMALL, ADA)
    await sql("insert into persona (chat_id, text, author_id, author) values (%s, 'be brief', %s, 'Ada')", SMALL, ADA)
    await sql("insert into topic (bot_id, chat_id, topic_id, name) values (%s, %s, 3, 'Trips')", BOT.id, SMALL)
    for _ in range(times):
        await store.regroup(BOT.id, SMALL, GROUP)
    assert await store.place(GROUP, 0) == GroupPlace(None, "all", ADA)
    assert await store.place(SMALL, 0) == GroupPlace(None, None, None)
    assert await sql("select chat_id from persona union all select chat_id from topic") == [(GROUP,), (GROUP,)]


@pytest.mark.parametrize("later", [SMALL, GROUP])
async def test_when_two_groups_are_merged_the_later_settings_win(store: Store, sql: Sql, later: int) -> None:
    words = {SMALL: ("off", ADA), GROUP: ("all", BEN)}
    for chat_id, (answers, user_id) in words.items():
        await store.set_place(chat_id, EVERYWHERE, answers, user_id)
        await store.link(chat_id, user_id)
        await sql("insert into topic (bot_id, chat_id, topic_id, name) values (%s, %s, 3, 'Trips')", BOT.id, chat_id)
    earlier = next(chat_id for chat_id in words if chat_id != later)
    await sql("update place set set_at = now() - interval '1 day' where chat_id = %s", earlier)
    await sql("update link set linked_at = now() - interval '1 day' where chat_id = %s", earlier)
    await store.regroup(BOT.id, SMALL, GROUP)
    now = await store.place(GROUP, 0)
    assert (now.everywhere, now.lender) == words[later]
    assert await sql("select count(*) from place where chat_id = %s", SMALL) == [(0,)]
    assert await sql("select count(*) from topic") == [(1,)]


# Asked in a topic, answered in private


async def test_a_private_message_belongs_to_no_topic_of_the_group(driver: TurnDriver, store: Store) -> None:
    (turn,) = await driver.say(message(ADA, "/secret@relay_bot", GROUP, 5))
    parts: list[Json] = [
        Part(seq, chat_id, {"chat_id": chat_id, "text": "x"}) for seq, chat_id in ((1, ADA), (2, GROUP))
    ]
    await store.deliver(turn, BOT.id, parts)
    results = [PartResult(seq, "sent", 70 + seq) for seq in (1, 2)]
    await store.store_sent(turn, results, True)
    assert await store.topic_of(BOT.id, ADA, 71) == 0
    assert await store.topic_of(BOT.id, GROUP, 72) == 5
