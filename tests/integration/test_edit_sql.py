"""Edits: what waits is answered as it stands now, what was said keeps its wordings, an answer takes another's place."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from relay.bot.said import joined_blocks, parts_of, text_of
from relay.bot.updates import sort_update
from relay.errors import TurnLost
from relay.memory.store import Store
from relay.models import Claimed, Incoming
from tests.integration.conftest import Sql
from tests.integration.house import (
    ADA,
    BEN,
    BOT,
    GROUP,
    House,
    fact,
    forget,
    group,
    incoming_of,
    message,
    private,
    reply,
)

Json = dict[str, Any]


def edit_of(update: Json, text: str, at: int = 1, **more: Any) -> Json:
    """The edit of a message, as the bot hands it to the store."""
    raw = update["message"] | {"text": text, "edit_date": update["message"]["date"] + at} | more
    return {
        "bot_id": BOT.id,
        "chat_id": raw["chat"]["id"],
        "topic_id": raw.get("message_thread_id", 0),
        "telegram_message_id": raw["message_id"],
        "user_id": raw["from"]["id"],
        "edited_at": raw["edit_date"],
        "text": text,
        "blocks": [{"type": "text", "text": text}],
        "message": raw,
    }


async def answered(house: House, text: str = "helo", *actions: Json, **more: Any) -> tuple[Claimed, Incoming, Json]:
    """A message with its answer in the chat as message 900; also the update that brought it."""
    update = message(ADA, text, **more)
    (turn,) = [turn for turn in await house.say(update) if update in turn.updates]
    incoming = incoming_of(turn, text, private(ADA) if "chat_id" not in more else group())
    await house.store.begin(incoming, "m")
    await house.store.finish(incoming, reply("Yes.", actions))
    await posted(house.store, turn, 900)
    return turn, incoming, update


async def posted(store: Store, turn: Claimed, *message_ids: int, chat_id: int = ADA) -> list[Json]:
    """Delivers an answer in parts, as messages of these ids; returns the rows as they were stored first."""
    markup = {"inline_keyboard": [[{"text": "↻ Retry", "callback_data": f"r:{turn.turn_id}"}]]}
    parts = [
        {"seq": seq, "chat_id": chat_id, "request": {"chat_id": chat_id, "text": f"part {seq}", "reply_markup": markup}}
        for seq in range(1, len(message_ids) + 1)
    ]
    rows = await store.deliver(turn, BOT.id, parts)
    results = [
        {"seq": seq, "status": "sent", "telegram_message_id": message_id}
        for seq, message_id in enumerate(message_ids, 1)
    ]
    await store.sent(turn, results, True)
    return rows


async def again(
    house: House, of_turn: Claimed, answer: str = "Yes!", *actions: Json, replaces: bool = True
) -> Incoming:
    """A turn that answers the message of an earlier one again, up to its answer."""
    turn = await house.turn(ADA, "again")
    incoming = replace(incoming_of(turn, "", private(ADA), retry=True, retry_turn=of_turn.turn_id), replaces=replaces)
    await house.store.begin(incoming, "m")
    await house.store.finish(incoming, reply(answer, actions))
    return incoming


def held(incoming: Incoming) -> Claimed:
    return Claimed(incoming.turn_id, incoming.fence, "message", "answered", 0, ADA, (), ())


# What waits


async def test_what_waits_in_the_queue_takes_the_new_text(house: House, store: Store) -> None:
    await house.turn(ADA, "first")
    waiting = message(ADA, "secnod")
    assert await house.say(waiting) == []
    assert await store.edit(edit_of(waiting, "second")) == {}
    (first,) = await _all(store)
    await house.close(first)
    (turn,) = await house.claim()
    assert [text_of(update["message"]) for update in turn.updates] == ["second"]


async def _all(store: Store) -> list[Claimed]:
    """What this worker holds, claimed anew."""
    await store.release()
    turns, _ = await store.claim(BOT.id, 64)
    return turns


async def test_a_turn_that_has_not_begun_reads_its_message_again(house: House, store: Store) -> None:
    update = message(ADA, "helo")
    (turn,) = await house.say(update)
    assert await store.edit(edit_of(update, "hello")) == {}
    with pytest.raises(TurnLost):
        await store.begin(incoming_of(turn, "helo", private(ADA)), "m")
    (claimed,) = await house.claim()
    assert claimed.turn_id == turn.turn_id
    assert text_of(claimed.updates[0]["message"]) == "hello"


async def test_an_edit_without_new_text_disturbs_nobody(house: House, store: Store, sql: Sql) -> None:
    update = message(ADA, "see https://example.org")
    (turn,) = await house.say(update)
    preview = edit_of(update, "see https://example.org", link_preview_options={"url": "x"})
    assert await store.edit(preview) == {}
    await store.begin(incoming_of(turn, "see https://example.org", private(ADA)), "m")
    assert await store.edit(preview) == {}
    await house.close(turn)
    assert await store.edit(preview) == {}
    assert await sql("select count(*) from message_version") == [(0,)]


async def test_the_older_of_two_edits_that_wait_does_not_win(house: House, store: Store) -> None:
    await house.turn(ADA, "first")
    update = message(ADA, "a")
    await house.say(update)
    await store.edit(edit_of(update, "c", at=5))
    await store.edit(edit_of(update, "b", at=4))
    (first,) = await _all(store)
    await house.close(first)
    (turn,) = await house.claim()
    assert text_of(turn.updates[0]["message"]) == "c"


async def test_a_command_that_waits_stays_what_it_is(house: House, store: Store) -> None:
    await house.turn(ADA, "first")
    update = message(ADA, "/new")
    await house.say(update)
    await store.edit(edit_of(update, "not new"))
    (first,) = await _all(store)
    await house.close(first)
    (turn,) = await house.claim()
    assert text_of(turn.updates[0]["message"]) == "/new"


async def test_nobody_edits_what_another_said(house: House, store: Store, sql: Sql) -> None:
    _, _, update = await answered(house, "mine", chat_id=GROUP)
    assert await store.edit(edit_of(update, "yours") | {"user_id": BEN}) == {}
    assert await sql("select text from message where role = 'user'") == [("mine",)]


# What is being answered


async def test_an_edit_waits_while_its_message_is_being_answered(house: House, store: Store, sql: Sql) -> None:
    update = message(ADA, "helo")
    (turn,) = await house.say(update)
    incoming = incoming_of(turn, "helo", private(ADA))
    await store.begin(incoming, "m")
    assert await store.edit(edit_of(update, "hello")) == {"busy": True}
    assert await sql("select text from message") == [("helo",)]
    await store.finish(incoming, reply())
    assert await store.edit(edit_of(update, "hello")) == {"busy": True}, "the answer is not in the chat yet"
    assert await sql("select text from message where role = 'user'") == [("hello",)]
    await posted(store, turn, 900)
    offered = await store.edit(edit_of(update, "hello"))
    assert offered["offer"]["message_id"] == 900


async def test_begin_and_an_edit_at_once_lose_neither(house: House, store: Store, sql: Sql) -> None:
    for _ in range(8):
        update = message(ADA, "helo")
        (turn,) = await house.say(update)
        begun, done = await asyncio.gather(
            store.begin(incoming_of(turn, "helo", private(ADA)), "m"),
            store.edit(edit_of(update, "hello")),
            return_exceptions=True,
        )
        if isinstance(begun, TurnLost):
            assert done == {}
            (turn,) = await house.claim()
            assert text_of(turn.updates[0]["message"]) == "hello"
            await store.begin(incoming_of(turn, "hello", private(ADA)), "m")
        else:
            assert done == {"busy": True}
        await house.close(turn)
        assert "offer" not in await store.edit(edit_of(update, "hello")), "nothing was answered"
        assert await sql("select text from message order by id desc limit 1") == [("hello",)]


async def test_a_part_that_was_left_out_of_its_turn_does_not_stop_it(house: House, store: Store) -> None:
    """In a group the part of a burst that is not for the bot is never saved."""
    first, second = message(ADA, "one", GROUP), message(ADA, "two", GROUP)
    (turn,) = [turn for turn in await house.say(first, second) if turn.kind == "message"]
    incoming = replace(incoming_of(turn, "one", group()), telegram_message_ids=[first["message"]["message_id"]])
    await store.begin(incoming, "m")
    assert await store.edit(edit_of(second, "two!")) == {"busy": True}
    await store.finish(incoming, reply())
    await house.close(turn)
    assert await store.edit(edit_of(second, "two!")) == {}


# What was said


async def test_the_old_wording_is_kept_and_the_new_one_is_found(house: House, store: Store, sql: Sql) -> None:
    _, _, update = await answered(house, "I keep gese")
    await store.edit(edit_of(update, "I keep geese"))
    await store.edit(edit_of(update, "I keep seven geese", at=2))
    await store.edit(edit_of(update, "late", at=1))
    assert await sql("select text, blocks from message where role = 'user'") == [
        ("I keep seven geese", [{"type": "text", "text": "I keep seven geese"}])
    ]
    assert await sql("select text from message_version order by id") == [("I keep gese",), ("I keep geese",)]
    space = (await sql("select space_id from message limit 1"))[0][0]
    found = await store.search_history(space, "geese", 5, None, None)
    assert [row["snippet"] for row in found] == ["I keep seven geese"]
    assert await store.search_history(space, "gese", 5, None, None) == []


async def test_a_new_answer_is_offered_for_the_last_message_only(house: House, store: Store, sql: Sql) -> None:
    turn, _, update = await answered(house)
    (offer,) = (await store.edit(edit_of(update, "hello"))).values()
    assert (offer["turn_id"], offer["chat_id"], offer["message_id"]) == (turn.turn_id, ADA, 900)
    assert offer["rows"][0][0]["callback_data"] == f"r:{turn.turn_id}"
    _, _, later = await answered(house, "more")
    assert await store.edit(edit_of(update, "hello there", at=2)) == {}
    assert await sql("select text from message where role = 'user' order by id") == [("hello there",), ("more",)]
    await store.new_session(private(ADA), ADA, 0, "")
    assert await store.edit(edit_of(later, "more?")) == {}


async def test_an_edit_taken_twice_is_one(house: House, store: Store, sql: Sql) -> None:
    _, _, update = await answered(house)
    first = await store.edit(edit_of(update, "hello"))
    assert await store.edit(edit_of(update, "hello")) == first, "a control that died before its button hung there"
    assert await sql("select count(*) from message_version") == [(1,)]


async def test_what_was_answered_as_edited_is_offered_nothing(house: House, store: Store) -> None:
    turn, _, update = await answered(house)
    await store.edit(edit_of(update, "hello"))
    await posted(store, held(await again(house, turn)), 900)
    assert await store.edit(edit_of(update, "hello")) == {}


# Messages that came in several


async def several(house: House, *updates: Json) -> Claimed:
    """A turn of several messages, answered."""
    turns = await house.say(*updates)
    while not turns:  # a long text waits a second for its sequel
        await asyncio.sleep(0.1)
        turns = await house.claim()
    (turn,) = turns
    assert len(turn.updates) == len(updates)
    messages = [update["message"] for update in turn.updates]
    incoming = replace(
        incoming_of(turn, "\n".join(map(text_of, messages)), private(ADA)),
        blocks=joined_blocks(messages, ADA),
        parts=parts_of(messages, ADA),
    )
    await house.store.begin(incoming, "m")
    await house.store.finish(incoming, reply())
    await posted(house.store, turn, 900)
    return turn


async def test_an_edit_of_a_part_leaves_the_others(house: House, store: Store, sql: Sql) -> None:
    comment, forward = message(ADA, "is ths true?"), message(ADA, "The moon is cheese.", forward_date=1)
    await several(house, comment, forward)
    assert "offer" in await store.edit(edit_of(comment, "is this true?"))
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


async def test_a_paste_that_was_split_stays_one_text(house: House, store: Store, sql: Sql) -> None:
    head, tail = message(ADA, "a" * 4096), message(ADA, "b" * 4000)
    end = message(ADA, "c")
    await several(house, head, tail, end)
    await store.edit(edit_of(tail, "B" * 4000))
    ((text, blocks),) = await sql("select text, blocks from message where role = 'user'")
    assert blocks == [{"type": "text", "text": "a" * 4096 + "B" * 4000 + "c"}]
    assert text == "a" * 4096 + "\n" + "B" * 4000 + "\nc"


async def test_a_part_that_cannot_be_told_apart_stays(house: House, store: Store, sql: Sql) -> None:
    """Of a message that was saved before its parts were kept."""
    one, two = message(ADA, "one"), message(ADA, "two")
    await several(house, one, two)
    await sql("update posted set part = null")
    assert await store.edit(edit_of(one, "uno")) == {}
    assert await sql("select text from message where role = 'user'") == [("one\ntwo",)]


# An answer in another's place


async def test_the_new_answer_takes_over_the_messages_of_the_old_one(house: House, store: Store, sql: Sql) -> None:
    turn, _, update = await answered(house)
    await store.edit(edit_of(update, "hello"))
    first = await again(house, turn)
    rows = await posted(store, held(first), 900, 901, 902)
    assert [row["telegram_message_id"] for row in rows] == [900, None, None]
    second = await again(house, held(first), "Yes?")
    rows = await posted(store, held(second), 900)
    assert [(row["telegram_message_id"], row["request"].get("delete")) for row in rows] == [
        (900, None), (901, True), (902, True)
    ]  # fmt: skip
    assert await sql("select text, status from message where role = 'assistant' order by id") == [
        ("Yes.", "replaced"), ("Yes!", "replaced"), ("Yes?", "complete")
    ]  # fmt: skip
    assert await sql("select replaces_turn_id from turn where id in (%s, %s) order by id", first.turn_id,
                     second.turn_id) == [(turn.turn_id,), (first.turn_id,)]  # fmt: skip
    assert await sql("select max(exchange_count) from thread") == [(1,)]


async def test_a_plain_retry_takes_nothing_over(house: House, store: Store, sql: Sql) -> None:
    turn, _, _ = await answered(house, "I like tea", fact(ADA, "likes tea"))
    incoming = await again(house, turn, replaces=False)
    rows = await posted(store, held(incoming), 901)
    assert [row["telegram_message_id"] for row in rows] == [None]
    assert await house.known(private(ADA)) == ["likes tea"]


async def test_a_retry_of_a_new_answer_that_failed_still_takes_the_place(house: House, store: Store, sql: Sql) -> None:
    turn, _, update = await answered(house)
    await store.edit(edit_of(update, "hello"))
    failed = await again(house, turn, "")
    rows = await posted(store, held(failed), 905)
    assert [row["telegram_message_id"] for row in rows] == [None], "what went wrong is said beside the old answer"
    incoming = await again(house, held(failed), replaces=False)
    rows = await posted(store, held(incoming), 900)
    assert [row["telegram_message_id"] for row in rows] == [900]


async def test_what_the_old_answer_taught_is_taken_back(house: House, store: Store, sql: Sql) -> None:
    await house.teach(ADA, "has a cat", "rides a bike")
    taught = [fact(ADA, "lives in Rome"), fact(ADA, "likes tea"), fact(ADA, "Has a cat."), forget("rides a bike")]
    turn, _, update = await answered(house, "I live in Rome", *taught)
    assert await house.known(private(ADA)) == ["Has a cat.", "lives in Rome", "likes tea"]
    await store.edit(edit_of(update, "I live in Oslo"))
    asking = await house.turn(ADA, "again")
    incoming = replace(incoming_of(asking, "", private(ADA), retry=True, retry_turn=turn.turn_id), replaces=True)
    context = await store.begin(incoming, "m")
    assert [row["content"] for row in context.memories] == ["Has a cat."]
    told = await store.finish(incoming, reply("Ok.", [fact(ADA, "lives in Oslo"), fact(ADA, "Likes tea")]))
    assert await house.known(private(ADA)) == ["has a cat", "rides a bike", "lives in Oslo", "Likes tea"]
    assert [change["content"] for change in told["changes"]] == ["lives in Oslo", "Likes tea"]
    assert [change["content"] for change in told["withdrawn"]] == ["lives in Rome", "has a cat", "rides a bike"]
    assert {change["status"] for change in told["withdrawn"]} == {"undone"}
    assert await store.finish(incoming, reply("Ok.")) == told


async def test_what_somebody_decided_about_stays(house: House, store: Store) -> None:
    turn, _, update = await answered(house, "I live in Rome", fact(ADA, "lives in Rome"), fact(ADA, "likes tea"))
    changes = await store.changes(turn.turn_id, ADA, False) or []
    edit = await house.turn(ADA, "words")
    reworded = {"action": "edit", "memory_id": changes[0]["memory_id"], "content": "lives in Rome, Georgia"}
    await store.change_memory(edit, private(ADA), [reworded])
    await house.close(edit)
    await store.edit(edit_of(update, "I live there"))
    new = await again(house, turn, "Ok.")
    assert await house.known(private(ADA)) == ["lives in Rome, Georgia"]
    assert new.replaces


async def test_who_may_have_an_answer_replaced(house: House, store: Store) -> None:
    turn, _, _ = await answered(house)
    fine = {"asked": True, "stands": True, "last": True}
    assert await store.standing(turn.turn_id, ADA) == fine
    assert await store.standing(turn.turn_id, BEN) == fine | {"asked": False}
    assert await store.standing(10**17, ADA) is None
    later, _, _ = await answered(house, "more")
    assert await store.standing(turn.turn_id, ADA) == fine | {"last": False}
    await house.close(held(await again(house, later)))
    assert await store.standing(later.turn_id, ADA) == fine | {"stands": False}
    control = sort_update(message(ADA, "/help"), BOT, frozenset([ADA]), True)
    ((command, *_), _) = await store.intake(BOT.id, [control], 64)
    assert await store.standing(command.turn_id, ADA) == {"asked": True, "stands": True, "last": False}


async def test_a_part_that_is_sent_anew_is_looked_for_after_a_crash(house: House, store: Store) -> None:
    turn, _, update = await answered(house)
    await store.edit(edit_of(update, "hello"))
    new = held(await again(house, turn))
    part = {"seq": 1, "chat_id": ADA, "request": {"chat_id": ADA, "text": "Yes!"}}
    (row,) = await store.deliver(new, BOT.id, [part])
    assert row["telegram_message_id"] == 900
    row = await store.sending_anew(new, 1)
    assert (row["status"], row["telegram_message_id"]) == ("sending", None)
    (row,) = await store.deliver(new, BOT.id, [part])
    assert (row["uncertain"], row["telegram_message_id"]) == (True, None)


# Reactions


async def test_reactions_stand_until_they_are_taken_back(house: House, store: Store, sql: Sql) -> None:
    await answered(house)
    for _ in range(2):
        assert await store.react(BOT.id, ADA, 900, ADA, ["👍", "🔥"], 100)
    assert await store.react(BOT.id, ADA, 900, ADA, ["🔥"], 200)
    assert not await store.react(BOT.id, ADA, 900, ADA, [], 150), "it is older than what is known"
    assert await sql(
        "select emoji, created_at = to_timestamp(100), removed_at = to_timestamp(200) from signal order by id"
    ) == [("👍", True, True), ("🔥", True, None)]
    await store.react(BOT.id, ADA, 900, ADA, ["👍"], 300)
    assert await sql("select emoji, removed_at is null from signal order by id") == [
        ("👍", False), ("🔥", False), ("👍", True)
    ]  # fmt: skip


async def test_reactions_to_what_is_unknown_or_anothers_are_nothing(house: House, store: Store, sql: Sql) -> None:
    _, _, update = await answered(house, "mine", chat_id=GROUP)
    said = update["message"]["message_id"]
    assert not await store.react(BOT.id, GROUP, 77777, ADA, ["👍"], 1)
    assert not await store.react(BOT.id, GROUP, said, BEN, ["👍"], 1)
    assert await store.react(BOT.id, GROUP, said, ADA, ["👍"], 1)
    assert await sql("select count(*) from signal") == [(1,)]
