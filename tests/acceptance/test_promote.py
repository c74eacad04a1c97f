"""People keep messages: /remember in reply, the ◆ under an answer, a ✍ where they allow it."""

from __future__ import annotations

from typing import Any

from tests.acceptance.house import House
from tests.acceptance.town import SESSION, Town
from tests.standins.anthropic import Recorded
from tests.standins.telegram import Chat, StoredMessage, User

pytestmark = SESSION


def memories(town: Town, person: User) -> list[tuple[Any, ...]]:
    """Who promoted what from which message, as it is kept."""
    house = House(town.tg, town.model, town.relay, town.data)
    return house.sql(
        "select m.content, m.kind, m.status, m.promoted_by, s.text from relay.memory m"
        " left join relay.message s on s.id = m.source_message_id"
        " join relay.space p on p.id = m.space_id where p.owner_id = %s order by m.id",
        person.id,
    )


def small(town: Town) -> int:
    """How often the small model was asked to distil something."""
    return sum(is_distilling(one) for one in town.model.requests)


def is_distilling(request: Recorded) -> bool:
    return "wants to be remembered" in request.system_text


async def draft(town: Town, chat: Chat) -> StoredMessage:
    """What the bot proposes to keep."""
    found: StoredMessage = await town.tg.wait_for(
        lambda: next((m for m in reversed(town.tg.messages(chat)) if "Shall I remember this?" in m.text), None)
    )
    return found


async def test_a_message_is_kept_in_ones_own_words(town: Town) -> None:
    ada, dm = town.person()
    said = await town.tg.say(dm, ada, "the ferns want water every Monday")
    await town.tg.wait_reply(dm, said)
    asked = town.asked
    kept = await town.ask(dm, ada, "/remember Ferns: water on Mondays", reply_to=said)
    assert kept.text == "◆ Kept: Ferns: water on Mondays"
    assert memories(town, ada) == [
        ("Ferns: water on Mondays", "learning", "active", ada.id, "the ferns want water every Monday")
    ]
    assert town.asked == asked
    assert "◆ Ferns" in (await town.ask(dm, ada, "/memory")).text


async def test_every_answer_has_a_button_that_a_dislike_and_the_settings_take_away(town: Town) -> None:
    ada, dm = town.person()
    town.model.rule(is_distilling, "Ferns are watered on Mondays.", model="haiku")
    reply = await town.ask(dm, ada, "when do ferns want water?", "Every Monday.")
    assert list(reply.buttons) == ["◆ Keep this"]
    await town.press(dm, ada, reply, "◆ Keep")
    assert "Ferns are watered on Mondays." in (await draft(town, dm)).text
    town.tg.react(dm, ada, reply, "👍")
    taught = await town.ask(dm, ada, "I have a fern", "Nice. [LEARN: Ada has a fern]")
    town.tg.react(dm, ada, taught, "👎")
    await town.tg.wait_for(lambda: list(taught.buttons) == ["↩ Undo / Edit…"])
    assert list(reply.buttons) == ["◆ Keep this"]
    await town.press(dm, ada, taught, "Undo / Edit")
    await town.press(dm, ada, taught, "Close")
    await town.tg.wait_for(lambda: list(taught.buttons) == ["↩ Undo / Edit…"])
    shown = await town.ask(dm, ada, "/settings")
    await town.press(dm, ada, shown, "No ◆")
    await town.tg.wait_for(lambda: "answers have no ◆" in shown.text)
    assert not (await town.ask(dm, ada, "and roses?", "Seldom.")).buttons
    await town.press(dm, ada, shown, "◆ Keep button")
    await town.tg.wait_for(lambda: "answers have a ◆" in shown.text)
    await town.ask(dm, ada, "/private")
    assert not (await town.ask(dm, ada, "and lilies?", "Often.")).buttons, "nothing is kept of what is off the record"


