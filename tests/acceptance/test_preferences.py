"""Preferences about answers: people state them, answers follow them, and people see and undo what was learned."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.acceptance.conftest import World
from tests.acceptance.shared_relay import SharedRelay
from tests.standins.anthropic import web_search
from tests.standins.telegram import StoredMessage, Upload

pytestmark = pytest.mark.asyncio(loop_scope="function")


async def asked(world: World, text: str) -> StoredMessage:
    said = await world.tg.say(world.dm, world.owner, text)
    return await world.tg.wait_reply(world.dm, said)


async def press(world: World, message: StoredMessage, label: str) -> str:
    return await world.tg.tap(world.dm, world.owner, message, label)


def last_prompt(world: World) -> str:
    return json.dumps(world.model.requests[-1].body, ensure_ascii=False)


async def test_a_stated_preference_applies_at_once_and_can_be_forgotten(world: World) -> None:
    await asked(world, "Hello")
    assert "HOW THE USER LIKES ANSWERS" not in last_prompt(world)
    noted = await asked(world, "/preferences prefer short answers")
    assert noted.text == "🎚 From now on: short answers."
    answer = await asked(world, "How are you?")
    assert "Prefer (high): short answers" in last_prompt(world)
    assert "How they like answers: prefer short answers." in last_prompt(world)
    assert "🎚" not in answer.text, "the preference was announced before"
    listed = await asked(world, "/preferences")
    assert "short answers · high" in listed.text
    await press(world, listed, "1")
    await world.tg.wait_for(lambda: "you told me" in listed.text)
    await press(world, listed, "Forget")
    await world.tg.wait_for(lambda: "Forgot: short answers" in listed.text)
    await asked(world, "And now?")
    assert "short answers" not in last_prompt(world)
    await press(world, listed, "Undo")
    await world.tg.wait_for(lambda: "short answers · high" in listed.text)


async def test_what_is_said_in_other_words_replaces_its_opposite(world: World) -> None:
    for words, listed, gone in [
        ("avoid emojis", "emoji", "emojis"),
        ("prefer emoji", "emoji", "no emoji"),
        ("prefer jokes", "humour", "jokes"),
        ("avoid jokes", "no humour", "jokes"),
        ("prefer long poems", "long poems", "poem."),
        ("avoid long poem", "no long poems", "poem."),
    ]:
        told = (await asked(world, f"/preferences {words}")).text
        assert listed in told, words
        assert gone not in told, words
    await asked(world, "Hello")
    assert "Prefer (high): emoji\\nAvoid (high): long poems · humour" in last_prompt(world)


async def tagged(world: World, answer: StoredMessage, tags: str) -> StoredMessage:
    """Tags an answer. Tries again, since an answer may arrive a moment before the bot stores its number."""
    for _ in range(20):
        said = await world.tg.say(world.dm, world.owner, f"/tag {tags}", reply_to=answer)
        noted = await world.tg.wait_reply(world.dm, said)
        if "isn't one of my answers" not in noted.text:
            break
    return noted


async def test_preferences_from_three_tags_are_announced_when_they_apply(world: World) -> None:
    for number in range(3):
        noted = await tagged(world, await asked(world, f"Question {number}"), "too long, no jokes")
    assert noted.text == "🎚 From now on: short answers (from 3 signs), no humour (from 3 signs)."
    noted = await tagged(world, await asked(world, "Another question"), "too long")
    assert noted.text == "🏷 Noted: prefer short answers. I follow that already."
    assert (await asked(world, "/preferences forget length short answers")).text == "🎚 Forgot: short answers."


async def test_erasing_an_answer_lists_the_preferences_learned_from_it(world: World) -> None:
    await tagged(world, await asked(world, "My parrot is Quinceberry"), "too long, no jokes")
    shown = await asked(world, "/forget --erase Quinceberry")
    told = "2 preferences, 1 sign of how answers are liked"
    assert told in shown.text
    assert "Preferences: humour, short answers" in shown.text
    await press(world, shown, "Erase for good")
    await world.tg.wait_for(lambda: shown.text.startswith("🔥 Erased for good") and told in shown.text, timeout=30)
    assert "I don't know yet how you like answers" in (await asked(world, "/preferences")).text


async def test_an_answer_can_be_tagged_with_buttons(world: World) -> None:
    await asked(world, "/settings tags on")
    answer = await asked(world, "Hello")
    await press(world, answer, "🏷")
    assert await press(world, answer, "too long") == "Noted."
    await world.tg.wait_for(lambda: "✓ ✂ too long" in answer.buttons)
    assert await press(world, answer, "too short") == "Noted."
    await world.tg.wait_for(lambda: "✓ 📏 too short" in answer.buttons and "✂ too long" in answer.buttons)
    await press(world, answer, "Close")
    await world.tg.wait_for(lambda: "🏷" in answer.buttons and "📏 too short" not in answer.buttons)
    assert "avoid short answers · 1 sign" in (await asked(world, "/preferences")).text


async def test_a_persons_better_version_is_accepted(world: World) -> None:
    await asked(world, "Hello")
    assert "your version" in (await asked(world, "/better")).text
    assert (await asked(world, "/better Hi there.")).text == "Thanks. I'll look at what you changed."


async def test_invalid_preference_commands_are_explained_and_change_nothing(world: World) -> None:
    await asked(world, "Hello")
    for words, sentence in [
        ("/preferences prefer 1234", "Name what you like"),
        (f"/preferences avoid {'x' * 500}", "Name what you like"),
        (f"/tag {'x' * 10_000}"[:4000], "Name what you like"),
        ("/tag a b c, d e f, g h i, j k l", "more than 3"),
        ("/preferences dance", "I don't know that"),
        ("/preferences show 99", "no such preference"),
        ("/preferences forget unheard of", "no such preference"),
        ("/preferences pause forever", "Write /preferences pause 2h"),
        ("/preferences here maybe", "/preferences here ignore"),
    ]:
        assert sentence in (await asked(world, words)).text, words
    assert "I don't know yet how you like answers" in (await asked(world, "/preferences")).text


async def test_a_new_answer_follows_the_suggestions_of_a_critique(world: World) -> None:
    await asked(world, "/preferences prefer short answers")
    world.model.rule("my report", "A very long report about everything.")
    answer = await asked(world, "Write my report")
    world.model.rule("very long report", "- It's too long for what you prefer.\nShorten it.", model="haiku")
    said = await world.tg.say(world.dm, world.owner, "/critique", reply_to=answer)
    review = await world.tg.wait_reply(world.dm, said)
    assert "too long for what you prefer" in review.text
    asked_for = next(r for r in reversed(world.model.requests) if "You review a text" in json.dumps(r.body["system"]))
    assert "CHECK AGAINST\\nPrefer (high): short answers" in json.dumps(asked_for.body["messages"])
    for rest, back in [("off", "on"), ("here ignore", "here use")]:
        await asked(world, f"/preferences {rest}")
        await asked(world, "/critique")
        assert "CHECK AGAINST" not in json.dumps(world.model.requests[-1].body["messages"]), rest
        await asked(world, f"/preferences {back}")
    world.model.rule("my report", "Short report.")
    await press(world, review, "Answer again")
    await world.tg.wait_for(lambda: answer.text.startswith("Short report."))
    assert "too long for what you prefer" in last_prompt(world)
    await asked(world, "Thanks")
    assert "too long for what you prefer" not in last_prompt(world), "the critique is not in the history"
    await asked(world, "/private on")
    await asked(world, "/critique Dear Sir, I quit.")
    assert "CHECK AGAINST" not in json.dumps(world.model.requests[-1].body["messages"]), "off the record"


async def test_a_critique_judges_the_text_that_it_is_given(world: World) -> None:
    world.model.rule("my speech", "A fine answer.")
    said = await world.tg.say(world.dm, world.owner, "Write about my speech: dear friends, hello.")
    answer = await world.tg.wait_reply(world.dm, said)

    async def judged(text: str, about: StoredMessage | None = None) -> str:
        command = await world.tg.say(world.dm, world.owner, text, reply_to=about)
        await world.tg.wait_reply(world.dm, command)
        asked_for = next(r for r in reversed(world.model.requests) if "You review a text" in str(r.body["system"]))
        return str(asked_for.body["messages"][-1]["content"][-1]["text"])

    of_answer = await judged("/critique", answer)
    assert "Write about my speech" in of_answer.split('kind="text"')[0], "the question comes first"
    assert "A fine answer." in of_answer.split('kind="text"')[1]
    own = await judged("/critique", said)
    assert "dear friends, hello." in own
    assert "A fine answer." not in own
    typed = await judged("/critique Dear Sir, I quit.")
    assert "Dear Sir, I quit." in typed
    assert "A fine answer." not in typed
    letter = Upload(b"Dear landlord, the heating is broken.", "letter.txt", "text/plain")
    sent = await world.tg.say(world.dm, world.owner, "My letter", document=letter)
    await world.tg.wait_reply(world.dm, sent)
    of_document = await judged("/critique", sent)
    assert "My letter" in of_document
    assert "the heating is broken" in of_document


async def test_a_critique_without_an_answer_is_refused(world: World) -> None:
    assert "haven't answered anything" in (await asked(world, "/critique")).text


def two_of(world: World) -> tuple[StoredMessage, StoredMessage] | None:
    """Returns the two newest answers, headed A and B."""
    shown = [message for message in world.tg.messages(world.dm) if message.from_bot]
    one = next((message for message in reversed(shown) if message.text.startswith("A\n")), None)
    other = next((message for message in reversed(shown) if message.text.startswith("B\n") and message.buttons), None)
    return (one, other) if one and other else None


@pytest.mark.parametrize("command", ["/two", "/retry"])
async def test_the_message_that_a_command_replies_to_is_answered_again(world: World, command: str) -> None:
    world.model.rule("my cat", "A first answer.")
    first = await asked(world, "Tell me about my cat")
    await asked(world, "Tell me about my dog")
    world.model.rule("my cat", "Another answer about the cat.")
    for target in (first, first.message_id - 1):
        said = await world.tg.say(world.dm, world.owner, command, reply_to=target)
        again = await world.tg.wait_reply(world.dm, said)
        assert "Another answer about the cat." in again.text


@pytest.mark.parametrize("chosen", ["short", "long"])
async def test_the_chosen_one_of_two_answers_is_kept(world: World, chosen: str) -> None:
    world.model.rule("my cat", "Fine. [LEARN: Has a cat]")
    await asked(world, "Tell me about my cat")
    world.model.script([
        "The short one. [LEARN: Likes short cats]", "The long one, with more words. [LEARN: Likes long cats]",
    ])  # fmt: skip
    await world.tg.say(world.dm, world.owner, "/two")
    one, other = await world.tg.wait_for(lambda: two_of(world))
    assert {"short" in one.text, "short" in other.text} == {True, False}
    letter = "A" if chosen in one.text else "B"
    assert await press(world, other, letter) == f"{letter} it is."
    await world.tg.wait_for(lambda: f"✓ {letter}" in other.buttons)
    assert await press(world, other, "shorter") == "Noted."
    await asked(world, "Thanks")
    prompt = last_prompt(world)
    assert f"The {chosen} one" in prompt
    assert f"The {'long' if chosen == 'short' else 'short'} one" not in prompt
    assert f"Likes {chosen} cats" in prompt, "the memory of the chosen answer is kept"
    assert f"Likes {'long' if chosen == 'short' else 'short'} cats" not in prompt


async def test_a_reaction_to_the_answer_that_was_not_chosen_teaches_nothing(world: World) -> None:
    await asked(world, "Tell me about my cat")
    world.model.script(["The first one.", "The second one."])
    await world.tg.say(world.dm, world.owner, "/two")
    one, other = await world.tg.wait_for(lambda: two_of(world))
    first, second = (one, other) if "first" in one.text else (other, one)
    shared = SharedRelay(world.tg, world.model, world.relay, Path(world.relay.environment["RELAY_DATA_DIR"]))
    world.tg.react(world.dm, world.owner, second, "👎")
    world.tg.react(world.dm, world.owner, first, "👍")
    await shared.until("select count(*) = 2 from relay.signal")
    assert shared.sql("select count(distinct message_id) from relay.signal where removed_at is null") == [(2,)]
    assert shared.sql("select value from relay.feedback where kind = 'thumbs'") == [({"up": True},)]


async def test_the_second_of_two_answers_is_careful_with_a_web_page(world: World) -> None:
    await asked(world, "Tell me about my cat")
    read = [
        *web_search("cats", [("Cats", "https://evil.example/")]),
        "See https://evil.example/x [LEARN: Likes the page]",
    ]
    world.model.script(["The first. [LEARN: Likes the first]", read])
    await world.tg.say(world.dm, world.owner, "/two")
    one, other = await world.tg.wait_for(lambda: two_of(world))

    def newest() -> StoredMessage:
        return [message for message in world.tg.messages(world.dm) if message.from_bot][-1]

    await press(world, other, "A" if "evil" in one.text else "B")
    await world.tg.wait_for(lambda: newest().text == "🧠 To remember: Likes the page. Waiting for your tap")
    assert "🧠 Keep or discard…" in newest().buttons
    assert "Likes the page" not in (await asked(world, "/memory")).text, "it waits for a tap"
    await press(world, other, "B" if "evil" in one.text else "A")
    await world.tg.wait_for(lambda: "Learned: Likes the first" in newest().text)
    assert "Discarded: Likes the page" in newest().text
    await press(world, newest(), "Undo")
    await press(world, newest(), "Undo")
    assert "Likes the first" not in (await asked(world, "/memory")).text


async def test_a_retried_answer_asks_which_answer_was_better(world: World) -> None:
    world.model.rule("my dog", "A first answer.")
    first = await asked(world, "Tell me about my dog")
    again = await asked(world, "/retry")
    assert "First" not in again.buttons, "the bot compares only after the setting is turned on"
    assert "I ask which answer is better" in (await asked(world, "/settings compare on")).text
    world.model.rule("my dog", "Another answer.")
    again = await asked(world, "/retry")
    assert again.text.endswith("⚖ Which was better?")
    assert await press(world, again, "This one") == "Noted."
    await world.tg.wait_for(lambda: "✓ This one" in again.buttons)
    assert await press(world, again, "shorter") == "Noted."
    await world.tg.wait_for(lambda: "✓ shorter" in again.buttons and "✓ This one" in again.buttons)
    await press(world, again, "First")
    await world.tg.wait_for(lambda: again.text == "A first answer.\n\n↩ Brought back" and "shorter" in again.buttons)
    assert first.text == "A first answer."
    assert await press(world, again, "clearer") == "Noted."
    await asked(world, "Thanks")
    assert "Another answer" not in last_prompt(world)
    await asked(world, "/settings compare off")


async def test_a_retried_answer_offers_two_new_answers_to_choose_from(world: World) -> None:
    world.model.rule("my parrot", "A first answer.")
    await asked(world, "/settings compare on")
    await asked(world, "Tell me about my parrot")
    again = await asked(world, "/retry")
    world.model.script(["The third one.", "The fourth one."])
    await press(world, again, "⚖ Two to choose from")
    one, other = await world.tg.wait_for(lambda: two_of(world))
    assert {text.split("\n")[2] for text in (one.text, other.text)} == {"The third one.", "The fourth one."}
    assert "⚖ Two to choose from" not in again.buttons
    await press(world, other, "A")
    await asked(world, "/settings compare off")
    await asked(world, "Thanks")
    assert one.text.split("\n")[2] in last_prompt(world)
    assert other.text.split("\n")[2] not in last_prompt(world)


async def test_two_answers_without_a_question_are_refused(world: World) -> None:
    assert "nothing to answer again" in (await asked(world, "/two")).text
