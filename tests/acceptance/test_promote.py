"""People keep messages: with /remember in reply, the ◆ under an answer, or a ✍ where they allow it."""

from __future__ import annotations

from typing import Any

from tests.acceptance.shared_bot import SESSION, SharedBot
from tests.acceptance.shared_relay import SharedRelay
from tests.standins.anthropic import Recorded
from tests.standins.telegram import Chat, StoredMessage, User

pytestmark = SESSION


def memories(bot: SharedBot, person: User) -> list[tuple[Any, ...]]:
    """Returns a person's memories: content, kind, status, who promoted it, and the source message."""
    shared_relay = SharedRelay(bot.tg, bot.model, bot.relay, bot.data)
    return shared_relay.sql(
        "select m.content, m.kind, m.status, m.promoted_by, s.text from relay.memory m"
        " left join relay.message s on s.id = m.source_message_id"
        " join relay.space p on p.id = m.space_id where p.owner_id = %s order by m.id",
        person.id,
    )


def small(bot: SharedBot) -> int:
    """Counts the requests to the small model to distil a memory."""
    return sum(is_distilling(one) for one in bot.model.requests)


def is_distilling(request: Recorded) -> bool:
    return "wants to be remembered" in request.system_text


async def draft(bot: SharedBot, chat: Chat) -> StoredMessage:
    """Returns the bot's proposal of what to keep."""
    found: StoredMessage = await bot.tg.wait_for(
        lambda: next((m for m in reversed(bot.tg.messages(chat)) if "Should I remember this?" in m.text), None)
    )
    return found


async def test_a_message_can_be_kept_in_the_persons_own_words(bot: SharedBot) -> None:
    ada, dm = bot.person()
    said = await bot.tg.say(dm, ada, "the ferns want water every Monday")
    await bot.tg.wait_reply(dm, said)
    asked = bot.asked
    kept = await bot.ask(dm, ada, "/remember Ferns: water on Mondays", reply_to=said)
    assert kept.text == "◆ Kept: Ferns: water on Mondays"
    assert memories(bot, ada) == [
        ("Ferns: water on Mondays", "learning", "active", ada.id, "the ferns want water every Monday")
    ]
    assert bot.asked == asked
    assert "◆ Ferns" in (await bot.ask(dm, ada, "/memory")).text


async def test_the_keep_button_is_removed_by_a_dislike_or_in_the_settings(bot: SharedBot) -> None:
    ada, dm = bot.person()
    bot.model.rule(is_distilling, "Ferns are watered on Mondays.", model="haiku")
    reply = await bot.ask(dm, ada, "when do ferns want water?", "Every Monday.")
    assert list(reply.buttons) == ["◆ Keep this"]
    await bot.press(dm, ada, reply, "◆ Keep")
    assert "Ferns are watered on Mondays." in (await draft(bot, dm)).text
    bot.tg.react(dm, ada, reply, "👍")
    taught = await bot.ask(dm, ada, "I have a fern", "Nice. [LEARN: Ada has a fern]")
    bot.tg.react(dm, ada, taught, "👎")
    await bot.tg.wait_for(lambda: list(taught.buttons) == ["↩ Undo / Edit…"])
    assert list(reply.buttons) == ["◆ Keep this"]
    await bot.press(dm, ada, taught, "Undo / Edit")
    await bot.press(dm, ada, taught, "Close")
    await bot.tg.wait_for(lambda: list(taught.buttons) == ["↩ Undo / Edit…"])
    shown = await bot.ask(dm, ada, "/settings")
    await bot.press(dm, ada, shown, "No ◆")
    await bot.tg.wait_for(lambda: "answers have no ◆" in shown.text)
    assert not (await bot.ask(dm, ada, "and roses?", "Seldom.")).buttons
    await bot.press(dm, ada, shown, "◆ Keep button")
    await bot.tg.wait_for(lambda: "answers have a ◆" in shown.text)
    await bot.ask(dm, ada, "/private")
    assert not (await bot.ask(dm, ada, "and lilies?", "Often.")).buttons, "nothing off the record can be kept"


