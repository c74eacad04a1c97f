"""Tests erasing from the bot's own messages: which are deleted, how others are edited, and what remains to be done."""

from __future__ import annotations

import json
from typing import Any

import pytest

from relay.core.errors import ChatGone, MessengerRefused, MessengerUnavailable
from relay.memory.claims import ClaimedTurn
from relay.memory.erasure import ERASED, retract
from relay.memory.rows.delivery import Part, PartResult
from relay.memory.store import Store
from relay.surfaces.telegram.outgoing import insist
from relay.surfaces.telegram.outgoing.redraw import redraw
from relay.surfaces.telegram.turns.announcements import with_line
from tests.integration.conftest import Sql
from tests.integration.dump import holding
from tests.integration.test_buttons import Desk
from tests.integration.test_erase_sql import erase
from tests.integration.turn_driver import (
    ADA,
    BEN,
    BOT,
    FINISHED,
    GROUP,
    TurnDriver,
    due_announcements,
    fact,
    group,
    incoming_of,
    message,
    private,
    reply,
)
from tests.standins.fakes import FakeMessenger

Json = dict[str, Any]
SISTER = "has a sister called Mathilda"


class Chat(FakeMessenger):
    """A Telegram that refuses some calls."""

    def __init__(self, **refusals: Exception) -> None:
        super().__init__()
        self.refusals = refusals

    async def call(self, method: str, **parameters: Any) -> Any:
        if method in self.refusals:
            raise self.refusals[method]
        return await super().call(method, **parameters)


async def sent(store: Store, turn: ClaimedTurn, *requests: Json, first: int) -> None:
    """Delivers the parts of a reply, with message ids from `first` on."""
    parts = [Part(seq, one.get("chat_id", ADA), {"chat_id": ADA, **one}) for seq, one in enumerate(requests, 1)]
    await store.deliver(turn, BOT.id, parts)
    done = [PartResult(seq, "sent", first + seq - 1) for seq in range(1, len(requests) + 1)]
    await store.store_sent(turn, done, True)


async def command(driver: TurnDriver, text: str, reply_text: str, first: int, **more: Any) -> ClaimedTurn:
    """Stores a command and delivers the reply to it."""
    turn = await driver.turn(ADA, text, **more)
    assert turn.kind == "control"
    await sent(driver.store, turn, {"chat_id": more.get("chat_id", ADA), "text": reply_text}, first=first)
    return turn


async def answered(
    driver: TurnDriver, text: str, answer: str, learned: str, first: int, *, above: str = ""
) -> ClaimedTurn:
    """Delivers an exchange that teaches something, with the announcement under the answer."""
    turn = await driver.turn(ADA, text)
    incoming = incoming_of(turn, text, private(ADA))
    await driver.store.begin(incoming, "model-1")
    told = await driver.store.finish(incoming, reply(answer, [fact(ADA, learned)]))
    shown = f"{above}{answer}\n\n🧠 Learned: {learned}"
    entities = [
        {"type": "bold", "offset": len(above), "length": 4},
        {"type": "italic", "offset": len(answer) + len(above) + 2, "length": len(learned) + 12},
    ]
    change = told.changes[0]
    rows = [
        [{"text": "↩ Undo / Edit…", "callback_data": f"u:{turn.turn_id}"}],
        [{"text": "↻ Retry", "callback_data": f"r:{turn.turn_id}"}],
        [{"text": "✎ Edit", "callback_data": f"e:{change.memory_id}"}],
        [{"text": "↩ Undo", "callback_data": f"d:{change.id}:u"}],
    ]
    request = {"text": shown, "entities": entities, "reply_markup": {"inline_keyboard": rows}}
    await sent(driver.store, turn, request, first=first)
    return turn


