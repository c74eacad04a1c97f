"""Tests edits: a waiting message is answered with its current text, and an answered one keeps its old wordings."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from relay.core.errors import TurnLost
from relay.memory.claims import ClaimedTurn
from relay.memory.rows.turns.edits import EditResult
from relay.memory.store import Store
from relay.surfaces.telegram.parsing.message_parser import join_blocks, parts_of, text_of
from tests.integration.conftest import Sql
from tests.integration.edits import again, answered, edit_of, held, posted
from tests.integration.turn_driver import (
    ADA,
    BEN,
    BOT,
    GROUP,
    TurnDriver,
    dm,
    group,
    incoming_of,
    message,
    private,
    reply,
)
from tests.telegram_objects import as_message

Json = dict[str, Any]


# Waiting messages


async def test_a_queued_message_takes_the_edited_text(driver: TurnDriver, store: Store) -> None:
    await driver.turn(ADA, "first")
    waiting = message(ADA, "secnod")
    assert await driver.say(waiting) == []
    assert await store.edit(edit_of(waiting, "second")) == EditResult()
    (first,) = await _all(store)
    await driver.close(first)
    (turn,) = await driver.claim()
    assert [text_of(as_message(update["message"])) for update in turn.updates] == ["second"]


async def _all(store: Store) -> list[ClaimedTurn]:
    """Returns all turns of this worker, claimed again."""
    await store.release()
    turns, _ = await store.claim(BOT.id, 64)
    return turns


async def test_a_turn_that_has_not_begun_reads_the_edited_message(driver: TurnDriver, store: Store) -> None:
    update = message(ADA, "helo")
    (turn,) = await driver.say(update)
    assert await store.edit(edit_of(update, "hello")) == EditResult()
    with pytest.raises(TurnLost):
        await store.begin(incoming_of(turn, "helo", private(ADA)), "m")
    (claimed,) = await driver.claim()
    assert claimed.turn_id == turn.turn_id
    assert text_of(as_message(claimed.updates[0]["message"])) == "hello"


async def test_an_edit_without_new_text_changes_nothing(driver: TurnDriver, store: Store, sql: Sql) -> None:
    update = message(ADA, "see https://example.org")
    (turn,) = await driver.say(update)
    preview = edit_of(update, "see https://example.org", link_preview_options={"url": "x"})
    assert await store.edit(preview) == EditResult()
    await store.begin(incoming_of(turn, "see https://example.org", private(ADA)), "m")
    assert await store.edit(preview) == EditResult()
    await driver.close(turn)
    assert await store.edit(preview) == EditResult()
    assert await sql("select count(*) from message_version") == [(0,)]


async def test_the_newer_of_two_waiting_edits_wins(driver: TurnDriver, store: Store) -> None:
    await driver.turn(ADA, "first")
    update = message(ADA, "a")
    await driver.say(update)
    await store.edit(edit_of(update, "c", at=5))
    await store.edit(edit_of(update, "b", at=4))
    (first,) = await _all(store)
    await driver.close(first)
    (turn,) = await driver.claim()
    assert text_of(as_message(turn.updates[0]["message"])) == "c"


async def test_a_waiting_command_is_not_changed_by_an_edit(driver: TurnDriver, store: Store) -> None:
    await driver.turn(ADA, "first")
    update = message(ADA, "/new")
    await driver.say(update)
    await store.edit(edit_of(update, "not new"))
    (first,) = await _all(store)
    await driver.close(first)
    (turn,) = await driver.claim()
    assert text_of(as_message(turn.updates[0]["message"])) == "/new"


async def test_nobody_can_edit_another_persons_message(driver: TurnDriver, store: Store, sql: Sql) -> None:
    _, _, update = await answered(driver, "mine", chat_id=GROUP)
    assert await store.edit(edit_of(update, "yours") | {"user_id": BEN}) == EditResult()
    assert await sql("select text from message where role = 'user'") == [("mine",)]


# Messages that are being answered


async def test_an_edit_waits_while_its_message_is_being_answered(driver: TurnDriver, store: Store, sql: Sql) -> None:
    update = message(ADA, "helo")
    (turn,) = await driver.say(update)
    incoming = incoming_of(turn, "helo", private(ADA))
    await store.begin(incoming, "m")
    assert await store.edit(edit_of(update, "hello")) == EditResult(busy=True)
    assert await sql("select text from message") == [("helo",)]
    await store.finish(incoming, reply())
    assert await store.edit(edit_of(update, "hello")) == EditResult(busy=True), "the answer is not in the chat yet"
    assert await sql("select text from message where role = 'user'") == [("hello",)]
    await posted(store, turn, 900)
    offered = await store.edit(edit_of(update, "hello"))
    assert offered.offer
    assert offered.offer.message_id == 900


async def test_a_simultaneous_begin_and_edit_are_both_kept(driver: TurnDriver, store: Store, sql: Sql) -> None:
    for _ in range(8):
        update = message(ADA, "helo")
        (turn,) = await driver.say(update)
        begun, done = await asyncio.gather(
            store.begin(incoming_of(turn, "helo", private(ADA)), "m"),
            store.edit(edit_of(update, "hello")),
            return_exceptions=True,
        )
        if isinstance(begun, TurnLost):
            assert done == EditResult()
            (turn,) = await driver.claim()
            assert text_of(as_message(turn.updates[0]["message"])) == "hello"
            await store.begin(incoming_of(turn, "hello", private(ADA)), "m")
        else:
            assert done == EditResult(busy=True)
        await driver.close(turn)
        assert (await store.edit(edit_of(update, "hello"))).offer is None, (
            "nothing was answered, so no new answer is offered"
        )
        assert await sql("select text from message order by id desc limit 1") == [("hello",)]


async def test_an_edit_of_a_part_left_out_of_the_turn_does_not_stop_it(driver: TurnDriver, store: Store) -> None:
    """In a group, the part of a burst that isn't for the bot is never saved."""
    first, second = message(ADA, "one", GROUP), message(ADA, "two", GROUP)
    (turn,) = [turn for turn in await driver.say(first, second) if turn.kind == "message"]
    incoming = replace(incoming_of(turn, "one", group()), telegram_message_ids=[first["message"]["message_id"]])
    await store.begin(incoming, "m")
    assert await store.edit(edit_of(second, "two!")) == EditResult(busy=True)
    await store.finish(incoming, reply())
    await driver.close(turn)
    assert await store.edit(edit_of(second, "two!")) == EditResult()


