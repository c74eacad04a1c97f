"""What was erased goes from the bot's own messages: which go, which are edited to what, and what is left to do."""

from __future__ import annotations

from typing import Any

from relay.clients.fakes import FakeMessenger
from relay.core.errors import ChatGone, MessengerRefused, MessengerUnavailable
from relay.memory.claims import ClaimedTurn
from relay.memory.erasure import ERASED, retract
from relay.memory.rows.delivery import Part, PartResult
from relay.memory.store import Store
from tests.integration.conftest import Sql
from tests.integration.dump import holding
from tests.integration.house import (
    ADA,
    BEN,
    BOT,
    FINISHED,
    GROUP,
    House,
    fact,
    group,
    incoming_of,
    message,
    private,
    reply,
)
from tests.integration.test_erase_sql import erase

Json = dict[str, Any]
SISTER = "has a sister called Mathilda"


class Chat(FakeMessenger):
    """A Telegram that may refuse."""

    def __init__(self, **refusals: Exception) -> None:
        super().__init__()
        self.refusals = refusals

    async def call(self, method: str, **parameters: Any) -> Any:
        if method in self.refusals:
            raise self.refusals[method]
        return await super().call(method, **parameters)


async def sent(store: Store, turn: ClaimedTurn, *requests: Json, first: int) -> None:
    """The parts of a reply reach the chat, with message ids from `first` on."""
    parts = [Part(seq, one.get("chat_id", ADA), {"chat_id": ADA, **one}) for seq, one in enumerate(requests, 1)]
    await store.deliver(turn, BOT.id, parts)
    done = [PartResult(seq, "sent", first + seq - 1) for seq in range(1, len(requests) + 1)]
    await store.sent(turn, done, True)


async def command(house: House, text: str, reply_text: str, first: int, **more: Any) -> ClaimedTurn:
    """A command and the reply to it."""
    turn = await house.turn(ADA, text, **more)
    assert turn.kind == "control"
    await sent(house.store, turn, {"chat_id": more.get("chat_id", ADA), "text": reply_text}, first=first)
    return turn


async def answered(house: House, text: str, answer: str, learned: str, first: int, *, above: str = "") -> ClaimedTurn:
    """An exchange that teaches something, with its line under the answer."""
    turn = await house.turn(ADA, text)
    incoming = incoming_of(turn, text, private(ADA))
    await house.store.begin(incoming, "model-1")
    told = await house.store.finish(incoming, reply(answer, [fact(ADA, learned)]))
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
    await sent(house.store, turn, request, first=first)
    return turn


async def test_our_messages_that_repeat_it_go_and_an_answer_that_stays_loses_the_line(
    house: House, store: Store, sql: Sql
) -> None:
    turn = await answered(house, "What do I cook for Mathilda, my sister?", "Cook pasta.", SISTER, first=900)
    await command(house, "/memory", f"1 memory\n- #1 {SISTER}", first=910)
    await command(house, "/help", "Write to me.", first=920)
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
    assert [one.what for one in done.theirs] == ["yours"], "the person's own message is theirs to delete"


async def test_entities_move_with_their_lines(house: House, store: Store) -> None:
    await answered(house, "hello", "Cook 🍝 pasta.", SISTER, first=900, above="Mathilda!\n")
    await erase(store, private(ADA), {"words": "mathilda"})
    # the answer itself says nothing of her in the tables: its message stays
    (row,) = await store.retractions(BOT.id, None, 50)
    assert row.request["text"] == "Cook 🍝 pasta."
    assert row.request["entities"] == [{"type": "bold", "offset": 0, "length": 4}]


async def test_an_answer_that_says_it_goes_and_so_do_old_ones_as_far_as_telegram_lets_us(
    house: House, store: Store, sql: Sql
) -> None:
    turn = await house.turn(ADA, "Who is my sister?")
    incoming = incoming_of(turn, "Who is my sister?", private(ADA))
    await store.begin(incoming, "model-1")
    await store.finish(incoming, reply("Your sister is Mathilda."))
    await sent(store, turn, {"text": "Your sister is Mathilda."}, first=900)
    await command(house, "/memory", f"Memories\n- #1 likes tea\n- #2 {SISTER}", first=910)
    await sql("update outbox set sent_at = now() - interval '3 days'")
    await erase(store, private(ADA), {"words": "mathilda"})
    telegram = Chat(deleteMessage=MessengerRefused("Bad Request: message can't be deleted for everyone"))
    await retract(store, telegram, BOT.id)
    edits = {one["message_id"]: one["text"] for _, one in telegram.calls}
    assert edits == {900: ERASED, 910: "Memories\n- #1 likes tea"}


