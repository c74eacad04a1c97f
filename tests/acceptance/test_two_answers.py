"""Two answers to choose from, at once or one after the other: what the choice keeps, teaches and tells."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.shared_bot import SESSION, World
from tests.acceptance.shared_relay import SharedRelay
from tests.acceptance.test_preferences import asked, last_prompt, press
from tests.standins.anthropic import web_search
from tests.standins.telegram import StoredMessage

pytestmark = SESSION


@pytest.fixture
def world(shared_world: World) -> World:
    return shared_world


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
    ada = world.owner.id
    await shared.until("select count(*) = 2 from relay.signal where user_id = %s", ada)
    standing = "select count(distinct message_id) from relay.signal where user_id = %s and removed_at is null"
    assert shared.sql(standing, ada) == [(2,)]
    thumbs = "select value from relay.feedback where user_id = %s and kind = 'thumbs'"
    assert shared.sql(thumbs, ada) == [({"up": True},)]


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


async def test_two_answers_with_words_after_the_command_are_refused(world: World) -> None:
    await asked(world, "Tell me about my cat")
    assert (await asked(world, "/two about my dog")).text == "/two takes no words. Write it alone."
