"""Edited messages: what waits is answered as it stands, the last one again where its answer was, older ones not."""

from __future__ import annotations

import asyncio

import pytest

from tests.acceptance.town import SESSION, Town
from tests.standins.anthropic import Reply
from tests.standins.telegram import Chat, StoredMessage, User

pytestmark = SESSION
AGAIN = "✎ Answer again"
LONG = "\n\n".join(f"line {number} {'of a long answer ' * 5}." for number in range(130))


def told(town: Town, chat: Chat) -> list[str]:
    """What the bot says in a chat."""
    return [message.text for message in town.tg.messages(chat) if message.from_bot]


async def settled(town: Town) -> None:
    """Waits until what people did has been taken, and a little longer."""
    await town.tg.wait_for(lambda: not town.tg.pending_updates)
    await asyncio.sleep(0.6)


async def reworded(town: Town, chat: Chat, said: StoredMessage, text: str, reply: StoredMessage) -> None:
    """Somebody edits a message; waits until a new answer is offered."""
    town.tg.edit(chat, said, text)
    await town.tg.wait_for(lambda: AGAIN in reply.buttons)


async def exchange(
    town: Town, chat: Chat, user: User, text: str, answer: object = None
) -> tuple[StoredMessage, StoredMessage]:
    """What somebody says, and the answer."""
    if answer is not None:
        town.says(text, answer)
    said = await town.tg.say(chat, user, text)
    return said, await town.tg.wait_reply(chat, said)


async def test_the_last_message_is_answered_again_where_its_answer_was(town: Town) -> None:
    ada, dm = town.person()
    await exchange(town, dm, ada, "good morning")
    said, reply = await exchange(town, dm, ada, "what is the captal of Peru?", "Which captal?")
    await reworded(town, dm, said, "what is the capital of Peru?", reply)
    assert reply.text == "Which captal?", "nothing is answered before it is asked for"
    before = len(town.tg.messages(dm))
    town.says("what is the capital of Peru?", "Lima.")
    assert "answering" in await town.press(dm, ada, reply, AGAIN)
    await town.tg.wait_for(lambda: reply.text == "Lima.")
    assert list(reply.buttons) == ["◆ Keep this", "↩ First answer"]
    assert len(town.tg.messages(dm)) == before
    prompt = town.prompt("what is the capital of Peru?")
    assert "captal" not in str(prompt.messages)
    assert [message["role"] for message in prompt.messages] == ["user", "assistant", "user"]
    await town.ask(dm, ada, "thanks")
    history = str(town.prompt("thanks").messages)
    assert "Lima." in history
    assert "captal" not in history
    assert history.count("capital of Peru") == 1
    # a reply to what stands there now is a reply to the new answer
    await town.ask(dm, ada, "why that one?", reply_to=reply)
    assert "<reply>\\nLima.\\n</reply>" in str(town.prompt("why that one?").messages)


async def test_the_first_answer_is_brought_back_where_the_new_one_stands(town: Town) -> None:
    ada, dm = town.person()
    said, reply = await exchange(town, dm, ada, "my cat is Mia", "Hello Mia! [LEARN: Has a cat called Mia]")
    await reworded(town, dm, said, "my cat is Mina", reply)
    town.says("my cat is Mina", "Hi Mina. [LEARN: Has a cat called Mina]")
    await town.press(dm, ada, reply, AGAIN)
    await town.tg.wait_for(lambda: reply.text.startswith("Hi Mina."))
    asked, before = len(town.prompts("my cat is Mina")), len(town.tg.messages(dm))
    await town.press(dm, ada, reply, "↩ First answer")
    await town.tg.wait_for(lambda: reply.text.startswith("Hello Mia!"))
    assert "Brought back" in reply.text
    assert "↩ First answer" not in reply.buttons
    assert len(town.prompts("my cat is Mina")) == asked, "the model is not asked for it"
    assert len(town.tg.messages(dm)) == before
    await town.ask(dm, ada, "thanks")
    history = str(town.prompt("thanks").messages)
    assert "Hello Mia!" in history
    assert "Hi Mina." not in history
    known = str(town.prompt("thanks").body["system"])
    assert "called Mina" not in known, "what the newer answer taught is taken back"


async def test_what_waits_is_answered_as_it_stands(town: Town) -> None:
    ada, dm = town.person()
    town.says("a slow one", Reply("slow", first_delay=1.5))
    await town.tg.say(dm, ada, "a slow one")
    await town.tg.wait_for(lambda: town.prompts("a slow one"))
    waiting = await town.tg.say(dm, ada, "befor")
    await town.tg.wait_for(lambda: not town.tg.pending_updates)
    town.tg.edit(dm, waiting, "behind")
    reply = await town.tg.wait_reply(dm, waiting)
    await town.tg.wait_for(lambda: "You said: behind" in told(town, dm))
    await settled(town)
    assert told(town, dm) == ["slow", "You said: behind"]
    assert {label for message in town.tg.messages(dm) for label in message.buttons} == {"◆ Keep this"}
    assert reply.text