async def test_what_telegram_keeps_is_told_and_what_waits_is_tried_again(house: House, store: Store) -> None:
    await command(house, "/remember x", f"🧠 Learned: {SISTER}", first=900)
    await house.teach(ADA, SISTER)
    await erase(store, private(ADA), {"words": "mathilda"})
    await retract(store, Chat(deleteMessage=MessengerUnavailable("away")), BOT.id)
    assert len(await store.retractions(BOT.id, 1, 50)) == 1, "Telegram was away: it waits"
    await retract(store, Chat(deleteMessage=ChatGone("blocked")), BOT.id)
    done = await store.erase_step(1)
    assert done is not None
    assert done.counts.left == 1
    assert [one.message_id for one in done.theirs if one.what == "ours"] == [900]


async def test_lists_that_others_were_shown_go_and_what_they_were_told_stays(house: House, store: Store) -> None:
    await house.exchange(ADA, "My sister is Mathilda", "Yes.", chat_id=GROUP, actions=[fact(ADA, SISTER)])
    told = await house.turn(BEN, "How is Mathilda?", chat_id=GROUP)
    incoming = incoming_of(told, "How is Mathilda?", group())
    await store.begin(incoming, "model-1")
    await store.finish(incoming, reply("Mathilda is well."))
    await sent(store, told, {"chat_id": GROUP, "text": "Mathilda is well."}, first=900)
    listed = await house.turn(BEN, "/memory@relay_bot", chat_id=GROUP)
    await sent(store, listed, {"chat_id": GROUP, "text": f"- #1 Ada: {SISTER}"}, first=910)
    await erase(store, group(), {"words": "mathilda"}, ADA)
    assert [row.message_id for row in await store.retractions(BOT.id, None, 50)] == [910]


async def test_what_a_button_redraws_is_known(house: House, store: Store, sql: Sql) -> None:
    await command(house, "/memory", "1 memory", first=900)
    await store.redrawn(BOT.id, ADA, 900, {"text": f"- #1 {SISTER}", "entities": []})
    await house.teach(ADA, SISTER)
    await erase(store, private(ADA), {"words": "mathilda"})
    assert [row.message_id for row in await store.retractions(BOT.id, None, 50)] == [900]
    assert await holding(sql, "mathilda") == {}
    await store.redrawn(BOT.id, ADA, 900, {"text": f"- #1 {SISTER}"})
    assert await holding(sql, "mathilda") == {}, "of what is erased nothing is taken down any more"


async def test_words_of_json_are_not_what_is_shown(house: House, store: Store) -> None:
    await command(house, "/help", "Write to me.", first=900)
    await house.exchange(ADA, "an entities text", "Yes.")
    await erase(store, private(ADA), {"words": "text"})
    assert await store.retractions(BOT.id, None, 50) == []


async def test_two_that_were_shown_do_not_cancel_each_other(house: House, store: Store, sql: Sql) -> None:
    await house.exchange(ADA, "My sister is Mathilda", "Yes.")
    await house.exchange(ADA, "My brother is Bartholomew", "Yes.")
    one = await store.erase_preview(private(ADA), {"words": "mathilda"}, ADA, False)
    other = await store.erase_preview(private(ADA), {"words": "bartholomew"}, ADA, False)
    assert one is not None
    assert other is not None
    for shown in (one, other):
        assert await store.erase_begin(shown.erasure_id, ADA, False)
        while not (await store.erase_step(shown.erasure_id) or FINISHED).done:
            pass
    assert await holding(sql, "mathilda", "bartholomew") == {}


async def test_of_the_command_no_event_keeps_the_words(house: House, store: Store, sql: Sql) -> None:
    update = message(ADA, "/forget --erase Mathilda")
    (turn,) = await house.say(update)
    assert (await holding(sql, "mathilda")).keys() == {"event", "inbox"}
    assert await store.erase_preview(private(ADA), {"words": "Mathilda"}, ADA, False, turn.turn_id) is None
    await house.close(turn)
    assert await holding(sql, "mathilda") == {}


async def test_a_line_that_was_told_in_a_message_of_its_own_goes_too(house: House, store: Store, sql: Sql) -> None:
    done = await house.exchange(ADA, "hello", "Yes.", actions=[fact(ADA, SISTER)])
    change = done.told.changes[0].id
    await sql("select relay.announce(t, array[%s::bigint]) from turn t where id = %s", change, done.turn.turn_id)
    (turn,) = (await store.claim(BOT.id, 1))[0]
    part = Part(1, ADA, {"chat_id": ADA, "text": f"🧠 Learned: {SISTER}"})
    await store.announce_anew(turn, part, [change])
    await store.deliver(turn, BOT.id, [part])
    await store.sent(turn, [PartResult(1, "sent", 950)], True)
    await erase(store, private(ADA), {"words": "mathilda"})
    assert [(row.message_id, row.request) for row in await store.retractions(BOT.id, None, 50)] == [(950, None)]
    assert await holding(sql, "mathilda") == {}
