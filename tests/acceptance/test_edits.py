"""Edited messages: a waiting message is answered as edited, the last one is answered again in place of its answer, and
older ones aren't."""

from __future__ import annotations

import asyncio

import pytest

from tests.acceptance.shared_bot import SESSION, SharedBot
from tests.standins.anthropic import Reply
from tests.standins.telegram import Chat, StoredMessage, User

pytestmark = SESSION
AGAIN = "✎ Answer again"
LONG = "\n\n".join(f"line {number} {'of a long answer ' * 5}." for number in range(130))


def told(bot: SharedBot, chat: Chat) -> list[str]:
    """Returns what the bot says in a chat."""
    return [message.text for message in bot.tg.messages(chat) if message.from_bot]


async def settled(bot: SharedBot) -> None:
    """Waits until all updates have been fetched, and a little longer."""
    await bot.tg.wait_for(lambda: not bot.tg.pending_updates)
    await asyncio.sleep(0.6)


async def reworded(bot: SharedBot, chat: Chat, said: StoredMessage, text: str, reply: StoredMessage) -> None:
    """Edits a message and waits until a new answer is offered."""
    bot.tg.edit(chat, said, text)
    await bot.tg.wait_for(lambda: AGAIN in reply.buttons)


async def exchange(
    bot: SharedBot, chat: Chat, user: User, text: str, answer: object = None
) -> tuple[StoredMessage, StoredMessage]:
    """Sends a message. Returns it and the answer."""
    if answer is not None:
        bot.says(text, answer)
    said = await bot.tg.say(chat, user, text)
    return said, await bot.tg.wait_reply(chat, said)


async def test_an_edited_last_message_is_answered_again_in_place(bot: SharedBot) -> None:
    ada, dm = bot.person()
    await exchange(bot, dm, ada, "good morning")
    said, reply = await exchange(bot, dm, ada, "what is the captal of Peru?", "Which captal?")
    await reworded(bot, dm, said, "what is the capital of Peru?", reply)
    assert reply.text == "Which captal?", "the answer changes only after a press"
    before = len(bot.tg.messages(dm))
    bot.says("what is the capital of Peru?", "Lima.")
    assert "answering" in await bot.press(dm, ada, reply, AGAIN)
    await bot.tg.wait_for(lambda: reply.text == "Lima.")
    assert list(reply.buttons) == ["◆ Keep this", "↩ First answer"]
    assert len(bot.tg.messages(dm)) == before
    prompt = bot.prompt("what is the capital of Peru?")
    assert "captal" not in str(prompt.messages)
    assert [message["role"] for message in prompt.messages] == ["user", "assistant", "user"]
    await bot.ask(dm, ada, "thanks")
    history = str(bot.prompt("thanks").messages)
    assert "Lima." in history
    assert "captal" not in history
    assert history.count("capital of Peru") == 1
    # A reply to this message is now a reply to the new answer.
    await bot.ask(dm, ada, "why that one?", reply_to=reply)
    assert "<reply>\\nLima.\\n</reply>" in str(bot.prompt("why that one?").messages)


async def test_the_first_answer_can_be_restored_in_place_of_the_new_one(bot: SharedBot) -> None:
    ada, dm = bot.person()
    said, reply = await exchange(bot, dm, ada, "my cat is Mia", "Hello Mia! [LEARN: Has a cat called Mia]")
    await reworded(bot, dm, said, "my cat is Mina", reply)
    bot.says("my cat is Mina", "Hi Mina. [LEARN: Has a cat called Mina]")
    await bot.press(dm, ada, reply, AGAIN)
    await bot.tg.wait_for(lambda: reply.text.startswith("Hi Mina."))
    asked, before = len(bot.prompts("my cat is Mina")), len(bot.tg.messages(dm))
    await bot.press(dm, ada, reply, "↩ First answer")
    await bot.tg.wait_for(lambda: reply.text.startswith("Hello Mia!"))
    assert "Brought back" in reply.text
    assert "↩ First answer" not in reply.buttons
    assert len(bot.prompts("my cat is Mina")) == asked, "restoring does not call the model"
    assert len(bot.tg.messages(dm)) == before
    await bot.ask(dm, ada, "thanks")
    history = str(bot.prompt("thanks").messages)
    assert "Hello Mia!" in history
    assert "Hi Mina." not in history
    known = str(bot.prompt("thanks").body["system"])
    assert "called Mina" not in known, "facts learned from the newer answer are undone"


