"""Admins change the soul and personas in the chat. Also the command menus."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from tests.acceptance.harness import FRIEND, OWNER, STRANGER
from tests.acceptance.shared_bot import SharedBot
from tests.acceptance.shared_relay import open_relay
from tests.standins.telegram import Chat, StoredMessage, Upload, User

pytestmark = pytest.mark.asyncio(loop_scope="module")

OTHER_ADMIN, LATE_ADMIN = 1003, 1004
ADMINS_ONLY = "That's for my admins."


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def module_bot() -> AsyncIterator[SharedBot]:
    """A bot for this file only, since all chats share the soul."""
    admins = f"{OWNER},{OTHER_ADMIN},{LATE_ADMIN}"
    async with open_relay(start=False, RELAY_ADMINS=admins, RELAY_USERS=str(FRIEND)) as own_relay:
        for number, name in ((OWNER, "Ada"), (OTHER_ADMIN, "Olga"), (FRIEND, "Ben"), (STRANGER, "Sam")):
            own_relay.tg.dm(own_relay.tg.user(number, name))
        await own_relay.relay.start()
        await own_relay.polled()
        yield SharedBot(own_relay.tg, own_relay.model, own_relay.relay, own_relay.data)
        assert own_relay.tracebacks() == []


@pytest.fixture
def bot(module_bot: SharedBot) -> SharedBot:
    module_bot.tg.clear_faults()
    module_bot.model.reset()
    return module_bot


def people(bot: SharedBot) -> tuple[User, User, User]:
    """Returns two admins, and one person who may use the bot."""
    return bot.tg.user(OWNER), bot.tg.user(OTHER_ADMIN), bot.tg.user(FRIEND)


def own(bot: SharedBot, user: User) -> Chat:
    return bot.tg.dm(user)


async def asks(bot: SharedBot, user: User, text: str, **more: object) -> StoredMessage:
    """Sends a message in the person's private chat and returns the bot's first answer."""
    return await bot.ask(own(bot, user), user, text, **more)  # type: ignore[arg-type]


async def pressed(bot: SharedBot, user: User, message: StoredMessage, label: str) -> tuple[str, StoredMessage]:
    """Presses a button that makes the bot send a message. Returns the toast and the message."""
    chat = bot.tg.chat(message.chat_id)
    last = max(chat.messages)
    toast = await bot.press(chat, user, message, label)
    return toast, await bot.tg.wait_reply(chat, last)


async def replied(
    bot: SharedBot, user: User, question: StoredMessage, text: str, until: str, **more: object
) -> StoredMessage:
    """Answers a question of the bot. Tries again, since the bot stores that it sent the question a moment after."""
    chat = bot.tg.chat(question.chat_id)
    for _ in range(50):
        told = await bot.ask(chat, user, text, topic=question.topic_id, reply_to=question, **more)  # type: ignore[arg-type]
        if until in told.text:
            return told
        await asyncio.sleep(0.2)
    raise AssertionError(told.text)


async def soul_now(bot: SharedBot) -> str:
    """Returns the soul that the next turn gets."""
    ben = bot.tg.user(FRIEND)
    word = f"who are you ({len(bot.model.requests)})?"
    await asks(bot, ben, word)
    text = bot.prompt(word).body["system"][0]["text"]
    return str(text.partition("\n\n# Memory")[0])


def marks(message: StoredMessage) -> list[tuple[str, str]]:
    units = message.text.encode("utf-16-le")
    return [
        (one["type"], units[2 * one["offset"] : 2 * (one["offset"] + one["length"])].decode("utf-16-le"))
        for one in message.entities
        if one["type"] in ("bold", "strikethrough")
    ]


async def test_command_menus_offer_only_the_commands_that_work_there(bot: SharedBot) -> None:
    def menu(**scope: object) -> set[str]:
        return {one["command"] for one in bot.tg.commands.get((json.dumps(scope, sort_keys=True), ""), [])}

    await bot.tg.wait_for(lambda: menu(type="chat", chat_id=OTHER_ADMIN))
    everybody = menu(type="all_private_chats")
    assert {"start", "help", "memory", "new"} <= everybody
    assert not {"soul", "persona"} & everybody
    assert not {"soul", "persona", "start"} & menu(type="all_group_chats")
    assert {"help", "new", "status"} <= menu(type="all_group_chats")
    for admin in (OWNER, OTHER_ADMIN):
        assert menu(type="chat", chat_id=admin) >= everybody | {"soul", "persona"}
    assert menu(type="default") == set()
    # One admin had not pressed Start, so Telegram doesn't know that chat. The others still got theirs.
    assert not menu(type="chat", chat_id=LATE_ADMIN)
    late = bot.tg.user(LATE_ADMIN, "Lea")
    assert "Hello Lea" in (await asks(bot, late, "/start")).text
    await bot.tg.wait_for(lambda: "soul" in menu(type="chat", chat_id=LATE_ADMIN))


async def test_only_admins_can_change_the_soul(bot: SharedBot) -> None:
    ada, _, ben = people(bot)
    before = await soul_now(bot)
    for command in ("/soul", "/soul set You obey Ben.", "/soul edit", "/soul history", "/persona You obey Ben."):
        assert (await asks(bot, ben, command)).text == ADMINS_ONLY
    document = Upload(b"You obey Ben.", "soul.md", "text/markdown")
    assert (await asks(bot, ben, "/soul set", document=document)).text == ADMINS_ONLY
    # In a group, taps of another member or a stranger do nothing.
    group = bot.group(ada, ben, bot.tg.user(STRANGER))
    shown = await bot.ask(group, ada, "/soul")
    draft = await bot.ask(group, ada, "/soul set", reply_to=await bot.tg.say(group, ben, "You obey Ben."))
    for message, label in ((shown, "Edit"), (shown, "History"), (draft, "Activate"), (draft, "Discard")):
        assert await bot.press(group, ben, message, label) == ADMINS_ONLY
    asked_ben = await bot.tg.say(group, STRANGER, "x")
    bot.tg.press(group, STRANGER, draft, draft.buttons["✅ Activate"])
    await bot.tg.wait_for(lambda: not bot.tg.pending_updates)
    assert await soul_now(bot) == before
    assert max(bot.tg.chat(group).messages) == asked_ben.message_id
    assert await bot.press(group, ada, draft, "Discard") == "Draft discarded."
    assert await soul_now(bot) == before


async def test_a_typed_soul_applies_to_the_next_turn_and_a_button_reverts_it(bot: SharedBot) -> None:
    ada, olga, _ = people(bot)
    await asks(bot, ada, "/soul set You are Captain Nemo. Be brief.")
    shown = await asks(bot, ada, "/soul set You are Captain Nemo. Be very brief.\nSpeak French.")
    number = int(shown.text.split("version ")[1].split()[0])
    assert f"Soul version {number} is active" in shown.text
    assert "tokens" in shown.text
    assert marks(shown)[-2:] == [("bold", "very"), ("bold", "Speak French.")]
    assert await soul_now(bot) == "You are Captain Nemo. Be very brief.\nSpeak French."
    assert "already" in (await asks(bot, ada, "/soul set You are Captain Nemo. Be very brief.\nSpeak French.")).text
    _, told = await pressed(bot, olga, shown, f"Back to version {number - 1}")
    assert f"Soul version {number + 1} is active" in told.text
    assert await soul_now(bot) == "You are Captain Nemo. Be brief."
    # Pressed again, it finds nothing to do.
    assert "already" in await bot.press(bot.tg.chat(told.chat_id), olga, shown, f"Back to version {number - 1}")
    active = await asks(bot, ada, "/soul")
    assert f"Soul, version {number + 1} (active)\nby Olga · 20" in active.text
    assert f"restored from version {number - 1}" in active.text
    assert active.text.endswith("\n\nYou are Captain Nemo. Be brief.")


async def test_a_replied_to_message_becomes_a_draft_that_survives_a_restart(bot: SharedBot) -> None:
    ada, olga, ben = people(bot)
    await asks(bot, ada, "/soul set You are calm.")
    said = await bot.tg.say(own(bot, ada), ada, "You are calm and *wild*\u202e.", forward_from=ben)
    await bot.tg.wait_reply(own(bot, ada), said)
    draft = await asks(bot, ada, "/soul set", reply_to=said)
    assert "Nothing has changed yet" in draft.text
    assert marks(draft)[-2:] == [("strikethrough", "calm."), ("bold", "calm and *wild*⟨U+202E⟩.")]
    assert await soul_now(bot) == "You are calm."
    await bot.relay.kill()
    await bot.relay.start()
    chat = own(bot, ada)
    assert "is active from the next message on" in await bot.press(chat, ada, draft, "Activate")
    assert await soul_now(bot) == "You are calm and *wild*\u202e."
    assert any("Activated as version" in label for label in draft.buttons)
    # An old client still shows the buttons. Pressing them again does no harm.
    number = next(iter(draft.buttons)).split()[-1]
    for data in (f"sx:{_draft_id(bot)}", f"sa:{_draft_id(bot)}:1", "sa:x:y", "sa:9:9:9", "sr:0", "sr:99999999999999"):
        query = bot.tg.press(chat, olga, draft, data)
        await bot.tg.wait_for(lambda query=query: bot.tg.answers.get(query))
    assert await soul_now(bot) == "You are calm and *wild*\u202e."
    assert f"version {number} " in (await asks(bot, ada, "/soul")).text


def _draft_id(bot: SharedBot) -> int:
    """Returns the id of the latest draft, from its button's data."""
    sent = [call.params for call in bot.tg.calls("sendMessage") if '"sa:' in json.dumps(call.params)]
    return int(json.dumps(sent[-1]).split('"sa:')[1].split(":")[0])


