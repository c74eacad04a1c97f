"""The line under an answer says what is true now: after a button, a command, or a decision from elsewhere."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from relay.core.models import ModelRequest, Space
from tests.integration.conftest import Server
from tests.integration.inside import Inside, Json, inside
from tests.integration.turn_driver import ADA, BEN, EVE
from tests.standins.telegram.values import Chat, StoredMessage

LEARNED = "Fine.\n\n🧠 Learned: Ada likes tea"


def teach(request: ModelRequest) -> list[Json]:
    """Learns what the message quotes; sets two reminders when it is asked to."""
    if "instead" in str(request.messages[-1]):
        change = {"id": int(str(request.messages[-1]).partition("tea ")[2].partition(" ")[0]), "text": "coffee"}
        return [{"type": "tool_use", "id": "t3", "name": "change_reminder", "input": change}]
    if "remind me" in str(request.messages[-1]):
        given = {"t1": {"text": "Call Aiko"}, "t2": {"text": "Tea: green", "rrule": "FREQ=DAILY"}}
        return [
            {"type": "tool_use", "id": number, "name": "set_reminder", "input": {"at": "2031-03-01T18:00", **one}}
            for number, one in given.items()
        ]
    said = str(request.messages[-1]).split("“")[1:]
    return [{"type": "text", "text": "Fine. " + " ".join(f"[LEARN: {one.split('”')[0]}]" for one in said)}]


@pytest.fixture
async def relay(embedded: Server) -> AsyncIterator[Inside]:
    async with inside(embedded, teach, frozenset([EVE]), frozenset([ADA, BEN])) as opened:
        yield opened


async def said(relay: Inside, text: str) -> tuple[Chat, StoredMessage]:
    """Says something in Ada's chat, and returns the bot's last message there."""
    dm = relay.tg.dm(relay.tg.user(ADA, "Ada"))
    await relay.tg.say(dm, ADA, text)
    await relay.settled()
    return dm, [one for one in relay.tg.messages(dm) if one.from_bot][-1]


async def press(relay: Inside, chat: Chat, shown: StoredMessage, label: str) -> None:
    relay.tg.press(chat, relay.tg.user(ADA), shown, next(data for name, data in shown.buttons.items() if label in name))
    await relay.settled()


async def becomes(relay: Inside, shown: StoredMessage, text: str) -> None:
    """Waits until a message has this text."""
    try:
        async with asyncio.timeout(20):
            while shown.text != text:
                await relay.sql("update turn set not_before = now() where status = 'working'")
                await relay.worker.claim()
                await asyncio.sleep(0.01)
    except TimeoutError:
        assert shown.text == text
    await relay.settled()


async def decide(relay: Inside, decision: str, number: int = 1) -> None:
    """Decides a change as from the shell or the web."""
    ((change,),) = await relay.sql("select id from memory_change order by id offset %s limit 1", number - 1)
    assert await relay.store.decide_change(change, ADA, False, decision)


async def test_an_undone_memory_is_no_longer_called_learned(relay: Inside) -> None:
    dm, shown = await said(relay, "Note “Ada likes tea” and “Ada likes tea with milk”")
    assert shown.text == f"{LEARNED} · 🧠 Learned: Ada likes tea with milk"
    await press(relay, dm, shown, "Undo / Edit")
    await press(relay, dm, shown, "↩ Undo: Ada likes tea")
    await becomes(relay, shown, "Fine.\n\n↩ Undone: Ada likes tea · 🧠 Learned: Ada likes tea with milk")
    assert list(shown.buttons) == ["↩ Undone: Ada likes tea", "↩ Undo: Ada likes tea with milk", "✎ Edit", "‹ Close"]


@pytest.mark.parametrize(
    ("decision", "line"), [("keep", "🧠 Learned: Ada likes tea"), ("discard", "✖ Discarded: Ada likes tea")]
)
async def test_a_decision_from_elsewhere_is_shown_under_the_answer(relay: Inside, decision: str, line: str) -> None:
    await said(relay, "/settings learning ask")
    _, shown = await said(relay, "Note “Ada likes tea”")
    assert shown.text == "Fine.\n\n🧠 To remember: Ada likes tea. Waiting for your tap"
    await decide(relay, decision)
    await becomes(relay, shown, f"Fine.\n\n{line}")
    assert await relay.sql("select count(*) from outbox where status <> 'sent'") == [(0,)], "nothing waits or failed"
    assert list(shown.buttons)[:1] == ["↩ Undo / Edit…"]


async def test_the_line_is_corrected_after_a_crash_between_the_decision_and_the_edit(relay: Inside) -> None:
    _, shown = await said(relay, "Note “Ada likes tea”")
    crashes = iter([RuntimeError("the process dies")])

    def crash(method: str, parameters: Json) -> None:
        if method == "editMessageText" and (error := next(crashes, None)):
            raise error

    relay.wire.watch = crash
    await decide(relay, "undo")
    await becomes(relay, shown, "Fine.\n\n↩ Undone: Ada likes tea")
    assert next(crashes, None) is None
    outbox = await relay.sql("select request ->> 'text' from outbox where request ->> 'text' like 'Fine%%'")
    assert outbox == [(shown.text,)], "erasing must find what the message shows"


async def test_a_message_that_telegram_no_longer_changes_stays(relay: Inside) -> None:
    dm, shown = await said(relay, "Note “Ada likes tea”")
    relay.tg.delete(dm, shown)
    await decide(relay, "undo")
    await relay.worker.claim()
    await relay.settled()
    assert [one.text for one in relay.tg.messages(dm) if one.from_bot] == []
    assert await relay.sql("select count(*) from outbox where status = 'queued'") == [(0,)]


async def test_the_reply_to_a_command_says_what_has_become_of_it(relay: Inside) -> None:
    _, shown = await said(relay, "/remember Ada likes tea")
    assert shown.text == "🧠 Learned: Ada likes tea"
    await decide(relay, "undo")
    await becomes(relay, shown, "↩ Undone: Ada likes tea")


async def test_a_question_about_a_memory_becomes_its_answer(relay: Inside) -> None:
    await said(relay, "/remember Ada likes green tea")
    await said(relay, "/remember Ada likes black tea")
    dm, shown = await said(relay, "/forget likes")
    assert shown.text.startswith("🧠 Which one should I forget?")
    await press(relay, dm, shown, "🗑 1")
    await becomes(relay, shown, "🧠 Forgot: Ada likes green tea")
    await press(relay, dm, shown, "↩ Undo")
    await becomes(relay, shown, "↩ Undone: Ada likes green tea")


async def test_a_list_of_memories_of_which_another_question_took_one_asks_about_the_rest(relay: Inside) -> None:
    await said(relay, "/remember Ada has a dog called Rex")
    await said(relay, "/remember Ada has a cat called Rexa")
    dm, shown = await said(relay, "/forget Rexi")
    assert shown.text.startswith("🧠 Which one should I forget?")
    _, other = await said(relay, "/forget dogs")
    assert other.text.startswith("🧠 Did you mean “Ada has a dog called Rex”?")
    await becomes(relay, shown, "🧠 Forget “Ada has a cat called Rexa”? Waiting for your tap")
    await press(relay, dm, shown, "🧠 Keep or discard…")
    await press(relay, dm, shown, "🗑 Forget: Ada has a cat called Rexa")
    await becomes(relay, shown, "🧠 Forgot: Ada has a cat called Rexa")


async def test_the_line_about_reminders_says_what_has_become_of_them(relay: Inside) -> None:
    dm, shown = await said(relay, "Please remind me")
    above, aiko = "Fine.\n\n🔎 set a reminder\n", "⏰ 1 Mar 2031 18:00: Call Aiko"
    assert shown.text == f"{above}{aiko} · ⏰ 1 Mar 2031 18:00, every day at 18:00: Tea: green"
    await press(relay, dm, shown, "1 h later")
    await becomes(relay, shown, f"{above}{aiko} · ⏰ 1 Mar 2031 19:00, every day at 18:00: Tea: green")
    moments = [(one["offset"], one["length"]) for one in shown.raw["entities"] if one["type"] == "date_time"]
    units = shown.text.encode("utf-16-le")
    assert [units[2 * at : 2 * (at + length)].decode("utf-16-le") for at, length in moments] == [
        "1 Mar 2031 18:00", "1 Mar 2031 19:00",
    ]  # fmt: skip
    await press(relay, dm, shown, "⏰ Undo")
    await becomes(relay, shown, f"{above}{aiko} · ⏰ 1 Mar 2031 18:00, every day at 18:00: Tea: green")
    await press(relay, dm, shown, "⏰ Undo")
    await becomes(relay, shown, f"{above}{aiko} · ⏰ Deleted: Tea: green")
    [(number,)] = await relay.sql("select id from reminder where rule = ''")
    one = await relay.store.reminder(Space("private", owner_id=ADA), ADA, number)
    assert one is not None
    await relay.store.change_reminder(number, "changed", ADA, one.next_at, text="Call Ben")
    await becomes(relay, shown, f"{above}⏰ 1 Mar 2031 18:00: Call Ben · ⏰ Deleted: Tea: green")
    for text in ("Call Cleo", "Call Ben"):
        await relay.store.change_reminder(number, "changed", ADA, one.next_at, text=text)
        await becomes(relay, shown, f"{above}⏰ 1 Mar 2031 18:00: {text} · ⏰ Deleted: Tea: green")
    await press(relay, dm, shown, "⏰ Undo")
    await becomes(
        relay, shown, f"{above}⏰ 1 Mar 2031 18:00: Call Ben · ⏰ 1 Mar 2031 18:00, every day at 18:00: Tea: green"
    )


async def test_the_lines_of_two_answers_about_one_reminder_say_what_has_become_of_it(relay: Inside) -> None:
    _, made = await said(relay, "Please remind me")
    [(number,)] = await relay.sql("select id from reminder where rule <> ''")
    dm, changed = await said(relay, f"Not tea {number} but coffee instead")
    above, aiko = "Fine.\n\n🔎 set a reminder\n", "⏰ 1 Mar 2031 18:00: Call Aiko"
    coffee = "⏰ 1 Mar 2031 18:00, every day at 18:00: coffee"
    await becomes(relay, made, f"{above}{aiko} · {coffee}")
    assert changed.text.endswith(coffee)
    for shown in (changed, made):
        await press(relay, dm, shown, "⏰ Undo")
        await becomes(relay, made, f"{above}{aiko} · ⏰ Deleted: coffee")
        await becomes(relay, changed, changed.text.replace(coffee, "⏰ Deleted: coffee"))
        assert changed.text.endswith("⏰ Deleted: coffee")
        await press(relay, dm, shown, "⏰ Undo")
        await becomes(relay, made, f"{above}{aiko} · {coffee}")
        await becomes(relay, changed, changed.text.replace("⏰ Deleted: coffee", coffee))


async def test_the_line_about_markers_says_whether_they_are_there(relay: Inside) -> None:
    dm, shown = await said(relay, "The code is ##keepit0.80##4711##/keepit##, and note “Ada likes tea”")
    assert shown.text == "Fine.\n\n🧠 Learned: Ada likes tea · 📌 Kept 0.80 (important)"
    await press(relay, dm, shown, "Undo 📌")
    await becomes(relay, shown, "Fine.\n\n🧠 Learned: Ada likes tea · 📌 No longer marked")
    await decide(relay, "undo")
    await becomes(relay, shown, "Fine.\n\n↩ Undone: Ada likes tea · 📌 No longer marked")
    await press(relay, dm, shown, "📌 Keep it again")
    await becomes(relay, shown, "Fine.\n\n↩ Undone: Ada likes tea · 📌 Kept 0.80 (important)")
    assert "↩ Undo 📌" in shown.buttons


async def test_the_line_about_preferences_says_which_are_still_followed(relay: Inside) -> None:
    await said(relay, "/preferences prefer short answers")
    await said(relay, "/preferences avoid emoji")
    await relay.sql("delete from preference_decision where action = 'told'")
    await relay.sql("update preference set told = false")
    dm, shown = await said(relay, "Hello")
    assert shown.text == "Fine.\n\n🎚 From now on: short answers, no emoji"
    await press(relay, dm, shown, "✖ Forget: no emoji")
    await becomes(relay, shown, "Fine.\n\n🎚 From now on: short answers")
    await press(relay, dm, shown, "✖ Forget: short answers")
    await becomes(relay, shown, "Fine.\n\n🎚 Forgotten")
    [(decision,)] = await relay.sql("select max(id) from preference_decision where action = 'forget'")
    await relay.store.recall_preferences(Space("private", owner_id=ADA), ADA, [decision])
    await becomes(relay, shown, "Fine.\n\n🎚 From now on: short answers")


async def test_a_preference_whose_line_another_answer_takes_is_announced_again(relay: Inside) -> None:
    await said(relay, "/preferences prefer short answers")
    await relay.sql("delete from preference_decision where action = 'told'")
    await relay.sql("update preference set told = false")
    dm, shown = await said(relay, "Hello")
    assert shown.text == "Fine.\n\n🎚 From now on: short answers"
    assert "🎚" not in (await said(relay, "/retry"))[1].text
    assert "🎚" not in (await said(relay, "And now?"))[1].text, "the first answer still says it"
    await relay.sql("delete from preference_decision where action = 'told'")
    await relay.sql("update preference set told = false")
    dm, shown = await said(relay, "Good day")
    relay.tg.edit(dm, [one for one in relay.tg.messages(dm) if not one.from_bot][-1], "Good evening")
    await relay.settled()
    await press(relay, dm, shown, "Answer again")
    assert shown.text == "Fine."
    _, following = await said(relay, "And then?")
    assert following.text == "Fine.\n\n🎚 From now on: short answers"
    assert "✖ Forget: short answers" in following.buttons
    assert "🎚" not in (await said(relay, "Thanks"))[1].text


async def test_a_preference_from_tapped_tags_is_announced_under_the_next_answer(relay: Inside) -> None:
    await said(relay, "/settings tags on")
    for _ in range(3):
        dm, shown = await said(relay, "Hello")
        await press(relay, dm, shown, "🏷")
        await press(relay, dm, shown, "no jokes")
    _, shown = await said(relay, "And now?")
    assert shown.text == "Fine.\n\n🎚 From now on: no humour (from 3 signs)"
    assert "✖ Forget: no humour" in str(shown.buttons)
    assert "🎚" not in (await said(relay, "Thanks"))[1].text