async def test_a_proposed_wording_can_be_kept_edited_or_skipped(bot: SharedBot) -> None:
    ada, dm = bot.person()
    bot.model.rule(is_distilling, "Ferns are watered on Mondays.", model="haiku")
    reply = await bot.ask(dm, ada, "how often do ferns want water?", "Every Monday, I would say.")
    proposal = await bot.ask(dm, ada, "/remember", reply_to=reply)
    assert "Should I remember this?" in proposal.text
    assert "Ferns are watered on Mondays." in proposal.text
    assert list(proposal.buttons) == ["✅ Keep", "✎ Edit", "✖ Skip"]
    assert [row[2] for row in memories(bot, ada)] == ["pending"]
    assert await bot.press(dm, ada, proposal, "Keep") == "Done."
    ((content, kind, status, by, source),) = memories(bot, ada)
    assert (content, kind, status, by) == ("Ferns are watered on Mondays.", "learning", "active", ada.id)
    assert source == "Every Monday, I would say."
    bot.model.rules.clear()
    bot.model.rule(is_distilling, "Orchids are watered on Tuesdays.", model="haiku")
    proposal = await bot.ask(dm, ada, "/remember", reply_to=reply)
    await bot.press(dm, ada, proposal, "Edit")
    question = await bot.tg.wait_for(lambda: next((m for m in bot.tg.messages(dm) if m.text.startswith("✎ ")), None))
    await bot.ask(dm, ada, "Orchids: Wednesdays", reply_to=question)
    assert [(row[0], row[2]) for row in memories(bot, ada)][1:] == [("Orchids: Wednesdays", "active")]
    bot.model.rules.clear()
    bot.model.rule(is_distilling, "Cacti are never watered.", model="haiku")
    proposal = await bot.ask(dm, ada, "/remember", reply_to=reply)
    assert await bot.press(dm, ada, proposal, "Skip") == "Discarded."
    assert [(row[0], row[2]) for row in memories(bot, ada)][2:] == [("Cacti are never watered.", "discarded")]
    shared_relay = SharedRelay(bot.tg, bot.model, bot.relay, bot.data)
    spent = shared_relay.sql("select what from relay.spend where user_id = %s and what = 'proposal'", ada.id)
    assert len(spent) == 3


async def test_what_waits_for_a_tap_is_not_called_known(bot: SharedBot) -> None:
    ada, dm = bot.person()
    bot.model.rule(is_distilling, "Ivy is watered on Fridays.", model="haiku")
    reply = await bot.ask(dm, ada, "how often does ivy want water?", "Every Friday.")
    proposal = await bot.ask(dm, ada, "/remember", reply_to=reply)
    waiting = "That's already waiting for your tap: /memory waiting"
    assert (await bot.ask(dm, ada, "/remember", reply_to=reply)).text == waiting
    await bot.press(dm, ada, reply, "◆")
    await bot.tg.wait_for(lambda: [one.text for one in bot.tg.messages(dm)].count(waiting) == 2)
    await bot.press(dm, ada, proposal, "Keep")
    assert (await bot.ask(dm, ada, "/remember", reply_to=reply)).text == "I already know that."


async def test_a_late_tap_does_not_discard_a_kept_memory(bot: SharedBot) -> None:
    ada, dm = bot.person()
    bot.model.rule(is_distilling, "Moss is watered daily.", model="haiku")
    reply = await bot.ask(dm, ada, "how often does moss want water?", "Every day.")
    proposal = await bot.ask(dm, ada, "/remember", reply_to=reply)
    skip = proposal.buttons["✖ Skip"]
    assert await bot.press(dm, ada, proposal, "Keep") == "Done."
    query = bot.tg.press(dm, ada, proposal, skip)
    answer = await bot.tg.wait_for(lambda: bot.tg.answers.get(query))
    assert answer["text"] == "That's already decided."
    assert [row[2] for row in memories(bot, ada)] == ["active"]


async def test_with_memory_off_keeping_is_refused(bot: SharedBot) -> None:
    ada, dm = bot.person()
    bot.model.rule(is_distilling, "Palms are watered weekly.", model="haiku")
    reply = await bot.ask(dm, ada, "how often do palms want water?", "Every week.")
    await bot.ask(dm, ada, "/memory off")
    told = await bot.ask(dm, ada, "/remember", reply_to=reply)
    assert "already" not in told.text
    assert "memory is off or paused" in told.text


async def test_without_a_wording_by_the_model_the_text_itself_is_proposed(bot: SharedBot) -> None:
    ada, dm = bot.person()
    said = await bot.tg.say(dm, ada, "the spare key is with Mrs Lind")
    await bot.tg.wait_reply(dm, said)
    bot.model.rule(is_distilling, "", model="haiku")
    proposal = await bot.ask(dm, ada, "/remember", reply_to=said)
    assert "the spare key is with Mrs Lind" in proposal.text