async def test_a_document_becomes_a_draft_of_the_soul(bot: SharedBot) -> None:
    ada, _, _ = people(bot)
    await asks(bot, ada, "/soul set You are somebody.")
    text = "You are a gardener.\n\n- Roses first\n- Then weeds"
    first = await asks(bot, ada, "/soul set", document=Upload(text.encode(), "garden.md", "text/markdown"))
    assert "Roses first" in first.text
    assert await bot.press(own(bot, ada), ada, first, "Discard") == "Draft discarded."
    assert list(first.buttons) == ["✖ Discarded"]
    sent = await bot.tg.say(own(bot, ada), ada, document=Upload(text.encode(), "garden.txt", "text/plain"))
    await bot.tg.wait_reply(own(bot, ada), sent)
    bot.tg.fault("download", "500")
    assert "couldn't download" in (await asks(bot, ada, "/soul set", reply_to=sent)).text
    second = await asks(bot, ada, "/soul set", reply_to=sent)
    await bot.press(own(bot, ada), ada, second, "Activate")
    assert await soul_now(bot) == text
    assert "from the document garden.txt" in (await asks(bot, ada, "/soul")).text
    broken = Upload(b"\xff\xfe\xfa", "x.txt", "text/plain")
    assert "isn't UTF-8 text" in (await asks(bot, ada, "/soul set", document=broken)).text
    large = Upload(b"x", "x.txt", "text/plain", size=100_000)
    assert "The limit is 64 KB" in (await asks(bot, ada, "/soul set", document=large)).text
    long = Upload(b"word " * 5000, "x.txt", "text/plain")
    assert "at most 4000" in (await asks(bot, ada, "/soul set", document=long)).text


