"""Preferences about answers: people state them, answers follow them, and people see and undo what was learned."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.acceptance.shared_bot import SESSION, World
from tests.acceptance.test_terminal import relay
from tests.standins.telegram import StoredMessage, Upload

pytestmark = SESSION


@pytest.fixture
def world(shared_world: World) -> World:
    return shared_world


async def asked(world: World, text: str) -> StoredMessage:
    said = await world.tg.say(world.dm, world.owner, text)
    return await world.tg.wait_reply(world.dm, said)


async def press(world: World, message: StoredMessage, label: str) -> str:
    return await world.tg.tap(world.dm, world.owner, message, label)


def last_prompt(world: World) -> str:
    return json.dumps([one.body for one in world.model.requests if "sonnet" in one.model][-1], ensure_ascii=False)


def reviews(world: World) -> list[str]:
    """Returns the messages of each request for a critique."""
    return [json.dumps(one.messages) for one in world.model.requests if "You review a text" in one.system_text]


async def reviewed(world: World, text: str = "/critique") -> str:
    """Asks for a critique, and returns the messages of the request for it."""
    before = len(reviews(world))
    await asked(world, text)
    [review] = reviews(world)[before:]
    return review


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
    assert "Prefer (high): emoji\\nAvoid (high): humour · long poems" in last_prompt(world)
    for words, gone in [("emojis", "emoji"), ("no jokes", "humour"), ("long poem", "long poems")]:
        assert (await asked(world, f"/preferences forget {words}")).text == f"🎚 Forgot: {gone}."


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
    assert "✖ Forget: short answers" in noted.buttons
    await press(world, noted, "✖ Forget: no humour")
    await world.tg.wait_for(lambda: noted.text == "🎚 Forgot: humour." and "↩ Undo" in noted.buttons)
    noted = await tagged(world, await asked(world, "Another question"), "too long")
    assert noted.text == "🏷 Noted: prefer short answers. I follow that already."
    assert (await asked(world, "/preferences forget length short answers")).text == "🎚 Forgot: short answers."


async def test_undo_takes_back_one_statement_and_what_was_said_before_counts_again(world: World) -> None:
    await asked(world, "/preferences prefer short answers")
    mistaken = await asked(world, "/preferences avoid short answers")
    assert mistaken.text == "🎚 From now on: no short answers."
    assert list(mistaken.buttons) == ["✖ Forget: no short answers", "↩ Undo"]
    await press(world, mistaken, "↩ Undo")
    await world.tg.wait_for(lambda: mistaken.text == "↩ Taken back: avoid short answers." and not mistaken.buttons)
    answer = await asked(world, "How are you?")
    assert "Prefer (high): short answers" in last_prompt(world)
    assert "🎚" not in answer.text, "they know already"
    noted = await tagged(world, answer, "no jokes")
    assert list(noted.buttons) == ["↩ Undo"]
    await press(world, noted, "↩ Undo")
    await world.tg.wait_for(lambda: noted.text == "↩ Taken back: avoid humour.")
    assert "humour" not in (await asked(world, "/preferences")).text


async def test_a_complaint_is_not_taken_for_its_opposite(world: World) -> None:
    answer = await asked(world, "Hello")
    assert (await tagged(world, answer, "boring")).text == "👎 Noted. What should I change? /tag too long"
    assert (await tagged(world, answer, "perfect, thanks!")).text == "👍 Noted: it was good."
    noted = await tagged(world, answer, "not enough detail, rude")
    assert noted.text == "🏷 Noted: prefer step by step. I'll follow it once you've said so a few times."
    assert (await asked(world, "/preferences prefer less slang")).text == "🎚 From now on: less slang."
    assert (await asked(world, "/preferences prefer less text")).text == "🎚 From now on: short answers."


async def test_who_no_longer_prefers_less_of_something_prefers_more_of_it(world: World) -> None:
    assert (await asked(world, "/preferences prefer less slang")).text == "🎚 From now on: less slang."
    assert (await asked(world, "/preferences prefer more slang")).text == "🎚 From now on: more slang."
    listed = await asked(world, "/preferences")
    assert "more slang" in listed.text
    assert "avoid" not in listed.text
    assert (await asked(world, "/preferences forget more slang")).text == "🎚 Forgot: more slang."


async def test_a_tag_that_contradicts_what_was_said_says_so(world: World) -> None:
    await asked(world, "/preferences prefer examples")
    noted = await tagged(world, await asked(world, "Hello"), "fewer examples")
    turn = "To turn it around at once: /preferences avoid examples"
    assert noted.text == f"🏷 Noted: avoid examples. You've said the opposite before. {turn}"
    assert (await asked(world, "/preferences avoid examples")).text == "🎚 From now on: no examples."


async def test_a_statement_names_the_memory_in_the_same_words(world: World) -> None:
    world.model.rule(lambda request: "answer shortly" in request.last_text, "Ok. [LEARN: Ada prefers short answers]")
    await asked(world, "please answer shortly")
    said = (await asked(world, "/preferences avoid short answers")).text
    assert said.startswith("🎚 From now on: no short answers.\n🧠 I also remember: “Ada prefers short answers”.")
    assert "weaker after 90 days" in (await asked(world, "/preferences 1")).text


async def test_erasing_an_answer_lists_the_preferences_learned_from_it(world: World) -> None:
    await tagged(world, await asked(world, "My parrot is Quinceberry"), "too long, no jokes")
    shown = await asked(world, "/forget --erase Quinceberry")
    told = "2 preferences, 1 piece of feedback"
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
        (f"/tag {'x' * 10_000}"[:4000], "no other characters: /tag too long, no jokes"),
        ("/tag <b>", "no other characters: /tag too long, no jokes"),
        ("/tag a b c, d e f, g h i, j k l", "more than 3"),
        ("/preferences dance", "I don't understand that"),
        ("/preferences show 99", "no such preference"),
        ("/preferences forget unheard of", "no such preference"),
        ("/preferences pause forever", "Write /preferences pause 2h"),
        ("/preferences here maybe", "/preferences here ignore"),
    ]:
        assert sentence in (await asked(world, words)).text, words
    assert "I don't know yet how you like answers" in (await asked(world, "/preferences")).text


async def test_a_preference_of_one_chat_can_be_told_from_the_general_one(world: World) -> None:
    await asked(world, "/preferences prefer cat poems")
    await asked(world, "/preferences here own")
    await asked(world, "/preferences avoid cat poems")
    both = await asked(world, "/preferences forget cat poems")
    assert set(both.buttons) == {"🗑 cat poems", "🗑 cat poems (in this chat)"}
    await press(world, both, "🗑 cat poems (in this chat)")
    await world.tg.wait_for(lambda: both.text == "🎚 Forgot: cat poems.")
    await asked(world, "Hello")
    assert "Prefer (high): cat poems" in last_prompt(world)


async def test_a_reset_in_a_group_forgets_what_was_said_there(world: World) -> None:
    group, mention = world.tg.group(-1_002_000_000_077, "Poets", [world.owner, world.friend]), world.tg.bot.username

    async def answered_in_private(command: str) -> StoredMessage:
        before = len(world.tg.messages(world.dm))
        await world.tg.say(group, world.owner, f"/preferences@{mention} {command}")
        return (await world.tg.wait_for(lambda: world.tg.messages(world.dm)[before:]))[0]

    await asked(world, "/preferences prefer cat poems")
    await answered_in_private("prefer dog poems")
    asking = await answered_in_private("reset")
    assert "in that group, 1 preference?" in asking.text
    wrong = await world.tg.say(world.dm, world.owner, "9" * 18, reply_to=asking)
    assert "Nothing was forgotten" in (await world.tg.wait_reply(world.dm, wrong)).text
    said = await world.tg.say(world.dm, world.owner, "1", reply_to=asking)
    assert (await world.tg.wait_reply(world.dm, said)).text == "🎚 Forgot all 1 preference."
    assert "cat poems" in (await asked(world, "/preferences")).text
    listed = await answered_in_private("")
    assert listed.text.startswith("How you like answers in that group\nI don't know yet")


async def test_a_new_answer_follows_the_suggestions_of_a_critique(world: World) -> None:
    await asked(world, "/preferences prefer short answers")
    world.model.rule("my report", "A very long report about everything.")
    answer = await asked(world, "Write my report")
    world.model.rule("very long report", "- It's too long for what you prefer.\nShorten it.", model="haiku")
    said = await world.tg.say(world.dm, world.owner, "/critique", reply_to=answer)
    review = await world.tg.wait_reply(world.dm, said)
    assert "too long for what you prefer" in review.text
    assert "CHECK AGAINST\\nPrefer (high): short answers" in reviews(world)[-1]
    for rest, back in [("off", "on"), ("here ignore", "here use")]:
        await asked(world, f"/preferences {rest}")
        assert "CHECK AGAINST" not in await reviewed(world), rest
        await asked(world, f"/preferences {back}")
    world.model.rule("my report", "Short report.")
    await press(world, review, "Answer again")
    await world.tg.wait_for(lambda: answer.text.startswith("Short report."))
    assert "too long for what you prefer" in last_prompt(world)
    await asked(world, "Thanks")
    assert "too long for what you prefer" not in last_prompt(world), "the critique is not in the history"
    await asked(world, "/private on")
    assert "CHECK AGAINST" not in await reviewed(world, "/critique Dear Sir, I quit."), "off the record"


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


async def test_preferences_are_forgotten_and_reset_in_the_shell(world: World, tmp_path: Path) -> None:
    async def shell(*words: str) -> tuple[int, str]:
        code, shown = await relay(world.shell_settings, tmp_path, "preferences", *words)
        return code, shown.strip()

    for words in ("cat poems", "dog poems", "emojis"):
        await asked(world, f"/preferences prefer {words}")
    code, shown = await shell("forget", "poems")
    assert code != 0
    assert "2 preferences match: cat poems, dog poems." in shown
    assert await shell("forget", "poems", "--yes") == (0, "Forgot: cat poems, dog poems.")
    code, shown = await shell("reset", "--yes", "3")
    assert code != 0
    assert "relay preferences reset --yes 1" in shown
    assert await shell("reset", "--yes", "1") == (0, "Forgot all 1 preference.")
    code, shown = await shell("signal", "--kind", "thumbs", "--turn", "9" * 20)
    assert code != 0
    assert "Invalid value for '--turn'" in shown
    assert "I don't know yet how you like answers" in (await asked(world, "/preferences")).text