async def test_the_keep_button_under_an_answer_proposes_a_memory(bot: SharedBot) -> None:
    ada, dm = bot.person()
    bot.model.rule(is_distilling, "The tram to the lake is line 5.", model="haiku")
    reply = await bot.ask(dm, ada, "I moved to the lake", "Take tram 5.\n[LEARN: Lives at the lake]")
    await bot.press(dm, ada, reply, "◆")
    proposal = await draft(bot, dm)
    assert "The tram to the lake is line 5." in proposal.text
    await bot.press(dm, ada, proposal, "Keep")
    assert (memories(bot, ada)[1])[:4] == ("The tram to the lake is line 5.", "learning", "active", ada.id)


async def test_a_reaction_proposes_a_memory_only_if_the_setting_allows_it(bot: SharedBot) -> None:
    ada, dm = bot.person()
    bot.model.rule(is_distilling, "Bread rises for two hours.", model="haiku")
    reply = await bot.ask(dm, ada, "how long does bread rise?", "Two hours.")
    asked, before = bot.asked, small(bot)
    bot.tg.react(dm, ada, reply, "✍")
    settings = await bot.ask(dm, ada, "/settings")
    assert small(bot) == before
    await bot.press(dm, ada, settings, "✍ Saves")
    bot.tg.react(dm, ada, reply, None)
    bot.tg.react(dm, ada, reply, "✍")
    proposal = await draft(bot, dm)
    assert "Bread rises for two hours." in proposal.text
    assert bot.asked == asked
    assert small(bot) == before + 1


async def test_any_group_member_can_keep_a_message_and_undo_it(bot: SharedBot) -> None:
    (ada, _), (ben, ben_dm) = bot.person("Ada"), bot.person("Ben")
    group = bot.group(ada, ben)
    said = await bot.tg.say(group, ada, f"@{bot.tg.bot.username} the code of the door is on the fridge")
    await bot.tg.wait_reply(group, said)
    kept = await bot.ask(group, ben, f"/remember@{bot.tg.bot.username} door code: fridge", reply_to=said)
    assert "◆ Kept: door code: fridge" in kept.text
    assert "I don't know anything yet" in (await bot.ask(ben_dm, ben, "/memory")).text
    await bot.press(group, ben, kept, "Undo / Edit")
    assert await bot.press(group, ben, kept, "Undo:") == "Undone."


async def test_a_memory_shows_its_history_and_can_be_restored(bot: SharedBot) -> None:
    ada, dm = bot.person()
    await bot.ask(dm, ada, "tell 1", "Ok [LEARN: Lives in Berlin]")
    reply = await bot.ask(dm, ada, "tell 2", "Ok [FORGET: Lives in Berlin] [LEARN: Lives in Lisbon]")
    assert "🧠 Updated: Lives in Lisbon (was: Lives in Berlin)" in reply.text
    listed = await bot.ask(dm, ada, "/memory")
    assert "Lives in Lisbon" in listed.text
    assert "Berlin" not in listed.text
    await bot.press(dm, ada, listed, "🗄 Past")
    await bot.tg.wait_for(lambda: "Lives in Berlin" in listed.text)
    assert "(replaced)" in listed.text
    await bot.press(dm, ada, listed, "#")
    await bot.tg.wait_for(lambda: "Replaced by something newer" in listed.text)
    assert "importance: 5 of 10" in listed.text
    await bot.press(dm, ada, listed, "Undo replacing")
    await bot.tg.wait_for(lambda: "Replaced by something newer" not in listed.text)
    await bot.press(dm, ada, listed, "✎ Edit")
    question = await bot.tg.wait_for(lambda: next((m for m in bot.tg.messages(dm) if m.text.startswith("✎ ")), None))
    await bot.ask(dm, ada, "Lives in Potsdam", reply_to=question)
    await bot.press(dm, ada, listed, "🕘 History")
    await bot.tg.wait_for(lambda: "History of #" in listed.text)
    assert "Updated: Lives in Potsdam (was: Lives in Berlin)" in listed.text
    await bot.press(dm, ada, listed, "♻ Restore 1")
    await bot.tg.wait_for(lambda: "Restored: Lives in Berlin (was: Lives in Potsdam)" in listed.text)
    assert "Lives in Berlin" in (await bot.ask(dm, ada, "/memory")).text


async def test_answers_show_the_memories_used_if_the_setting_asks_for_it(bot: SharedBot) -> None:
    ada, dm = bot.person()
    await bot.ask(dm, ada, "tell", "Ok [LEARN: Likes tea]")
    plain = await bot.ask(dm, ada, "what now?")
    assert "in the prompt" not in plain.text
    await bot.press(dm, ada, await bot.ask(dm, ada, "/settings"), "Show memories")
    told = await bot.ask(dm, ada, "and now?")
    assert "🧠 memory: 1 in the prompt" in told.text
    assert "facts 1" in told.text
    assert any(one["type"] == "expandable_blockquote" for one in told.entities)