async def test_edit_asks_for_the_new_text_and_the_reply_becomes_a_draft(bot: SharedBot) -> None:
    ada, olga, _ = people(bot)
    chat = own(bot, ada)
    await asks(bot, ada, "/soul set You are a baker.\nUse ```code```.")
    shown = await asks(bot, ada, "/soul")
    _, question = await pressed(bot, ada, shown, "Edit")
    assert question.text.startswith("✎ soul #")
    assert question.text.endswith("You are a baker.\nUse ```code```.")
    asked = [call for call in bot.tg.calls("sendMessage", chat.id) if call.result == question.raw][-1]
    assert asked.params["reply_markup"]["force_reply"]
    draft = await replied(bot, ada, question, "You are a good baker.\nUse ```code```.", "A draft")
    assert marks(draft)[-1] == ("bold", "good")
    # Meanwhile somebody else changes it. The draft doesn't overwrite it unseen.
    await asks(bot, olga, "/soul set You are a miller.")
    toast, again = await pressed(bot, ada, draft, "Activate")
    assert "has become active in the meantime" in toast
    assert not draft.buttons
    assert "is active now" in again.text
    assert ("strikethrough", "miller.") in marks(again)
    assert await soul_now(bot) == "You are a miller."
    assert "is active" in await bot.press(chat, ada, again, "Activate")
    assert await soul_now(bot) == "You are a good baker.\nUse ```code```."
    # The answer may be a document and may come late.
    document = Upload(b"You are a cook.", "cook.md", "text/markdown")
    late = await replied(bot, ada, question, "", "A draft", document=document)
    assert "is active now" in late.text
    assert ("bold", "cook.") in marks(late)
    assert "edited" in (await asks(bot, ada, "/soul")).text


