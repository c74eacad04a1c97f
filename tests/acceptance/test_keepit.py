"""People mark passages, in their messages and with /keepit in reply."""

from __future__ import annotations

from tests.acceptance.shared_bot import SESSION, SharedBot
from tests.pictures import picture

pytestmark = SESSION


async def test_a_marker_is_shown_under_the_answer_and_can_be_undone_there(bot: SharedBot) -> None:
    ada, dm = bot.person()
    said = "The gate code is ##keepit0.80## 4711 ##/keepit##, I think."
    answer = await bot.ask(dm, ada, said, "Good to know.")
    assert "📌 Kept 0.80 (important)" in answer.text
    assert bot.prompt("The gate code").user_turn()[0].startswith("The gate code is 4711, I think.")
    assert "##" not in bot.prompt("The gate code").user_turn()[0]
    assert await bot.press(dm, ada, answer, "Undo 📌") == "No longer marked."
    await bot.tg.wait_for(lambda: "📌 Keep it again" in answer.buttons)
    assert "Nothing is marked" in (await bot.ask(dm, ada, "/keepit")).text
    await bot.press(dm, ada, answer, "Keep it again")
    listed = await bot.ask(dm, ada, "/keepit")
    assert listed.text == "📌 Marked in this conversation (1)\n\n1 · 0.80 (important)\n4711"


async def test_a_weight_without_two_decimals_is_reported(bot: SharedBot) -> None:
    ada, dm = bot.person()
    answer = await bot.ask(dm, ada, "##keepit0.8##the code and ##keepit1##more", "Good to know.")
    assert answer.text.count("⚠️ a marker needs two decimals: ##keepit0.80##") == 1
    assert "📌" not in answer.text


async def test_a_marker_in_a_forward_is_ignored(bot: SharedBot) -> None:
    ada, dm = bot.person()
    said = await bot.tg.say(dm, ada, "##keepit1.00##theirs", forward_date=1)
    answer = await bot.tg.wait_reply(dm, said)
    assert "📌" not in answer.text
    assert "Nothing is marked" in (await bot.ask(dm, ada, "/keepit")).text


async def test_a_marker_in_a_caption_is_reported_and_a_reply_marks_it(bot: SharedBot) -> None:
    ada, dm = bot.person()
    said = await bot.tg.say(dm, ada, "##keepit0.80## our plan", photo=picture())
    answer = await bot.tg.wait_reply(dm, said)
    await bot.tg.wait_for(lambda: "⚠️ a marker in a caption doesn't count" in answer.text)
    assert "📌" not in answer.text
    await bot.stored(dm)
    kept = await bot.ask(dm, ada, "/keepit 0.80", reply_to=said, quote="our plan")
    assert kept.text == "📌 Kept 0.80 (important)\n\nour plan"


async def test_a_passage_is_marked_by_reply_weighted_and_removed(bot: SharedBot) -> None:
    ada, dm = bot.person()
    answer = await bot.ask(dm, ada, "what is the code?", "The code is **4711**, ask Nora.")
    await bot.stored(dm)
    kept = await bot.ask(dm, ada, "/keepit 0.9", reply_to=answer, quote="code is 4711")
    assert kept.text == "📌 Kept 0.90 (critical)\n\ncode is 4711"
    whole = await bot.ask(dm, ada, "/keepit", reply_to=answer)
    assert whole.text.startswith("📌 How important is this?")
    await bot.press(dm, ada, whole, "0.25 minor")
    await bot.tg.wait_for(lambda: whole.text.startswith("📌 Kept 0.25 (minor)"))
    await bot.press(dm, ada, kept, "Open")
    await bot.tg.wait_for(lambda: kept.text.startswith("📌 0.90 · critical"))
    assert "aggressive 30:1: ✅ 0.53 · ✅ 0.65 · ✅ 0.80" in kept.text
    assert await bot.press(dm, ada, kept, "0.50 notable") == "Now 0.50 (notable)."
    await bot.tg.wait_for(lambda: "aggressive 30:1: ✖ 0.53 · ✖ 0.65 · ✖ 0.80" in kept.text)
    await bot.press(dm, ada, kept, "Undo: 0.90")
    await bot.tg.wait_for(lambda: kept.text.startswith("📌 0.90 · critical"))
    await bot.press(dm, ada, kept, "Remove")
    await bot.tg.wait_for(lambda: kept.text.startswith("🗑 No longer marked."))
    await bot.press(dm, ada, kept, "Undo")
    await bot.tg.wait_for(lambda: kept.text.startswith("📌 0.90 · critical"))
    await bot.press(dm, ada, kept, "Markers")
    await bot.tg.wait_for(lambda: kept.text.startswith("📌 Marked in this conversation (2)"))