async def test_changes_that_are_open_stay_open_under_an_edited_message_and_a_thumb(bot: SharedBot) -> None:
    ada, dm = bot.person()
    said, reply = await exchange(bot, dm, ada, "I live in Berm", "Noted. [LEARN: Lives in Berm]")
    await bot.press(dm, ada, reply, "Undo / Edit")
    await bot.press(dm, ada, reply, "↩ Undo: Lives in Berm")
    await bot.tg.wait_for(lambda: "↩ Undone: Lives in Berm" in reply.text)
    opened = ["↩ Undone: Lives in Berm", "‹ Close"]
    await reworded(bot, dm, said, "I live in Bern", reply)
    assert list(reply.buttons) == [*opened, AGAIN]
    bot.tg.react(dm, ada, reply, "👎")
    await settled(bot)
    assert list(reply.buttons) == [*opened, AGAIN]
    await bot.press(dm, ada, reply, "Close")
    await bot.tg.wait_for(lambda: list(reply.buttons) == ["↩ Undo / Edit…", AGAIN])


async def test_an_edited_waiting_message_is_answered_as_edited(bot: SharedBot) -> None:
    ada, dm = bot.person()
    bot.says("a slow one", Reply("slow", first_delay=1.5))
    await bot.tg.say(dm, ada, "a slow one")
    await bot.tg.wait_for(lambda: bot.prompts("a slow one"))
    waiting = await bot.tg.say(dm, ada, "befor")
    await bot.tg.wait_for(lambda: not bot.tg.pending_updates)
    bot.tg.edit(dm, waiting, "behind")
    reply = await bot.tg.wait_reply(dm, waiting)
    await bot.tg.wait_for(lambda: "You said: behind" in told(bot, dm))
    await settled(bot)
    assert told(bot, dm) == ["slow", "You said: behind"]
    assert {label for message in bot.tg.messages(dm) for label in message.buttons} == {"◆ Keep this"}
    assert reply.text


async def test_an_edit_during_the_answer_offers_a_new_answer_afterwards(bot: SharedBot) -> None:
    ada, dm = bot.person()
    bot.says("who was Ads Lovelace", Reply("I know of no Ads.", first_delay=1.5))
    said = await bot.tg.say(dm, ada, "who was Ads Lovelace")
    await bot.tg.wait_for(lambda: bot.prompts("who was Ads Lovelace"))
    bot.tg.edit(dm, said, "who was Ada Lovelac")
    bot.tg.edit(dm, said, "who was Ada Lovelace")
    reply = await bot.tg.wait_reply(dm, said)
    assert reply.text == "I know of no Ads."
    await bot.tg.wait_for(lambda: AGAIN in reply.buttons)
    await settled(bot)
    await bot.press(dm, ada, reply, AGAIN)
    await bot.tg.wait_for(lambda: reply.text == "You said: who was Ada Lovelace")


async def test_edits_that_wait_for_answers_keep_no_other_edit_waiting(bot: SharedBot) -> None:
    ada, _ = bot.person()
    forum = bot.forum(ada)
    for name in ("Rome", "Oslo"):
        topic, text = bot.tg.topic(forum, name, ada), f"a trip to {name}"
        bot.says(text, Reply(name, first_delay=6))
        asked = await bot.tg.say(forum, ada, text, topic=topic)
        await bot.tg.wait_for(lambda text=text: bot.prompts(text))
        for change in ("long", "longer"):
            bot.tg.edit(forum, asked, f"a {change} trip to {name}")
    topic = bot.tg.topic(forum, "Dinner", ada)
    bot.says("a slow dish", Reply("slow", first_delay=1.5))
    await bot.tg.say(forum, ada, "a slow dish", topic=topic)
    await bot.tg.wait_for(lambda: bot.prompts("a slow dish"))
    waiting = await bot.tg.say(forum, ada, "a tabel", topic=topic)
    await bot.tg.wait_for(lambda: not bot.tg.pending_updates)
    bot.tg.edit(forum, waiting, "a table")
    await bot.tg.wait_for(lambda: "You said: a table" in told(bot, forum))
    assert not bot.prompts("a tabel")
    await bot.tg.wait_for(lambda: sum(AGAIN in one.buttons for one in bot.tg.messages(forum)) == 2, timeout=20)


async def test_edits_of_older_messages_and_commands_offer_no_new_answer(bot: SharedBot) -> None:
    (ada, dm), stranger = bot.person(), bot.tg.user(77_101, "Sam")
    older, first = await exchange(bot, dm, ada, "an oldr one")
    command, _ = await exchange(bot, dm, ada, "/help")
    last, reply = await exchange(bot, dm, ada, "see https://example.org")
    bot.tg.edit(dm, older, "an older one")
    bot.tg.edit(dm, command, "/status")
    bot.tg.edit(dm, last, "see https://example.org")
    theirs = await bot.tg.say(bot.tg.dm(stranger), stranger, "hello?")
    bot.tg.edit(bot.tg.dm(stranger), theirs, "hello!")
    asked = bot.asked
    await settled(bot)
    assert list(first.buttons) == list(reply.buttons) == ["◆ Keep this"]
    assert told(bot, bot.tg.dm(stranger)) == []
    assert len(told(bot, dm)) == 3
    assert bot.asked == asked
    await bot.ask(dm, ada, "go on")
    assert "an older one" in str(bot.prompt("go on").messages)