async def test_an_edit_while_the_answer_is_written_offers_another_one_after_it(town: Town) -> None:
    ada, dm = town.person()
    town.says("who was Ads Lovelace", Reply("I know of no Ads.", first_delay=1.5))
    said = await town.tg.say(dm, ada, "who was Ads Lovelace")
    await town.tg.wait_for(lambda: town.prompts("who was Ads Lovelace"))
    town.tg.edit(dm, said, "who was Ada Lovelac")
    town.tg.edit(dm, said, "who was Ada Lovelace")
    reply = await town.tg.wait_reply(dm, said)
    assert reply.text == "I know of no Ads."
    await town.tg.wait_for(lambda: AGAIN in reply.buttons)
    await settled(town)
    await town.press(dm, ada, reply, AGAIN)
    await town.tg.wait_for(lambda: reply.text == "You said: who was Ada Lovelace")


async def test_nothing_is_offered_for_older_ones_previews_commands_and_strangers(town: Town) -> None:
    (ada, dm), stranger = town.person(), town.tg.user(77_101, "Sam")
    older, first = await exchange(town, dm, ada, "an oldr one")
    command, _ = await exchange(town, dm, ada, "/help")
    last, reply = await exchange(town, dm, ada, "see https://example.org")
    town.tg.edit(dm, older, "an older one")
    town.tg.edit(dm, command, "/status")
    town.tg.edit(dm, last, "see https://example.org")
    theirs = await town.tg.say(town.tg.dm(stranger), stranger, "hello?")
    town.tg.edit(town.tg.dm(stranger), theirs, "hello!")
    asked = town.asked
    await settled(town)
    assert list(first.buttons) == list(reply.buttons) == ["◆ Keep this"]
    assert told(town, town.tg.dm(stranger)) == []
    assert len(told(town, dm)) == 3
    assert town.asked == asked
    await town.ask(dm, ada, "go on")
    assert "an older one" in str(town.prompt("go on").messages)


async def test_a_long_answer_gives_way_to_a_short_one_and_back(town: Town) -> None:
    ada, dm = town.person()
    town.says("tell me a lot", LONG)
    said = await town.tg.say(dm, ada, "tell me a lot")
    await town.tg.wait_for(lambda: "line 129" in str(told(town, dm)))
    parts = [message for message in town.tg.messages(dm) if message.from_bot]
    assert len(parts) >= 3
    await reworded(town, dm, said, "tell me a little", parts[-1])
    town.says("tell me a little", "Little.")
    await town.press(dm, ada, parts[-1], AGAIN)
    await town.tg.wait_for(lambda: told(town, dm) == ["Little."])
    await reworded(town, dm, said, "tell me much again", parts[0])
    town.says("tell me much again", LONG)
    await town.press(dm, ada, parts[0], AGAIN)
    await town.tg.wait_for(lambda: "line 129" in str(told(town, dm)))
    assert [text.startswith("line 0 ") for text in told(town, dm)][:2] == [True, False]
    assert "\n\n".join(told(town, dm)).count("line 64 ") == 1


async def test_what_cannot_be_edited_or_deleted_any_more(town: Town) -> None:
    ada, dm = town.person()
    town.says("a lot please", LONG)
    said = await town.tg.say(dm, ada, "a lot please")
    await town.tg.wait_for(lambda: "line 129" in str(told(town, dm)))
    parts = [message for message in town.tg.messages(dm) if message.from_bot]
    await reworded(town, dm, said, "less please", parts[-1])
    town.tg.delete(dm, parts[0])
    reason = "Bad Request: message can't be deleted for everyone"
    town.tg.fault("deleteMessage", "error", times=-1, chat_id=dm.id, description=reason)
    town.says("less please", "Less.")
    await town.press(dm, ada, parts[-1], AGAIN)
    await town.tg.wait_for(lambda: "Less." in told(town, dm))
    void = "(This belonged to an earlier answer.)"
    await town.tg.wait_for(lambda: told(town, dm) == [*[void] * (len(parts) - 1), "Less."])


async def test_what_the_old_wording_taught_is_taken_back(town: Town) -> None:
    ada, dm = town.person()
    said, reply = await exchange(town, dm, ada, "I live in Rome", "Nice.\n[LEARN: Lives in Rome]\n[LEARN: Likes ice]")
    assert "↩ Undo / Edit…" in reply.buttons
    await reworded(town, dm, said, "I live in Oslo", reply)
    assert list(reply.buttons) == ["↩ Undo / Edit…", "◆ Keep this", AGAIN]
    await town.press(dm, ada, reply, "Undo")
    await town.tg.wait_for(lambda: any("Undo: Lives in Rome" in label for label in reply.buttons))
    assert AGAIN in reply.buttons, "it stays while the others open"
    town.says("I live in Oslo", "Cold.\n[LEARN: Lives in Oslo]\n[LEARN: Likes ice]")
    await town.press(dm, ada, reply, AGAIN)
    await town.tg.wait_for(lambda: "Cold." in reply.text)
    assert "Lives in Rome" not in town.prompt("I live in Oslo").system_text
    assert reply.text == "Cold.\n\n↩ Undone: Lives in Rome · 🧠 Learned: Lives in Oslo · 🧠 Learned: Likes ice"
    known = (await town.ask(dm, ada, "/memory")).text
    assert "Oslo" in known
    assert "Rome" not in known
    await town.press(dm, ada, reply, "Undo")
    await town.tg.wait_for(lambda: any("Undo: Lives in Oslo" in label for label in reply.buttons))
    await town.press(dm, ada, reply, "Undo: Lives in Oslo")
    known = (await town.ask(dm, ada, "/memory")).text
    assert "Oslo" not in known
    assert "ice" in known