async def test_messages_repeating_an_erased_text_are_deleted_and_answers_edited(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    turn = await answered(driver, "What do I cook for Mathilda, my sister?", "Cook pasta.", SISTER, first=900)
    await command(driver, "/memory", f"1 memory\n- #1 {SISTER}", first=910)
    await command(driver, "/help", "Write to me.", first=920)
    await erase(store, private(ADA), {"words": "mathilda"})
    rows = {row.message_id: row.request for row in await store.retractions(BOT.id, None, 50)}
    assert rows.keys() == {900, 910}
    assert rows[910] is None
    assert rows[900] == {
        "text": "Cook pasta.",
        "entities": [{"type": "bold", "offset": 0, "length": 4}],
        "reply_markup": {"inline_keyboard": [[{"text": "↻ Retry", "callback_data": f"r:{turn.turn_id}"}]]},
    }
    assert await holding(sql, "mathilda") == {}
    telegram = Chat()
    await retract(store, telegram, BOT.id)
    assert [(name, one["message_id"]) for name, one in telegram.calls] == [
        ("deleteMessage", 910),
        ("editMessageText", 900),
    ]
    done = await store.erase_step(1)
    assert done is not None
    assert (done.counts.deleted, done.counts.edited, done.waiting) == (1, 1, 0)
    assert [one.what for one in done.theirs] == ["yours"], "people must delete their own messages themselves"


async def test_entities_move_with_their_lines(driver: TurnDriver, store: Store) -> None:
    await answered(driver, "hello", "Cook 🍝 pasta.", SISTER, first=900, above="Mathilda!\n")
    await erase(store, private(ADA), {"words": "mathilda"})
    # the stored answer doesn't name her, so its message stays
    (row,) = await store.retractions(BOT.id, None, 50)
    assert row.request["text"] == "Cook 🍝 pasta."
    assert row.request["entities"] == [{"type": "bold", "offset": 0, "length": 4}]


async def test_an_answer_with_erased_words_is_deleted_or_emptied_if_too_old(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    turn = await driver.turn(ADA, "Who is my sister?")
    incoming = incoming_of(turn, "Who is my sister?", private(ADA))
    await store.begin(incoming, "model-1")
    await store.finish(incoming, reply("Your sister is Mathilda."))
    await sent(store, turn, {"text": "Your sister is Mathilda."}, first=900)
    await command(driver, "/memory", f"Memories\n- #1 likes tea\n- #2 {SISTER}", first=910)
    await sql("update outbox set sent_at = now() - interval '3 days'")
    await erase(store, private(ADA), {"words": "mathilda"})
    telegram = Chat(deleteMessage=MessengerRefused("Bad Request: message can't be deleted for everyone"))
    await retract(store, telegram, BOT.id)
    edits = {one["message_id"]: one["text"] for _, one in telegram.calls}
    assert edits == {900: ERASED, 910: "Memories\n- #1 likes tea"}


async def test_undeletable_messages_are_reported_and_failures_are_retried(driver: TurnDriver, store: Store) -> None:
    await command(driver, "/remember x", f"🧠 Learned: {SISTER}", first=900)
    await driver.teach(ADA, SISTER)
    await erase(store, private(ADA), {"words": "mathilda"})
    await retract(store, Chat(deleteMessage=MessengerUnavailable("away")), BOT.id)
    assert len(await store.retractions(BOT.id, 1, 50)) == 1, "the deletion must wait while Telegram is unavailable"
    await retract(store, Chat(deleteMessage=ChatGone("blocked")), BOT.id)
    done = await store.erase_step(1)
    assert done is not None
    assert done.counts.left == 1
    assert [one.message_id for one in done.theirs if one.what == "ours"] == [900]


async def test_lists_shown_to_others_are_deleted_and_answers_to_others_stay(driver: TurnDriver, store: Store) -> None:
    await driver.exchange(ADA, "My sister is Mathilda", "Yes.", chat_id=GROUP, actions=[fact(ADA, SISTER)])
    told = await driver.turn(BEN, "How is Mathilda?", chat_id=GROUP)
    incoming = incoming_of(told, "How is Mathilda?", group())
    await store.begin(incoming, "model-1")
    await store.finish(incoming, reply("Mathilda is well."))
    await sent(store, told, {"chat_id": GROUP, "text": "Mathilda is well."}, first=900)
    listed = await driver.turn(BEN, "/memory@relay_bot", chat_id=GROUP)
    await sent(store, listed, {"chat_id": GROUP, "text": f"- #1 Ada: {SISTER}"}, first=910)
    await erase(store, group(), {"words": "mathilda"}, ADA)
    assert [row.message_id for row in await store.retractions(BOT.id, None, 50)] == [910]


async def test_erasing_ones_own_memory_takes_nothing_of_those_who_came_into_ones_group(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await driver.exchange(
        ADA, "My sister is Mathilda", "Yes.", chat_id=GROUP, space=private(ADA), actions=[fact(ADA, SISTER)]
    )
    await command(driver, "/memory@relay_bot", f"- #1 {SISTER}", first=900, chat_id=GROUP)
    listed = await driver.turn(BEN, "/search@relay_bot Mathilda", chat_id=GROUP)
    await sent(store, listed, {"chat_id": GROUP, "text": "Ben: Mathilda is my cat"}, first=910)
    theirs = "select payload from event where user_id = %s order by id"
    before = await sql(theirs, BEN)
    assert "Mathilda" in str(before)
    await erase(store, private(ADA), {"words": "mathilda"}, ADA)
    assert [row.message_id for row in await store.retractions(BOT.id, None, 50)] == [900]
    assert await sql(theirs, BEN) == before
    assert "Mathilda" not in str(await sql(theirs, ADA))


async def test_a_text_redrawn_by_a_button_is_erased_too(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await command(driver, "/memory", "1 memory", first=900)
    shown = {"text": f"- #1 {SISTER}", "entities": []}
    assert await store.start_redrawing(BOT.id, ADA, 900, shown)
    await store.store_redrawn(BOT.id, ADA, 900, shown)
    await driver.teach(ADA, SISTER)
    await erase(store, private(ADA), {"words": "mathilda"})
    assert [row.message_id for row in await store.retractions(BOT.id, None, 50)] == [900]
    assert await holding(sql, "mathilda") == {}
    await store.store_redrawn(BOT.id, ADA, 900, {"text": f"- #1 {SISTER}"})
    assert await holding(sql, "mathilda") == {}, "a redraw after the erasure must store nothing"


async def begun(driver: TurnDriver, store: Store) -> int:
    """Teaches what is then being erased. Returns the erasure."""
    (learned,) = await driver.teach(ADA, SISTER)
    shown = await store.erase_preview(private(ADA), {"memory_id": learned.memory_id}, ADA, False)
    assert shown
    assert await store.erase_begin(shown.erasure_id, ADA, False)
    return shown.erasure_id


async def step(store: Store, erasure_id: int) -> bool:
    """Takes the steps of an erasure that can be taken now. Returns whether it is done."""
    while (done := await store.erase_step(erasure_id)) is not None and not done.done:
        pass
    return done is not None


@pytest.mark.parametrize("read", ["before the erasure begins", "before what is erased is deleted"])
async def test_an_erasure_waits_for_what_other_turns_are_about_to_show(
    read: str, driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await command(driver, "/preferences", "None yet.", first=900)
    listing = await driver.turn(ADA, "/memory") if "begins" in read else None
    erasure_id = await begun(driver, store)
    listing = listing or await driver.turn(ADA, "/memory")
    assert not await step(store, erasure_id)
    assert await sql("select id from memory") == [], "what can be deleted is"
    page = {"text": f"1 memory\n- #1 {SISTER}", "entities": []}
    assert await store.start_redrawing(BOT.id, ADA, 900, page)
    await store.store_redrawn(BOT.id, ADA, 900, page)
    later = await driver.turn(ADA, "/memory")
    await sent(store, listing, page, first=910)
    assert await step(store, erasure_id), "what is read afterwards can't hold it"
    await sent(store, later, {"text": "0 memories"}, first=920)
    assert {row.message_id for row in await store.retractions(BOT.id, None, 50)} == {900, 910}
    assert await holding(sql, "mathilda") == {}


async def test_an_erasure_waits_for_parts_whose_process_was_killed(driver: TurnDriver, store: Store, sql: Sql) -> None:
    listing = await driver.turn(ADA, "/memory")
    await store.deliver(listing, BOT.id, [Part(1, ADA, {"chat_id": ADA, "text": f"- #1 {SISTER}"})])
    erasure_id = await begun(driver, store)
    await sql("update turn set lease_owner = null, lease_until = null where id = %s", listing.turn_id)
    assert not await step(store, erasure_id)
    (again,) = await driver.claim()
    await store.store_sent(again, [PartResult(1, "sent", 910)], True)
    assert await step(store, erasure_id)
    assert await holding(sql, "mathilda") == {}


async def test_an_erasure_does_not_wait_for_taps_that_wait_for_it(driver: TurnDriver, store: Store, sql: Sql) -> None:
    desk = Desk(driver)
    for _ in range(2):
        await desk.press("xe:1", 900)
    erasure_id = await begun(driver, store)
    assert await step(store, erasure_id)


async def test_an_erasure_does_not_wait_long_for_what_is_queued_behind_it(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await Desk(driver).press("xk:1", 900)
    erasure_id = await begun(driver, store)
    assert not await step(store, erasure_id)
    await sql("update erasure set work = work || jsonb_build_object('since', now() - interval '31 seconds')")
    assert await step(store, erasure_id)


@pytest.mark.parametrize("word", ["Mathilda", "boats"])
async def test_a_message_counts_as_showing_both_texts_until_telegram_confirms_the_new_one(
    word: str, driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await command(driver, "/memory", f"- #1 {SISTER}", first=900)
    assert await store.start_redrawing(BOT.id, ADA, 900, {"text": "- #2 Loves boats", "entities": []})
    await driver.teach(ADA, f"Knows {word}")
    await erase(store, private(ADA), {"words": word})
    assert await sql("select telegram_message_id from retraction") == [(900,)]
    assert await holding(sql, word.lower()) == {}


@pytest.mark.parametrize("confirmed", [True, False])
async def test_an_edit_under_way_brings_nothing_back_and_its_message_is_taken_back_afterwards(
    confirmed: bool, driver: TurnDriver, store: Store, sql: Sql
) -> None:
    exchange = await driver.exchange(ADA, "My sister is Mathilda", "Noted.", close=False)
    await sent(store, exchange.turn, {"text": "Noted."}, first=900)
    shown = {"text": f"Noted.\n\n🧠 Learned: {SISTER}", "entities": []}
    assert await store.start_redrawing(BOT.id, ADA, 900, shown)
    assert await store.may_redraw_still(BOT.id, ADA, 900, shown)
    await erase(store, private(ADA), {"words": "mathilda"})
    assert not await store.may_redraw_still(BOT.id, ADA, 900, shown), "it must not be tried again"
    assert await store.retractions(BOT.id, None, 50) == [], "Telegram could carry out the edit afterwards"
    if confirmed:
        await store.store_redrawn(BOT.id, ADA, 900, shown)
    else:
        await sql("update erasure set done_at = done_at - interval '31 seconds'")
    await store.record_announced(exchange.turn.turn_id, 1, shown)
    assert [row.message_id for row in await store.retractions(BOT.id, None, 50)] == [900]
    assert await holding(sql, "mathilda") == {}


async def test_an_edit_is_not_repeated_after_an_erasure(
    driver: TurnDriver, store: Store, sql: Sql, monkeypatch: pytest.MonkeyPatch
) -> None:
    exchange = await driver.exchange(ADA, "My sister is Mathilda", "Noted.", close=False)
    await sent(store, exchange.turn, {"text": "Noted."}, first=900)
    monkeypatch.setattr(insist.RetryPauses, "next_pause", lambda self, error: 0.0)

    class Away(Chat):
        async def call(self, method: str, **parameters: Any) -> Any:
            await super().call(method, **parameters)
            if len(self.calls) == 3:
                await erase(store, private(ADA), {"words": "mathilda"})
            if len(self.calls) < 10:
                raise MessengerUnavailable("Telegram is away.")

    chat = Away()
    await redraw(store, chat, BOT.id, ADA, 900, {"text": f"🧠 Learned: {SISTER}", "entities": []})
    assert len(chat.calls) == 3
    await sql("update erasure set done_at = done_at - interval '31 seconds'")
    assert [row.request and row.request["text"] for row in await store.retractions(BOT.id, None, 50)] == ["Noted."]


async def test_an_edit_is_not_repeated_after_a_newer_one(
    driver: TurnDriver, store: Store, sql: Sql, monkeypatch: pytest.MonkeyPatch
) -> None:
    await command(driver, "/memory", "1 memory", first=900)
    monkeypatch.setattr(insist.RetryPauses, "next_pause", lambda self, error: 0.0)
    newer = {"text": "2 memories", "entities": []}

    class Away(Chat):
        async def call(self, method: str, **parameters: Any) -> Any:
            await super().call(method, **parameters)
            await store.start_redrawing(BOT.id, ADA, 900, newer)
            raise MessengerUnavailable("Telegram is away.")

    chat = Away()
    await redraw(store, chat, BOT.id, ADA, 900, {"text": "3 memories", "entities": []})
    assert len(chat.calls) == 1
    recorded = "select request ->> 'text', sending_text from outbox"
    assert await sql(recorded) == [("1 memory", "3 memories\n2 memories")]
    await store.store_redrawn(BOT.id, ADA, 900, newer)
    assert await sql(recorded) == [("2 memories", "3 memories")], "nobody knows whether it was shown"


async def test_two_edits_at_once_are_both_recorded_and_erased(driver: TurnDriver, store: Store, sql: Sql) -> None:
    exchange = await driver.exchange(ADA, "My sister is Mathilda", "Noted.", close=False)
    await sent(store, exchange.turn, {"text": "Noted."}, first=900)
    line = {"text": f"Noted.\n\n🧠 Learned: {SISTER}", "entities": []}
    rows = {"reply_markup": {"inline_keyboard": [[{"text": "👍", "callback_data": "n"}]]}}
    for shown in (line, rows):
        assert await store.start_redrawing(BOT.id, ADA, 900, shown)
    for shown in (rows, line):
        await store.store_redrawn(BOT.id, ADA, 900, shown)
    assert await sql("select request ->> 'text', sending_text from outbox") == [(line["text"], None)]
    assert await store.start_redrawing(BOT.id, ADA, 900, line)
    await erase(store, private(ADA), {"words": "mathilda"})
    assert await store.start_redrawing(BOT.id, ADA, 900, rows)
    assert await store.retractions(BOT.id, None, 50) == [], "the first edit is still under way"
    await store.store_redrawn(BOT.id, ADA, 900, line)
    assert await holding(sql, "mathilda") == {}


async def find(sql: Sql, content: str) -> None:
    """Learns something after the last answer."""
    ((evidence,),) = await sql("select max(id) from message where role = 'user'")
    finding = {"action": "learn", "kind": "fact", "subject_id": ADA, "subject": "Ada", "pending": False,
               "tainted": False, "evidence": [evidence], "content": content}  # fmt: skip
    await sql("select relay.keep_finding((select id from thread), %s::jsonb)", json.dumps(finding))


async def announced(store: Store) -> str:
    """Announces what is due under the last answer. Returns the text that it then shows."""
    (due,) = await due_announcements(store)
    request = with_line(due)
    assert request
    assert await store.start_redrawing(BOT.id, ADA, 900, request)
    await store.record_announced(due.turn_id, 1, request)
    text: str = request["text"]
    return text


async def test_what_is_left_of_an_announcement_that_an_erasure_overtook_is_told_once(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    exchange = await driver.exchange(ADA, "My sister is Mathilda, and I love boats", "Noted.", close=False)
    await sent(store, exchange.turn, {"text": "Noted."}, first=900)
    await find(sql, "loves boats")
    assert await announced(store) == "Noted.\n\n🧠 Learned: loves boats"
    await find(sql, SISTER)
    (due,) = await due_announcements(store)
    both = with_line(due)
    assert both
    assert await store.start_redrawing(BOT.id, ADA, 900, both)
    await erase(store, private(ADA), {"words": "mathilda"})
    await store.record_announced(due.turn_id, 1, both)
    assert await due_announcements(store) == []
    await retract(store, Chat(), BOT.id)
    assert await announced(store) == "Noted.\n\n🧠 Learned: loves boats"
    assert await holding(sql, "mathilda") == {}


async def test_an_announcement_on_a_message_that_an_erasure_is_about_to_edit_is_told_again_afterwards(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    await answered(driver, "I love boats", "Noted.", SISTER, first=900)
    await find(sql, "loves boats")
    await erase(store, private(ADA), {"words": "mathilda"})
    assert await announced(store) == "Noted.\n\n🧠 Learned: loves boats"
    await retract(store, Chat(), BOT.id)
    assert await announced(store) == "Noted.\n\n🧠 Learned: loves boats"
    await retract(store, Chat(), BOT.id)
    assert await due_announcements(store) == []


async def test_json_field_names_do_not_count_as_shown_text(driver: TurnDriver, store: Store) -> None:
    await command(driver, "/help", "Write to me.", first=900)
    await driver.exchange(ADA, "an entities text", "Yes.")
    await erase(store, private(ADA), {"words": "text"})
    assert await store.retractions(BOT.id, None, 50) == []


async def test_a_voice_note_that_a_command_made_is_deleted_too(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await driver.exchange(ADA, "My sister is Mathilda", "Mathilda it is.")
    turn = await driver.turn(ADA, "/say")
    note = {"method": "sendVoice", "say": {"text": "Mathilda it is.", "language": "en"}}
    await sent(store, turn, note, first=930)
    await erase(store, private(ADA), {"words": "mathilda"})
    assert [(row.message_id, row.request) for row in await store.retractions(BOT.id, None, 50)] == [(930, None)]
    assert await holding(sql, "mathilda") == {}


async def test_files_that_may_contain_it_are_listed(driver: TurnDriver, store: Store) -> None:
    await driver.exchange(ADA, "My sister is Mathilda", "Yes.")
    turn = await driver.turn(ADA, "/reminders ics")
    file = {"method": "sendDocument", "file": {"name": "reminders.ics", "content": "TWF0aGlsZGE="}}
    picture = {"method": "sendPhoto", "file": {"name": "usage.png", "content": ""}}
    await sent(store, turn, file, picture, first=940)
    shown = await store.erase_preview(private(ADA), {"words": "mathilda"}, ADA, False)
    assert shown is not None
    assert await store.erase_begin(shown.erasure_id, ADA, False)
    while not (done := await store.erase_step(shown.erasure_id) or FINISHED).done:
        pass
    assert [(one.what, one.message_id) for one in done.theirs if one.what == "export"] == [("export", 940)]


async def test_two_previewed_erasures_can_both_be_carried_out(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await driver.exchange(ADA, "My sister is Mathilda", "Yes.")
    await driver.exchange(ADA, "My brother is Bartholomew", "Yes.")
    one = await store.erase_preview(private(ADA), {"words": "mathilda"}, ADA, False)
    other = await store.erase_preview(private(ADA), {"words": "bartholomew"}, ADA, False)
    assert one is not None
    assert other is not None
    for shown in (one, other):
        assert await store.erase_begin(shown.erasure_id, ADA, False)
        while not (await store.erase_step(shown.erasure_id) or FINISHED).done:
            pass
    assert await holding(sql, "mathilda", "bartholomew") == {}


async def test_no_event_keeps_the_words_of_the_erase_command(driver: TurnDriver, store: Store, sql: Sql) -> None:
    update = message(ADA, "/forget --erase Mathilda")
    (turn,) = await driver.say(update)
    assert (await holding(sql, "mathilda")).keys() == {"event", "inbox"}
    assert await store.erase_preview(private(ADA), {"words": "Mathilda"}, ADA, False, turn.turn_id) is None
    await driver.close(turn)
    assert await holding(sql, "mathilda") == {}


async def test_an_announcement_in_its_own_message_is_deleted_too(driver: TurnDriver, store: Store, sql: Sql) -> None:
    done = await driver.exchange(ADA, "hello", "Yes.", actions=[fact(ADA, SISTER)])
    change = done.told.changes[0].id
    await sql("select relay.announce(t, array[%s::bigint]) from turn t where id = %s", change, done.turn.turn_id)
    (turn,) = (await store.claim(BOT.id, 1))[0]
    part = Part(1, ADA, {"chat_id": ADA, "text": f"🧠 Learned: {SISTER}"})
    await store.announce_anew(turn, part.chat_id, part.request, [change])
    await store.deliver(turn, BOT.id, [part])
    await store.store_sent(turn, [PartResult(1, "sent", 950)], True)
    await erase(store, private(ADA), {"words": "mathilda"})
    assert [(row.message_id, row.request) for row in await store.retractions(BOT.id, None, 50)] == [(950, None)]
    assert await holding(sql, "mathilda") == {}


@pytest.mark.parametrize("spoke", [True, False])
async def test_a_command_that_says_an_erased_word_again_can_be_erased(
    driver: TurnDriver, store: Store, sql: Sql, spoke: bool
) -> None:
    if spoke:  # who has only sent commands has no space yet
        await driver.exchange(ADA, "hello")
    (searched,) = await driver.say(message(ADA, "/search Mathilda"))
    await driver.close(searched)
    (asking,) = await driver.say(message(ADA, "/forget --erase Mathilda"))
    await sql("update inbox set payload = '{}' where turn_id = %s", searched.turn_id)  # as after its time
    assert await store.erase_preview(private(BEN), {"words": "Mathilda"}, BEN, False) is None
    shown = await store.erase_preview(private(ADA), {"words": "Mathilda"}, ADA, False, asking.turn_id)
    assert shown is not None
    assert (shown.counts.messages, shown.counts.memories) == (0, 0)
    await driver.close(asking)
    assert await store.erase_begin(shown.erasure_id, ADA, False)
    while not (await store.erase_step(shown.erasure_id) or FINISHED).done:
        pass
    assert await holding(sql, "mathilda") == {}
    assert await store.erase_preview(private(ADA), {"words": "Mathilda"}, ADA, False) is None


@pytest.mark.parametrize("kept", ["title", "topics", "checklist", "wording"])
async def test_a_word_that_no_plan_lists_can_be_erased(driver: TurnDriver, store: Store, sql: Sql, kept: str) -> None:
    said = await driver.exchange(ADA, "hello")
    match kept:
        case "title":
            await sql("update relay.session set title = 'Mathilda', titled_by = 'person'")
        case "topics":
            await sql("update relay.session set topics = '{Mathilda}'")
        case "checklist":
            await store.set_heartbeat(
                private(ADA), user_id=ADA, bot_id=BOT.id, chat_id=ADA, topic_id=0, every_hours=4, from_hour=8,
                to_hour=21, zone="UTC", checklist="look after Mathilda", status="on", next_at="2031-01-01T00:00:00Z",
            )  # fmt: skip
        case _:
            await sql(
                "insert into relay.message_version (message_id, text, blocks, untrusted)"
                " values (%s, 'Mathilda', '[]', false)",
                said.context.message_id,
            )
    assert await store.erase_preview(private(BEN), {"words": "Mathilda"}, BEN, False) is None
    await erase(store, private(ADA), {"words": "Mathilda"})
    assert await holding(sql, "mathilda") == {}
    assert await store.erase_preview(private(ADA), {"words": "Mathilda"}, ADA, False) is None