async def test_a_long_answer_is_replaced_by_a_short_one_and_vice_versa(bot: SharedBot) -> None:
    ada, dm = bot.person()
    bot.says("tell me a lot", LONG)
    said = await bot.tg.say(dm, ada, "tell me a lot")
    await bot.tg.wait_for(lambda: "line 129" in str(told(bot, dm)))
    parts = [message for message in bot.tg.messages(dm) if message.from_bot]
    assert len(parts) >= 3
    await reworded(bot, dm, said, "tell me a little", parts[-1])
    bot.says("tell me a little", "Little.")
    await bot.press(dm, ada, parts[-1], AGAIN)
    await bot.tg.wait_for(lambda: told(bot, dm) == ["Little."])
    await reworded(bot, dm, said, "tell me much again", parts[0])
    bot.says("tell me much again", LONG)
    await bot.press(dm, ada, parts[0], AGAIN)
    await bot.tg.wait_for(lambda: "line 129" in str(told(bot, dm)))
    assert [text.startswith("line 0 ") for text in told(bot, dm)][:2] == [True, False]
    assert "\n\n".join(told(bot, dm)).count("line 64 ") == 1


async def test_parts_that_cannot_be_deleted_are_replaced_by_a_note(bot: SharedBot) -> None:
    ada, dm = bot.person()
    bot.says("a lot please", LONG)
    said = await bot.tg.say(dm, ada, "a lot please")
    await bot.tg.wait_for(lambda: "line 129" in str(told(bot, dm)))
    parts = [message for message in bot.tg.messages(dm) if message.from_bot]
    await reworded(bot, dm, said, "less please", parts[-1])
    bot.tg.delete(dm, parts[0])
    reason = "Bad Request: message can't be deleted for everyone"
    bot.tg.fault("deleteMessage", "error", times=-1, chat_id=dm.id, description=reason)
    bot.says("less please", "Less.")
    await bot.press(dm, ada, parts[-1], AGAIN)
    await bot.tg.wait_for(lambda: "Less." in told(bot, dm))
    void = "(This belonged to an earlier answer.)"
    await bot.tg.wait_for(lambda: told(bot, dm) == [*[void] * (len(parts) - 1), "Less."])


async def test_memories_learned_from_the_old_wording_are_undone(bot: SharedBot) -> None:
    ada, dm = bot.person()
    said, reply = await exchange(bot, dm, ada, "I live in Rome", "Nice.\n[LEARN: Lives in Rome]\n[LEARN: Likes ice]")
    assert "↩ Undo / Edit…" in reply.buttons
    await reworded(bot, dm, said, "I live in Oslo", reply)
    assert list(reply.buttons) == ["↩ Undo / Edit…", "◆ Keep this", AGAIN]
    await bot.press(dm, ada, reply, "Undo")
    await bot.tg.wait_for(lambda: any("Undo: Lives in Rome" in label for label in reply.buttons))
    assert AGAIN in reply.buttons, "the button stays when the others are opened"
    bot.says("I live in Oslo", "Cold.\n[LEARN: Lives in Oslo]\n[LEARN: Likes ice]")
    await bot.press(dm, ada, reply, AGAIN)
    await bot.tg.wait_for(lambda: "Cold." in reply.text)
    assert "Lives in Rome" not in bot.prompt("I live in Oslo").system_text
    assert reply.text == "Cold.\n\n↩ Undone: Lives in Rome · 🧠 Learned: Lives in Oslo · 🧠 Learned: Likes ice"
    known = (await bot.ask(dm, ada, "/memory")).text
    assert "Oslo" in known
    assert "Rome" not in known
    await bot.press(dm, ada, reply, "Undo")
    await bot.tg.wait_for(lambda: any("Undo: Lives in Oslo" in label for label in reply.buttons))
    await bot.press(dm, ada, reply, "Undo: Lives in Oslo")
    known = (await bot.ask(dm, ada, "/memory")).text
    assert "Oslo" not in known
    assert "ice" in known