# Answered messages


async def test_the_old_wording_is_stored_and_the_new_one_is_searchable(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    _, _, update = await answered(driver, "I keep gese")
    await store.edit(edit_of(update, "I keep geese"))
    await store.edit(edit_of(update, "I keep seven geese", at=2))
    await store.edit(edit_of(update, "late", at=1))
    assert await sql("select text, blocks from message where role = 'user'") == [
        ("I keep seven geese", [{"type": "text", "text": "I keep seven geese"}])
    ]
    assert await sql("select text from message_version order by id") == [("I keep gese",), ("I keep geese",)]
    found = await driver.look_up(private(ADA), "geese")
    assert [row.snippet for row in found] == ["I keep seven geese"]
    assert await driver.look_up(private(ADA), "gese") == []


async def test_a_new_answer_is_offered_only_for_the_last_message(driver: TurnDriver, store: Store, sql: Sql) -> None:
    turn, _, update = await answered(driver)
    offer = (await store.edit(edit_of(update, "hello"))).offer
    assert offer is not None
    assert (offer.turn_id, offer.chat_id, offer.message_id) == (turn.turn_id, ADA, 900)
    assert offer.rows[0][0].callback_data == f"r:{turn.turn_id}"
    _, _, later = await answered(driver, "more")
    assert await store.edit(edit_of(update, "hello there", at=2)) == EditResult()
    assert await sql("select text from message where role = 'user' order by id") == [("hello there",), ("more",)]
    await store.new_session(dm(ADA), "")
    assert await store.edit(edit_of(later, "more?")) == EditResult()


async def test_an_edit_received_twice_is_stored_once(driver: TurnDriver, store: Store, sql: Sql) -> None:
    _, _, update = await answered(driver)
    first = await store.edit(edit_of(update, "hello"))
    assert await store.edit(edit_of(update, "hello")) == first, "a repeated edit must make the same offer"
    assert await sql("select count(*) from message_version") == [(1,)]


async def test_a_message_already_answered_as_edited_gets_no_new_offer(driver: TurnDriver, store: Store) -> None:
    turn, _, update = await answered(driver)
    await store.edit(edit_of(update, "hello"))
    await posted(store, held(await again(driver, turn)), 900)
    assert await store.edit(edit_of(update, "hello")) == EditResult()


# Inputs of several messages


async def several(driver: TurnDriver, *updates: Json) -> ClaimedTurn:
    """Returns an answered turn of several messages."""
    turns = await driver.say(*updates)
    while not turns:  # a long text waits a second for its continuation
        await asyncio.sleep(0.1)
        turns = await driver.claim()
    (turn,) = turns
    assert len(turn.updates) == len(updates)
    messages = [as_message(update["message"]) for update in turn.updates]
    incoming = replace(
        incoming_of(turn, "\n".join(map(text_of, messages)), private(ADA)),
        blocks=join_blocks(messages, ADA),
        parts=parts_of(messages, ADA),
    )
    await driver.store.begin(incoming, "m")
    await driver.store.finish(incoming, reply())
    await posted(driver.store, turn, 900)
    return turn


async def test_an_edit_of_one_part_leaves_the_others(driver: TurnDriver, store: Store, sql: Sql) -> None:
    comment, forward = message(ADA, "is ths true?"), message(ADA, "The moon is cheese.", forward_date=1)
    await several(driver, comment, forward)
    assert (await store.edit(edit_of(comment, "is this true?"))).offer
    assert await sql("select text, blocks, untrusted from message where role = 'user'") == [
        (
            "is this true?\nThe moon is cheese.",
            [
                {"type": "text", "text": "is this true?"},
                {"type": "text", "text": "The moon is cheese.", "untrusted": "forward", "from": "somebody"},
            ],
            True,
        )
    ]
    await store.edit(edit_of(comment, "is this so?", at=2))
    assert await sql("select left(text, 11) from message_version order by id") == [("is ths true",), ("is this tru",)]


async def test_an_edited_split_paste_stays_one_text(driver: TurnDriver, store: Store, sql: Sql) -> None:
    head, tail = message(ADA, "a" * 4096), message(ADA, "b" * 4000)
    end = message(ADA, "c")
    await several(driver, head, tail, end)
    await store.edit(edit_of(tail, "B" * 4000))
    ((text, blocks),) = await sql("select text, blocks from message where role = 'user'")
    assert blocks == [{"type": "text", "text": "a" * 4096 + "B" * 4000 + "c"}]
    assert text == "a" * 4096 + "\n" + "B" * 4000 + "\nc"


async def test_an_edit_of_an_unidentifiable_part_changes_nothing(driver: TurnDriver, store: Store, sql: Sql) -> None:
    """The message was saved before its parts were recorded."""
    one, two = message(ADA, "one"), message(ADA, "two")
    await several(driver, one, two)
    await sql("update posted set part = null")
    assert await store.edit(edit_of(one, "uno")) == EditResult()
    assert await sql("select text from message where role = 'user'") == [("one\ntwo",)]


async def test_a_picture_that_replaces_another_is_untrusted_and_not_copied(sql: Sql) -> None:
    def photo(name: str, **more: object) -> Json:
        return {"file": {"unique_id": name, "kind": "photo", "kept": True}, **more}

    edit = {"text": "look", "blocks": [photo("new", type="attachment"), {"type": "text", "text": "look"}]}
    ((made,),) = await sql(
        "select relay.with_file(%s::jsonb, %s, %s::jsonb)",
        json.dumps(edit), "📷 photo\nlook", json.dumps([photo("old", type="image"), {"type": "text", "text": "look"}]),
    )  # fmt: skip
    assert (made["text"], made["replaced"]) == ("look", True)
    assert made["blocks"][0]["untrusted"] == "image"
    assert made["blocks"][0]["file"] == {"unique_id": "new", "kind": "photo", "kept": False}
    same = edit | {"blocks": [photo("old", type="attachment"), {"type": "text", "text": "look"}]}
    ((made,),) = await sql(
        "select relay.with_file(%s::jsonb, %s, %s::jsonb)",
        json.dumps(same), "📷 photo\nlook", json.dumps([photo("old", type="image"), {"type": "text", "text": "look"}]),
    )  # fmt: skip
    assert (made["text"], "replaced" in made) == ("📷 photo\nlook", False)
    assert made["blocks"][0] == photo("old", type="image")