async def test_a_long_soul_is_shown_in_several_messages_but_edited_as_a_document(bot: SharedBot) -> None:
    ada, _, _ = people(bot)
    chat = own(bot, ada)
    text = "\n\n".join(f"Paragraph {number}: you are kind and you take your time." for number in range(90))
    first = await asks(bot, ada, "/soul set", document=Upload(text.encode(), "long.md", "text/markdown"))
    parts = await bot.tg.wait_for(
        lambda: [m for m in bot.tg.messages(chat) if m.message_id >= first.message_id and m.from_bot][1:]
    )
    assert not first.buttons
    assert "✅ Activate" in parts[-1].buttons
    await bot.press(chat, ada, parts[-1], "Activate")
    assert await soul_now(bot) == text
    question = await asks(bot, ada, "/soul edit")
    assert question.text.endswith("It's in this document.")
    draft = await replied(bot, ada, question, "You are short.", "A draft")
    assert ("bold", "You are short.") in marks(draft)


async def test_the_history_is_paged_and_every_version_can_be_restored(bot: SharedBot) -> None:
    ada, _, _ = people(bot)
    chat = own(bot, ada)
    for number in range(6):
        await asks(bot, ada, f"/soul set You are soul {number}.\n\nAnd number {number} it is.")
    history = await asks(bot, ada, "/soul history")
    assert "page 1 of" in history.text
    newest = int(history.text.split("Soul, version ")[1].split()[0])
    listed = [f"Soul, version {newest - back}" for back in range(5)]
    assert [history.text.index(line) for line in listed] == sorted(history.text.index(line) for line in listed)
    assert "You are soul 5. And number 5 it is." in history.text
    assert f"↩ Restore {newest}" not in history.buttons
    await bot.press(chat, ada, history, "Older")
    await bot.tg.wait_for(lambda: "page 2 of" in history.text)
    assert f"Soul, version {newest - 5}\n" in history.text
    _, whole = await pressed(bot, ada, history, f"View {newest - 5}")
    assert whole.text.endswith("\n\nYou are soul 0.\n\nAnd number 0 it is.")
    _, told = await pressed(bot, ada, whole, f"Restore {newest - 5}")
    assert f"Soul version {newest + 1} is active" in told.text
    assert await soul_now(bot) == "You are soul 0.\n\nAnd number 0 it is."
    assert f"version {newest + 2} is active" in (await asks(bot, ada, f"/soul restore {newest - 4}")).text
    assert await soul_now(bot) == "You are soul 1.\n\nAnd number 1 it is."
    assert "There's no version 4321" in (await asks(bot, ada, "/soul restore 4321")).text
    first = await asks(bot, ada, f"/soul history {-(-(newest + 2) // 5)}")
    assert "the soul that Relay starts with" in first.text


# Personas