async def test_a_model_that_fails_leaves_the_old_answer(town: Town) -> None:
    ada, dm = town.person()
    said, reply = await exchange(town, dm, ada, "a hard qestion", "No idea. [LEARN: Asks hard things]")
    await reworded(town, dm, said, "a hard question", reply)
    town.model.fault("refusal", match="a hard question")
    await town.press(dm, ada, reply, AGAIN)
    refusal = await town.tg.wait_reply(dm, reply)
    assert "declined" in refusal.text
    assert reply.text.startswith("No idea.")
    town.says("a hard question", "42")
    town.tg.press(dm, ada, refusal, refusal.buttons["↻ Retry"])
    await town.tg.wait_for(lambda: reply.text == "42\n\n↩ Undone: Asks hard things")
    assert len(told(town, dm)) == 2


async def test_the_button_is_for_whoever_asked_and_for_what_stands(town: Town) -> None:
    (ada, dm), (ben, _), stranger = town.person("Ada"), town.person("Ben"), town.tg.user(77_102, "Sam")
    group = town.group(ada, ben, stranger)
    name = f"@{town.tg.bot.username}"
    said, reply = await exchange(town, group, ada, f"{name} hi thre", "Hi.")
    assert reply.text == "Hi."
    await reworded(town, group, said, f"{name} hi there", reply)
    asked = town.asked
    assert await town.press(group, ben, reply, AGAIN) == "Only the person who asked can do that."
    town.tg.press(group, stranger, reply, reply.buttons[AGAIN])
    await settled(town)
    assert town.asked == asked
    assert AGAIN in reply.buttons
    data = reply.buttons[AGAIN]
    town.says("hi there", Reply("Hello!", first_delay=0.3))
    first, second = town.tg.press(group, ada, reply, data), town.tg.press(group, ada, reply, data)
    await town.tg.wait_for(lambda: {first, second} <= set(town.tg.answers))
    assert reply.text == "Hello!"
    assert town.tg.answers[second]["text"] == "I've already answered this again."
    assert told(town, group) == ["Hello!"]
    # and one that is pressed after more was said
    said, reply = await exchange(town, dm, ada, "one thign")
    await reworded(town, dm, said, "one thing", reply)
    await town.ask(dm, ada, "another thing")
    assert "The conversation has moved on" in await town.press(dm, ada, reply, AGAIN)
    assert reply.text == "You said: one thign"


async def test_a_forward_stays_when_its_comment_is_edited(town: Town) -> None:
    ada, dm = town.person()
    town.model.delay = 0.6
    comment = await town.tg.say(dm, ada, "is ths true?")
    await town.tg.say(dm, ada, "The moon is made of cheese.", forward_from="Sam")
    reply = await town.tg.wait_reply(dm, comment)
    assert "is ths true?" in town.prompt("made of cheese").last_text
    await reworded(town, dm, comment, "is this true?", reply)
    town.says("made of cheese", "No.")
    await town.press(dm, ada, reply, AGAIN)
    await town.tg.wait_for(lambda: reply.text.startswith("No."))
    assert "is this true?" in town.prompt("made of cheese").last_text
    assert 'kind="forward" from="Sam"' in town.prompt("made of cheese").last_text


async def test_in_a_topic_of_a_forum(town: Town) -> None:
    ada, _ = town.person()
    forum = town.forum(ada)
    topic = town.tg.topic(forum, "Ideas", ada)
    town.says("a gaden", Reply("A what?", first_delay=0.2, spread=1.5))
    said = await town.tg.say(forum, ada, "a gaden", topic=topic)
    reply = await town.tg.wait_reply(forum, said, topic=topic)
    await town.tg.wait_for(lambda: reply.text == "A what?")
    await reworded(town, forum, said, "a garden", reply)
    town.says("a garden", Reply("Green. " * 9, spread=2.0))
    await town.press(forum, ada, reply, AGAIN)
    await town.tg.wait_for(lambda: reply.text.count("Green.") == 9)
    assert [message.topic_id for message in town.tg.messages(forum) if message.from_bot] == [topic]
    assert reply.history == ["A what?"], "what is not finished is not shown in an answer's place"


@pytest.mark.expects_trouble
async def test_pressed_after_a_restart(town: Town) -> None:
    ada, dm = town.person()
    said, reply = await exchange(town, dm, ada, "before teh restart")
    await reworded(town, dm, said, "before the restart", reply)
    await town.relay.kill()
    town.tg.press(dm, ada, reply, reply.buttons[AGAIN])
    await town.relay.start()
    await town.tg.wait_for(lambda: reply.text == "You said: before the restart")
    await town.tg.wait_polling(timeout=30)