async def test_without_words_some_are_proposed_and_can_be_kept_reworded_or_skipped(town: Town) -> None:
    ada, dm = town.person()
    town.model.rule(is_distilling, "Ferns are watered on Mondays.", model="haiku")
    reply = await town.ask(dm, ada, "how often do ferns want water?", "Every Monday, I would say.")
    proposal = await town.ask(dm, ada, "/remember", reply_to=reply)
    assert "Shall I remember this?" in proposal.text
    assert "Ferns are watered on Mondays." in proposal.text
    assert list(proposal.buttons) == ["✅ Keep", "✎ Edit", "✖ Skip"]
    assert [row[2] for row in memories(town, ada)] == ["pending"]
    assert await town.press(dm, ada, proposal, "Keep") == "Done."
    ((content, kind, status, by, source),) = memories(town, ada)
    assert (content, kind, status, by) == ("Ferns are watered on Mondays.", "learning", "active", ada.id)
    assert source == "Every Monday, I would say."
    town.model.rules.clear()
    town.model.rule(is_distilling, "Orchids are watered on Tuesdays.", model="haiku")
    proposal = await town.ask(dm, ada, "/remember", reply_to=reply)
    await town.press(dm, ada, proposal, "Edit")
    question = await town.tg.wait_for(lambda: next((m for m in town.tg.messages(dm) if m.text.startswith("✎ ")), None))
    await town.ask(dm, ada, "Orchids: Wednesdays", reply_to=question)
    assert [(row[0], row[2]) for row in memories(town, ada)][1:] == [("Orchids: Wednesdays", "active")]
    town.model.rules.clear()
    town.model.rule(is_distilling, "Cacti are never watered.", model="haiku")
    proposal = await town.ask(dm, ada, "/remember", reply_to=reply)
    assert await town.press(dm, ada, proposal, "Skip") == "Discarded."
    assert [(row[0], row[2]) for row in memories(town, ada)][2:] == [("Cacti are never watered.", "discarded")]
    house = House(town.tg, town.model, town.relay, town.data)
    spent = house.sql("select what from relay.spend where user_id = %s and what = 'proposal'", ada.id)
    assert len(spent) == 3


async def test_what_was_kept_is_not_discarded_by_a_late_tap(town: Town) -> None:
    ada, dm = town.person()
    town.model.rule(is_distilling, "Moss is watered daily.", model="haiku")
    reply = await town.ask(dm, ada, "how often does moss want water?", "Every day.")
    proposal = await town.ask(dm, ada, "/remember", reply_to=reply)
    skip = proposal.buttons["✖ Skip"]
    assert await town.press(dm, ada, proposal, "Keep") == "Done."
    query = town.tg.press(dm, ada, proposal, skip)
    answer = await town.tg.wait_for(lambda: town.tg.answers.get(query))
    assert answer["text"] == "That's already decided."
    assert [row[2] for row in memories(town, ada)] == ["active"]


async def test_while_memory_rests_nothing_is_said_to_be_known(town: Town) -> None:
    ada, dm = town.person()
    town.model.rule(is_distilling, "Palms are watered weekly.", model="haiku")
    reply = await town.ask(dm, ada, "how often do palms want water?", "Every week.")
    await town.ask(dm, ada, "/memory off")
    told = await town.ask(dm, ada, "/remember", reply_to=reply)
    assert "already" not in told.text
    assert "memory is off or paused" in told.text


async def test_where_no_model_can_be_had_the_text_itself_is_proposed(town: Town) -> None:
    ada, dm = town.person()
    said = await town.tg.say(dm, ada, "the spare key is with Mrs Lind")
    await town.tg.wait_reply(dm, said)
    town.model.rule(is_distilling, "", model="haiku")
    proposal = await town.ask(dm, ada, "/remember", reply_to=said)
    assert "the spare key is with Mrs Lind" in proposal.text


async def test_the_diamond_under_an_answer_proposes_to_keep_it(town: Town) -> None:
    ada, dm = town.person()
    town.model.rule(is_distilling, "The tram to the lake is line 5.", model="haiku")
    reply = await town.ask(dm, ada, "I moved to the lake", "Take tram 5.\n[LEARN: Lives at the lake]")
    await town.press(dm, ada, reply, "◆")
    proposal = await draft(town, dm)
    assert "The tram to the lake is line 5." in proposal.text
    await town.press(dm, ada, proposal, "Keep")
    assert (memories(town, ada)[1])[:4] == ("The tram to the lake is line 5.", "learning", "active", ada.id)