async def test_the_old_answer_stays_if_the_model_fails(bot: SharedBot) -> None:
    ada, dm = bot.person()
    said, reply = await exchange(bot, dm, ada, "a hard qestion", "No idea. [LEARN: Asks hard things]")
    await reworded(bot, dm, said, "a hard question", reply)
    bot.model.fault("refusal", match="a hard question")
    await bot.press(dm, ada, reply, AGAIN)
    refusal = await bot.tg.wait_reply(dm, reply)
    assert "declined" in refusal.text
    assert reply.text.startswith("No idea.")
    bot.says("a hard question", "42")
    bot.tg.press(dm, ada, refusal, refusal.buttons["↻ Retry"])
    await bot.tg.wait_for(lambda: reply.text == "42\n\n↩ Undone: Asks hard things")
    assert len(told(bot, dm)) == 2


async def test_the_button_is_only_for_the_asker_and_the_latest_exchange(bot: SharedBot) -> None:
    (ada, dm), (ben, _), stranger = bot.person("Ada"), bot.person("Ben"), bot.tg.user(77_102, "Sam")
    group = bot.group(ada, ben, stranger)
    name = f"@{bot.tg.bot.username}"
    said, reply = await exchange(bot, group, ada, f"{name} hi thre", "Hi.")
    assert reply.text == "Hi."
    await reworded(bot, group, said, f"{name} hi there", reply)
    asked = bot.asked
    assert await bot.press(group, ben, reply, AGAIN) == "Only the person who asked can do that."
    bot.tg.press(group, stranger, reply, reply.buttons[AGAIN])
    await settled(bot)
    assert bot.asked == asked
    assert AGAIN in reply.buttons
    data = reply.buttons[AGAIN]
    bot.says("hi there", Reply("Hello!", first_delay=0.3))
    first, second = bot.tg.press(group, ada, reply, data), bot.tg.press(group, ada, reply, data)
    await bot.tg.wait_for(lambda: {first, second} <= set(bot.tg.answers))
    assert reply.text == "Hello!"
    assert bot.tg.answers[second]["text"] == "I've already answered this again."
    assert told(bot, group) == ["Hello!"]
    # And one whose button is pressed after another exchange.
    said, reply = await exchange(bot, dm, ada, "one thign")
    await reworded(bot, dm, said, "one thing", reply)
    await bot.ask(dm, ada, "another thing")
    assert "The conversation has moved on" in await bot.press(dm, ada, reply, AGAIN)
    assert reply.text == "You said: one thign"


async def test_a_forward_stays_in_the_turn_when_its_comment_is_edited(bot: SharedBot) -> None:
    ada, dm = bot.person()
    bot.model.delay = 0.6
    comment = await bot.tg.say(dm, ada, "is ths true?")
    await bot.tg.say(dm, ada, "The moon is made of cheese.", forward_from="Sam")
    reply = await bot.tg.wait_reply(dm, comment)
    assert "is ths true?" in bot.prompt("made of cheese").last_text
    await reworded(bot, dm, comment, "is this true?", reply)
    bot.says("made of cheese", "No.")
    await bot.press(dm, ada, reply, AGAIN)
    await bot.tg.wait_for(lambda: reply.text.startswith("No."))
    assert "is this true?" in bot.prompt("made of cheese").last_text
    assert 'kind="forward" from="Sam"' in bot.prompt("made of cheese").last_text


async def test_an_edit_in_a_forum_topic_is_answered_in_place(bot: SharedBot) -> None:
    ada, _ = bot.person()
    forum = bot.forum(ada)
    topic = bot.tg.topic(forum, "Ideas", ada)
    bot.says("a gaden", Reply("A what?", first_delay=0.2, spread=1.5))
    said = await bot.tg.say(forum, ada, "a gaden", topic=topic)
    reply = await bot.tg.wait_reply(forum, said, topic=topic)
    await bot.tg.wait_for(lambda: reply.text == "A what?")
    await reworded(bot, forum, said, "a garden", reply)
    bot.says("a garden", Reply("Green. " * 9, spread=2.0))
    await bot.press(forum, ada, reply, AGAIN)
    await bot.tg.wait_for(lambda: reply.text.count("Green.") == 9)
    assert [message.topic_id for message in bot.tg.messages(forum) if message.from_bot] == [topic]
    assert reply.history == ["A what?"], "an unfinished answer isn't shown in place of the old one"


@pytest.mark.expects_trouble
async def test_the_button_works_after_a_restart(bot: SharedBot) -> None:
    ada, dm = bot.person()
    said, reply = await exchange(bot, dm, ada, "before teh restart")
    await reworded(bot, dm, said, "before the restart", reply)
    await bot.relay.kill()
    bot.tg.press(dm, ada, reply, reply.buttons[AGAIN])
    await bot.relay.start()
    await bot.tg.wait_for(lambda: reply.text == "You said: before the restart")
    await bot.tg.wait_polling(timeout=30)
