"""Tests a new answer that replaces an old one: its messages in the chat, its turn, and what the old one taught."""

from __future__ import annotations

from dataclasses import replace

import pytest

from relay.memory.rows.delivery import Part, PartResult
from relay.memory.rows.turns.edits import RetryState
from relay.memory.store import Store
from tests.integration.conftest import Sql
from tests.integration.edits import again, answered, edit_of, held, posted
from tests.integration.turn_driver import ADA, BEN, BOT, TurnDriver, fact, forget, incoming_of, message, private, reply
from tests.telegram_objects import sorted_row


async def test_the_new_answer_takes_over_the_messages_of_the_old_one(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    turn, _, update = await answered(driver)
    await store.edit(edit_of(update, "hello"))
    first = await again(driver, turn)
    rows = await posted(store, held(first), 900, 901, 902)
    assert [row.telegram_message_id for row in rows] == [900, None, None]
    second = await again(driver, held(first), "Yes?")
    rows = await posted(store, held(second), 900)
    assert [(row.telegram_message_id, row.request.get("delete")) for row in rows] == [
        (900, None), (901, True), (902, True)
    ]  # fmt: skip
    assert await sql("select text, status from message where role = 'assistant' order by id") == [
        ("Yes.", "replaced"), ("Yes!", "replaced"), ("Yes?", "complete")
    ]  # fmt: skip
    assert await sql("select replaces_turn_id from turn where id in (%s, %s) order by id", first.turn_id,
                     second.turn_id) == [(turn.turn_id,), (first.turn_id,)]  # fmt: skip
    assert await sql("select max(exchange_count) from thread") == [(1,)]


async def test_a_plain_retry_takes_over_no_messages(driver: TurnDriver, store: Store, sql: Sql) -> None:
    turn, _, _ = await answered(driver, "I like tea", fact(ADA, "likes tea"))
    incoming = await again(driver, turn, replaces=False)
    rows = await posted(store, held(incoming), 901)
    assert [row.telegram_message_id for row in rows] == [None]
    assert await driver.known(private(ADA)) == ["likes tea"]


async def test_a_retry_of_a_failed_new_answer_still_replaces_the_old_answer(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    turn, _, update = await answered(driver)
    await store.edit(edit_of(update, "hello"))
    failed = await again(driver, turn, "")
    rows = await posted(store, held(failed), 905)
    assert [row.telegram_message_id for row in rows] == [None], (
        "the error must be a separate message beside the old answer"
    )
    incoming = await again(driver, held(failed), replaces=False)
    rows = await posted(store, held(incoming), 900)
    assert [row.telegram_message_id for row in rows] == [900]


async def test_memories_from_the_old_answer_are_undone(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await driver.teach(ADA, "has a cat", "rides a bike")
    taught = [fact(ADA, "lives in Rome"), fact(ADA, "likes tea"), fact(ADA, "Has a cat."), forget("rides a bike")]
    turn, _, update = await answered(driver, "I live in Rome", *taught)
    assert await driver.known(private(ADA)) == ["Has a cat.", "lives in Rome", "likes tea"]
    await store.edit(edit_of(update, "I live in Oslo"))
    asking = await driver.turn(ADA, "again")
    incoming = replace(incoming_of(asking, "", private(ADA), retry=True, retry_turn=turn.turn_id), replaces=True)
    context = await store.begin(incoming, "m")
    assert [row.content for row in context.memories] == ["Has a cat."]
    told = await store.finish(incoming, reply("Ok.", [fact(ADA, "lives in Oslo"), fact(ADA, "Likes tea")]))
    assert await driver.known(private(ADA)) == ["has a cat", "rides a bike", "lives in Oslo", "Likes tea"]
    assert [change.content for change in told.changes] == ["lives in Oslo", "Likes tea"]
    assert [change.content for change in told.withdrawn] == ["lives in Rome", "has a cat", "rides a bike"]
    assert {change.status for change in told.withdrawn} == {"undone"}
    assert await store.finish(incoming, reply("Ok.")) == told


@pytest.mark.parametrize("edited", [False, True])
async def test_an_answer_brought_back_teaches_what_it_had_taught_unless_its_question_was_edited(
    driver: TurnDriver, store: Store, edited: bool
) -> None:
    await driver.teach(ADA, "rides a bike")
    taught = [fact(ADA, "has a cat called Mia"), fact(ADA, "likes tea"), forget("rides a bike")]
    turn, _, update = await answered(driver, "My cat is Mia", *taught)
    (_, tea, _) = await store.changes(turn.turn_id, ADA, False) or []
    await store.decide_change(tea.id, ADA, False, "undo")
    if edited:
        await store.edit(edit_of(update, "My cat is Mina"))
    new = await again(driver, turn, "Ok.", fact(ADA, "Has a cat called Mia"), fact(ADA, "likes coffee"))
    await driver.close(held(new))
    asking = await driver.turn(ADA, "back")
    incoming = incoming_of(asking, "", private(ADA), retry=True, retry_turn=new.turn_id)
    incoming = replace(incoming, replaces=True, brings_back=True)
    context = await store.begin(incoming, "m")
    assert context.former
    assert context.former.text == "Yes."
    told = await store.finish(incoming, reply("Yes.") | {"again": "back"})
    assert [change.content for change in told.withdrawn] == (
        ["Has a cat called Mia", "likes coffee"] if edited else ["likes coffee"]
    )
    if edited:
        assert await driver.known(private(ADA)) == ["rides a bike"]
    else:
        assert await driver.known(private(ADA)) == ["has a cat called Mia"]
        assert [change.content for change in told.changes] == ["has a cat called Mia", "rides a bike"]
        await store.decide_change(told.changes[0].id, ADA, False, "undo")
        assert await driver.known(private(ADA)) == []


async def test_a_memory_that_a_person_edited_is_not_undone(driver: TurnDriver, store: Store) -> None:
    turn, _, update = await answered(driver, "I live in Rome", fact(ADA, "lives in Rome"), fact(ADA, "likes tea"))
    changes = await store.changes(turn.turn_id, ADA, False) or []
    edit = await driver.turn(ADA, "words")
    reworded = {"action": "edit", "memory_id": changes[0].memory_id, "content": "lives in Rome, Georgia"}
    await store.change_memory(edit, private(ADA), [reworded])
    await driver.close(edit)
    await store.edit(edit_of(update, "I live there"))
    new = await again(driver, turn, "Ok.")
    assert await driver.known(private(ADA)) == ["lives in Rome, Georgia"]
    assert new.replaces


async def test_only_the_person_who_asked_may_replace_the_last_answer(driver: TurnDriver, store: Store) -> None:
    turn, _, _ = await answered(driver)
    fine = RetryState(asked=True, stands=True, last=True)
    assert await store.find_standing(turn.turn_id, ADA) == fine
    assert await store.find_standing(turn.turn_id, BEN) == replace(fine, asked=False)
    assert await store.find_standing(10**17, ADA) is None
    later, _, _ = await answered(driver, "more")
    assert await store.find_standing(turn.turn_id, ADA) == replace(fine, last=False)
    await driver.close(held(await again(driver, later)))
    assert await store.find_standing(later.turn_id, ADA) == replace(fine, stands=False)
    control = sorted_row(message(ADA, "/help"), BOT, frozenset([ADA]), True)
    ((command, *_), _) = await store.intake(BOT.id, [control], 64)
    assert await store.find_standing(command.turn_id, ADA) == replace(fine, last=False)


async def test_a_resent_part_is_looked_for_after_a_crash(driver: TurnDriver, store: Store) -> None:
    turn, _, update = await answered(driver)
    await store.edit(edit_of(update, "hello"))
    new = held(await again(driver, turn))
    part = Part(1, ADA, {"chat_id": ADA, "text": "Yes!"})
    (row,) = await store.deliver(new, BOT.id, [part])
    assert row.telegram_message_id == 900
    row = await store.restart_sending(new, 1)
    assert (row.status, row.telegram_message_id) == ("sending", None)
    (row,) = await store.deliver(new, BOT.id, [part])
    assert (row.uncertain, row.telegram_message_id) == (True, None)


async def test_files_are_deleted_and_sent_again_with_the_new_answer(driver: TurnDriver, store: Store) -> None:
    turn, _, _ = await answered(driver)
    first = held(await again(driver, turn))
    text, file = {"chat_id": ADA, "text": "as a file:"}, {"chat_id": ADA, "file": {"name": "x.py"}}
    await store.deliver(first, BOT.id, [Part(1, ADA, text), Part(2, ADA, file)])
    sent = [PartResult(seq, "sent", 900 + seq) for seq in (1, 2)]
    await store.store_sent(first, sent, True)
    second = held(await again(driver, first))
    rows = await store.deliver(second, BOT.id, [Part(seq, ADA, one) for seq, one in ((1, text), (2, text), (3, file))])
    assert [(row.telegram_message_id, row.request.get("delete")) for row in rows] == [
        (901, None), (None, None), (None, None), (902, True)
    ]  # fmt: skip