async def test_a_session_page_opens_its_markers(bot: SharedBot) -> None:
    ada, dm = bot.person()
    await bot.ask(dm, ada, "##keepit0.80##the gate is open", "Good.")
    page = await bot.ask(dm, ada, "/sessions 1")
    await bot.press(dm, ada, page, "Markers 📌1")
    await bot.tg.wait_for(lambda: page.text.startswith("📌 Marked in that session (1)"))
    await bot.press(dm, ada, page, "1")
    await bot.tg.wait_for(lambda: page.text.startswith("📌 0.80 · important"))
    await bot.press(dm, ada, page, "‹ Markers")
    await bot.tg.wait_for(lambda: "‹ Session" in page.buttons)
    await bot.press(dm, ada, page, "‹ Session")
    await bot.tg.wait_for(lambda: "Markers 📌1" in page.buttons)


async def test_words_that_are_not_in_the_message_cannot_be_marked(bot: SharedBot) -> None:
    ada, dm = bot.person()
    answer = await bot.ask(dm, ada, "what is the code?", "4711")
    refused = await bot.ask(dm, ada, "/keepit pinned 4712", reply_to=answer)
    assert refused.text == "The message doesn't say that. Quote the passage, or copy it exactly."
    for weight in ("1.5", "80%", "-1"):
        refused = await bot.ask(dm, ada, f"/keepit {weight}", reply_to=answer)
        assert refused.text == "A weight is from 0 to 1, such as /keepit 0.8"
    assert (await bot.ask(dm, ada, "/keepit 0.80")).text.startswith("Reply to a message with /keepit")
    assert (await bot.ask(dm, ada, "/keepit pinned the code")).text.startswith("📌 Kept 1.00 (pinned)")
    assert (await bot.ask(dm, ada, "/keepit 0.60\nthe code")).text.startswith("📌 Kept 0.60 (notable)")


async def test_undo_gives_a_passage_its_former_weight_again(bot: SharedBot) -> None:
    ada, dm = bot.person()
    said = await bot.tg.say(dm, ada, "the gate opens at nine")
    await bot.tg.wait_reply(dm, said)
    await bot.ask(dm, ada, "/keepit 0.5", reply_to=said)
    again = await bot.ask(dm, ada, "/keepit 0.9", reply_to=said)
    assert await bot.press(dm, ada, again, "Undo: 0.50 again") == "Now 0.50 (notable)."
    assert "1 · 0.50 (notable)" in (await bot.ask(dm, ada, "/keepit")).text
    same = await bot.ask(dm, ada, "/keepit 0.5", reply_to=said)
    assert list(same.buttons) == ["Open"]


async def test_a_replaced_answer_cannot_be_marked(bot: SharedBot) -> None:
    ada, dm = bot.person()
    old = await bot.ask(dm, ada, "and the roses?", "Water them.")
    bot.says("and the roses?", "Prune them.")
    new = await bot.ask(dm, ada, "/retry")
    refused = await bot.ask(dm, ada, "/keepit 0.9", reply_to=old)
    assert refused.text == "That answer was replaced. Reply to the one that you have now."
    assert (await bot.ask(dm, ada, "/keepit 0.9", reply_to=new)).text.startswith("📌 Kept 0.90")
    about = await bot.ask(dm, ada, "/keepit 0.9", reply_to=refused)
    assert about.text == "I can't find that message in our conversation, so I can't keep it."


async def test_the_line_under_an_answer_follows_an_edit_of_its_markers(bot: SharedBot) -> None:
    ada, dm = bot.person()
    said = await bot.tg.say(dm, ada, "##keepit0.90##alpha is red##/keepit## and ##keepit0.30##beta##/keepit##")
    answer = await bot.tg.wait_reply(dm, said)
    assert "📌 Kept 0.90 (critical), 0.30 (minor)" in answer.text
    bot.tg.edit(dm, said, "##keepit0.70##alpha is blue##/keepit## and beta")
    await bot.tg.wait_for(lambda: answer.text.endswith("📌 Kept 0.70 (notable)"))
    assert "✎ Answer again" in answer.buttons
    bot.tg.edit(dm, said, "alpha and beta")
    await bot.tg.wait_for(lambda: answer.text.endswith("📌 No longer marked"))
    assert "✎ Answer again" in answer.buttons


async def test_editing_a_message_replaces_its_marker(bot: SharedBot) -> None:
    ada, dm = bot.person()
    said = await bot.tg.say(dm, ada, "##keepit0.80##the first code")
    await bot.tg.wait_reply(dm, said)
    bot.tg.edit(dm, said, "##keepit0.90##the second code")

    async def listed() -> str:
        return (await bot.ask(dm, ada, "/keepit")).text

    for _ in range(50):
        if "second" in (text := await listed()):
            break
    assert text == "📌 Marked in this conversation (1)\n\n1 · 0.90 (critical)\nthe second code"


async def test_nothing_is_marked_off_the_record(bot: SharedBot) -> None:
    ada, dm = bot.person()
    await bot.ask(dm, ada, "/private")
    answer = await bot.ask(dm, ada, "##keepit0.80##secret", "Fine.")
    assert "📌" not in answer.text
    refused = await bot.ask(dm, ada, "/keepit 0.9", reply_to=answer)
    assert refused.text == "That's off the record, so I won't keep it."