async def test_a_reaction_keeps_only_where_one_allows_it(town: Town) -> None:
    ada, dm = town.person()
    town.model.rule(is_distilling, "Bread rises for two hours.", model="haiku")
    reply = await town.ask(dm, ada, "how long does bread rise?", "Two hours.")
    asked, before = town.asked, small(town)
    town.tg.react(dm, ada, reply, "✍")
    settings = await town.ask(dm, ada, "/settings")
    assert small(town) == before
    await town.press(dm, ada, settings, "✍ Saves")
    town.tg.react(dm, ada, reply, None)
    town.tg.react(dm, ada, reply, "✍")
    proposal = await draft(town, dm)
    assert "Bread rises for two hours." in proposal.text
    assert town.asked == asked
    assert small(town) == before + 1


async def test_in_a_group_anybody_keeps_and_who_kept_decides(town: Town) -> None:
    (ada, _), (ben, ben_dm) = town.person("Ada"), town.person("Ben")
    group = town.group(ada, ben)
    said = await town.tg.say(group, ada, f"@{town.tg.bot.username} the code of the door is on the fridge")
    await town.tg.wait_reply(group, said)
    kept = await town.ask(group, ben, f"/remember@{town.tg.bot.username} door code: fridge", reply_to=said)
    assert "◆ Kept: door code: fridge" in kept.text
    assert "I don't know anything yet" in (await town.ask(ben_dm, ben, "/memory")).text
    await town.press(group, ben, kept, "Undo / Edit")
    assert await town.press(group, ben, kept, "Undo:") == "Undone."


async def test_a_memory_tells_its_life_and_says_older_words_again(town: Town) -> None:
    ada, dm = town.person()
    await town.ask(dm, ada, "tell 1", "Ok [LEARN: Lives in Berlin]")
    reply = await town.ask(dm, ada, "tell 2", "Ok [FORGET: Lives in Berlin] [LEARN: Lives in Lisbon]")
    assert "🧠 Updated: Lives in Lisbon (was: Lives in Berlin)" in reply.text
    listed = await town.ask(dm, ada, "/memory")
    assert "Lives in Lisbon" in listed.text
    assert "Berlin" not in listed.text
    await town.press(dm, ada, listed, "🗄 Past")
    await town.tg.wait_for(lambda: "Lives in Berlin" in listed.text)
    assert "(replaced)" in listed.text
    await town.press(dm, ada, listed, "#")
    await town.tg.wait_for(lambda: "Replaced by something newer" in listed.text)
    assert "importance: 5 of 10" in listed.text
    await town.press(dm, ada, listed, "Undo replacing")
    await town.tg.wait_for(lambda: "Replaced by something newer" not in listed.text)
    await town.press(dm, ada, listed, "✎ Edit")
    question = await town.tg.wait_for(lambda: next((m for m in town.tg.messages(dm) if m.text.startswith("✎ ")), None))
    await town.ask(dm, ada, "Lives in Potsdam", reply_to=question)
    await town.press(dm, ada, listed, "🕘 History")
    await town.tg.wait_for(lambda: "History of #" in listed.text)
    assert "Updated: Lives in Potsdam (was: Lives in Berlin)" in listed.text
    await town.press(dm, ada, listed, "♻ Restore 1")
    await town.tg.wait_for(lambda: "Restored: Lives in Berlin (was: Lives in Potsdam)" in listed.text)
    assert "Lives in Berlin" in (await town.ask(dm, ada, "/memory")).text


async def test_answers_say_what_of_memory_went_into_them_where_one_wants_that(town: Town) -> None:
    ada, dm = town.person()
    await town.ask(dm, ada, "tell", "Ok [LEARN: Likes tea]")
    plain = await town.ask(dm, ada, "what now?")
    assert "in the prompt" not in plain.text
    await town.press(dm, ada, await town.ask(dm, ada, "/settings"), "Show memories")
    told = await town.ask(dm, ada, "and now?")
    assert "🧠 memory: 1 in the prompt" in told.text
    assert "facts 1" in told.text
    assert any(one["type"] == "expandable_blockquote" for one in told.entities)