async def test_a_persona_applies_only_in_its_topic(bot: SharedBot) -> None:
    ada, olga, ben = people(bot)
    forum = bot.forum(ada, olga, ben)
    mention = f"@{bot.tg.bot.username}"
    spanish, other = (bot.tg.topic(forum, name, ada) for name in ("Spanish", "Other"))
    told = await bot.ask(forum, ada, "/persona You are my Spanish teacher.", topic=spanish)
    assert "From the next message on" in told.text
    assert "tokens" in told.text
    for word in ("uno", "dos"):
        await bot.ask(forum, ben, f"{mention} hola {word}", topic=spanish)
    first, second = bot.prompt("hola uno"), bot.prompt("hola dos")
    assert "# IN THIS CONVERSATION\nYou are my Spanish teacher." in first.system_text
    assert first.body["system"] == second.body["system"], "the cached prefix stays the same"
    assert second.usage["cache_read_input_tokens"] > 0
    for topic in (other, None):
        await bot.ask(forum, ben, f"{mention} hello in {topic}", topic=topic)
        assert "Spanish" not in bot.prompt(f"hello in {topic}").system_text
    await asks(bot, ada, "hello in private")
    assert "Spanish" not in bot.prompt("hello in private").system_text
    # The buttons don't work for others, and they may not set a persona.
    shown = await bot.ask(forum, ada, "/persona", topic=spanish)
    assert "by you · 20" in shown.text
    assert shown.text.endswith("You are my Spanish teacher.")
    assert await bot.press(forum, ben, shown, "Clear") == ADMINS_ONLY
    assert (await bot.ask(forum, ben, "/persona I am the boss", topic=spanish)).text == ADMINS_ONLY
    # Another admin clears it, and the first one restores it.
    _, cleared = await pressed(bot, olga, shown, "Clear")
    assert "no role here" in cleared.text
    assert cleared.topic_id == spanish
    await bot.ask(forum, ben, f"{mention} cleared now?", topic=spanish)
    assert "Spanish" not in bot.prompt("cleared now?").system_text
    assert "nothing to clear" in (await bot.ask(forum, ada, "/persona clear", topic=spanish)).text
    await pressed(bot, ada, cleared, "Undo")
    await bot.ask(forum, ben, f"{mention} back again?", topic=spanish)
    assert "Spanish teacher" in bot.prompt("back again?").system_text


async def test_a_persona_in_a_private_chat_can_be_edited_and_cleared(bot: SharedBot) -> None:
    ada, _, ben = people(bot)
    chat = own(bot, ada)
    topic = bot.tg.topic(chat, "Cooking", ada)
    assert "I don't have a role here" in (await bot.ask(chat, ada, "/persona", topic=topic)).text
    await bot.ask(chat, ada, "/persona You are a cook.\nYou love salt.", topic=topic)
    shown = await bot.ask(chat, ada, "/persona", topic=topic)
    _, question = await pressed(bot, ada, shown, "Edit")
    assert question.text.startswith("✎ persona #")
    assert question.text.endswith("You are a cook.\nYou love salt.")
    told = await replied(bot, ada, question, "You are a cook.\nYou love pepper.", "next message")
    assert marks(told) == [("strikethrough", "salt."), ("bold", "pepper.")]
    await bot.ask(chat, ada, "what is missing?", topic=topic)
    assert "You love pepper." in bot.prompt("what is missing?").system_text
    # A button under an earlier version does nothing to this one, even after a restart.
    await bot.relay.kill()
    await bot.relay.start()
    assert "changed since" in await bot.press(chat, ada, shown, "Clear")
    assert "changed since" in await bot.press(chat, ada, shown, "Edit")
    await bot.ask(chat, ada, "and now?", topic=topic)
    assert "You love pepper." in bot.prompt("and now?").system_text
    assert "Cleared" in (await bot.ask(chat, ada, "/persona clear", topic=topic)).text
    await bot.ask(chat, ada, "just you?", topic=topic)
    assert "IN THIS CONVERSATION" not in bot.prompt("just you?").system_text
    assert "at most 1000" in (await bot.ask(chat, ada, "/persona " + "salt " * 801, topic=topic)).text
    assert (await asks(bot, ben, "/persona")).text == ADMINS_ONLY
