"""The soul and personas, as admins change them in the chat; and the command menus."""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.acceptance.harness import FRIEND, OWNER, STRANGER, RelayProcess, environment
from tests.acceptance.town import Town
from tests.standins.anthropic import AnthropicStandIn
from tests.standins.telegram import Chat, StoredMessage, TelegramStandIn, Upload, User

pytestmark = pytest.mark.asyncio(loop_scope="module")

OTHER_ADMIN, LATE_ADMIN = 1003, 1004
ADMINS_ONLY = "That is for the people who run me."


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared() -> AsyncIterator[Town]:
    """A bot of this file's own: a soul is everybody's."""
    folder = Path(tempfile.mkdtemp(prefix="relay-soul-"))
    async with TelegramStandIn() as tg, AnthropicStandIn() as model:
        for number, name in ((OWNER, "Ada"), (OTHER_ADMIN, "Olga"), (FRIEND, "Ben"), (STRANGER, "Sam")):
            tg.dm(tg.user(number, name))
        admins = f"{OWNER},{OTHER_ADMIN},{LATE_ADMIN}"
        relay = RelayProcess(environment(tg, model, folder / "data", RELAY_ADMINS=admins), folder / "relay.log")
        await relay.start()
        try:
            await tg.wait_polling(timeout=30)
            yield Town(tg, model, relay, folder / "data")
        finally:
            await relay.stop()
            output = relay.output()
            shutil.rmtree(folder, ignore_errors=True)
        assert "Traceback" not in output


@pytest.fixture
def town(shared: Town) -> Town:
    shared.tg.clear_faults()
    shared.model.reset()
    return shared


def people(town: Town) -> tuple[User, User, User]:
    """Two who run the bot, and one who may use it."""
    return town.tg.user(OWNER), town.tg.user(OTHER_ADMIN), town.tg.user(FRIEND)


def own(town: Town, user: User) -> Chat:
    return town.tg.dm(user)


async def asks(town: Town, user: User, text: str, **more: object) -> StoredMessage:
    """The bot's first answer in the person's private chat."""
    return await town.ask(own(town, user), user, text, **more)  # type: ignore[arg-type]


async def pressed(town: Town, user: User, message: StoredMessage, label: str) -> tuple[str, StoredMessage]:
    """Presses a button that makes the bot say something: its toast, and what it says."""
    chat = town.tg.chat(message.chat_id)
    last = max(chat.messages)
    toast = await town.press(chat, user, message, label)
    return toast, await town.tg.wait_reply(chat, last)


async def replied(
    town: Town, user: User, question: StoredMessage, text: str, until: str, **more: object
) -> StoredMessage:
    """Answers a question of the bot's. It knows it as one once it has stored that it was sent: a moment after."""
    chat = town.tg.chat(question.chat_id)
    for _ in range(50):
        told = await town.ask(chat, user, text, topic=question.topic_id, reply_to=question, **more)  # type: ignore[arg-type]
        if until in told.text:
            return told
        await asyncio.sleep(0.2)
    raise AssertionError(told.text)


async def soul_now(town: Town) -> str:
    """The soul that the next turn gets."""
    ben = town.tg.user(FRIEND)
    word = f"who are you ({len(town.model.requests)})?"
    await asks(town, ben, word)
    text = town.prompt(word).body["system"][0]["text"]
    return str(text.partition("\n\n# Memory")[0])


def marks(message: StoredMessage) -> list[tuple[str, str]]:
    units = message.text.encode("utf-16-le")
    return [
        (one["type"], units[2 * one["offset"] : 2 * (one["offset"] + one["length"])].decode("utf-16-le"))
        for one in message.entities
        if one["type"] in ("bold", "strikethrough")
    ]


async def test_the_menus_offer_what_works_where(town: Town) -> None:
    def menu(**scope: object) -> set[str]:
        return {one["command"] for one in town.tg.commands.get((json.dumps(scope, sort_keys=True), ""), [])}

    await town.tg.wait_for(lambda: menu(type="chat", chat_id=OTHER_ADMIN))
    everybody = menu(type="all_private_chats")
    assert {"start", "help", "memory", "new"} <= everybody
    assert not {"soul", "persona"} & everybody
    assert not {"soul", "persona", "start"} & menu(type="all_group_chats")
    assert {"help", "new", "status"} <= menu(type="all_group_chats")
    for admin in (OWNER, OTHER_ADMIN):
        assert menu(type="chat", chat_id=admin) >= everybody | {"soul", "persona"}
    assert menu(type="default") == set()
    assert town.tg.calls("deleteMyCommands")
    # one admin had not pressed Start: Telegram did not know that chat, and the others got theirs all the same
    assert not menu(type="chat", chat_id=LATE_ADMIN)
    late = town.tg.user(LATE_ADMIN, "Lea")
    assert "Hello Lea" in (await asks(town, late, "/start")).text
    await town.tg.wait_for(lambda: "soul" in menu(type="chat", chat_id=LATE_ADMIN))


async def test_only_those_who_run_the_bot_change_it(town: Town) -> None:
    ada, _, ben = people(town)
    before = await soul_now(town)
    for command in ("/soul", "/soul set You obey Ben.", "/soul edit", "/soul history", "/persona You obey Ben."):
        assert (await asks(town, ben, command)).text == ADMINS_ONLY
    document = Upload(b"You obey Ben.", "soul.md", "text/markdown")
    assert (await asks(town, ben, "/soul set", document=document)).text == ADMINS_ONLY
    # in a group, another member's taps do nothing, and a stranger's neither
    group = town.group(ada, ben, town.tg.user(STRANGER))
    shown = await town.ask(group, ada, "/soul")
    draft = await town.ask(group, ada, "/soul set", reply_to=await town.tg.say(group, ben, "You obey Ben."))
    for message, label in ((shown, "Edit"), (shown, "History"), (draft, "Activate"), (draft, "Discard")):
        assert await town.press(group, ben, message, label) == ADMINS_ONLY
    asked_ben = await town.tg.say(group, STRANGER, "x")
    town.tg.press(group, STRANGER, draft, draft.buttons["✅ Activate"])
    await town.tg.wait_for(lambda: not town.tg.pending_updates)
    assert await soul_now(town) == before
    assert max(town.tg.chat(group).messages) == asked_ben.message_id
    assert await town.press(group, ada, draft, "Discard") == "Draft discarded."
    assert await soul_now(town) == before


async def test_a_typed_soul_acts_from_the_next_turn_and_goes_back_by_a_button(town: Town) -> None:
    ada, olga, _ = people(town)
    await asks(town, ada, "/soul set You are Captain Nemo. Be brief.")
    shown = await asks(town, ada, "/soul set You are Captain Nemo. Be very brief.\nSpeak French.")
    number = int(shown.text.split("version ")[1].split()[0])
    assert f"Soul version {number} is active" in shown.text
    assert "tokens" in shown.text
    assert marks(shown)[-2:] == [("bold", "very"), ("bold", "Speak French.")]
    assert await soul_now(town) == "You are Captain Nemo. Be very brief.\nSpeak French."
    assert "already" in (await asks(town, ada, "/soul set You are Captain Nemo. Be very brief.\nSpeak French.")).text
    _, told = await pressed(town, olga, shown, f"Back to version {number - 1}")
    assert f"Soul version {number + 1} is active" in told.text
    assert await soul_now(town) == "You are Captain Nemo. Be brief."
    # pressed again, it finds nothing to do
    assert "already" in await town.press(town.tg.chat(told.chat_id), olga, shown, f"Back to version {number - 1}")
    active = await asks(town, ada, "/soul")
    assert f"Soul, version {number + 1} (active)\nby Olga · 20" in active.text
    assert f"restored from version {number - 1}" in active.text
    assert active.text.endswith("\n\nYou are Captain Nemo. Be brief.")


async def test_what_is_replied_to_becomes_a_draft_that_outlives_a_restart(town: Town) -> None:
    ada, olga, ben = people(town)
    await asks(town, ada, "/soul set You are calm.")
    said = await town.tg.say(own(town, ada), ada, "You are calm and *wild*\u202e.", forward_from=ben)
    await town.tg.wait_reply(own(town, ada), said)
    draft = await asks(town, ada, "/soul set", reply_to=said)
    assert "Nothing has changed yet" in draft.text
    assert marks(draft)[-2:] == [("strikethrough", "calm."), ("bold", "calm and *wild*⟨U+202E⟩.")]
    assert await soul_now(town) == "You are calm."
    await town.relay.kill()
    await town.relay.start()
    chat = own(town, ada)
    assert "is active from the next message on" in await town.press(chat, ada, draft, "Activate")
    assert await soul_now(town) == "You are calm and *wild*\u202e."
    assert any("Activated as version" in label for label in draft.buttons)
    # an old client still shows the buttons: pressing them again does no harm
    number = next(iter(draft.buttons)).split()[-1]
    for data in (f"sx:{_draft_id(town)}", f"sa:{_draft_id(town)}:1", "sa:x:y", "sa:9:9:9", "sr:0", "sr:99999999999999"):
        query = town.tg.press(chat, olga, draft, data)
        await town.tg.wait_for(lambda query=query: town.tg.answers.get(query))
    assert await soul_now(town) == "You are calm and *wild*\u202e."
    assert f"version {number} " in (await asks(town, ada, "/soul")).text


def _draft_id(town: Town) -> int:
    """The latest draft, as the data of its button named it."""
    sent = [call.params for call in town.tg.calls("sendMessage") if '"sa:' in json.dumps(call.params)]
    return int(json.dumps(sent[-1]).split('"sa:')[1].split(":")[0])


async def test_a_document_becomes_a_draft(town: Town) -> None:
    ada, _, _ = people(town)
    await asks(town, ada, "/soul set You are somebody.")
    text = "You are a gardener.\n\n- Roses first\n- Then weeds"
    first = await asks(town, ada, "/soul set", document=Upload(text.encode(), "garden.md", "text/markdown"))
    assert "Roses first" in first.text
    assert await town.press(own(town, ada), ada, first, "Discard") == "Draft discarded."
    assert list(first.buttons) == ["✖ Discarded"]
    sent = await town.tg.say(own(town, ada), ada, document=Upload(text.encode(), "garden.txt", "text/plain"))
    await town.tg.wait_reply(own(town, ada), sent)
    town.tg.fault("download", "500")
    assert "couldn't download" in (await asks(town, ada, "/soul set", reply_to=sent)).text
    second = await asks(town, ada, "/soul set", reply_to=sent)
    await town.press(own(town, ada), ada, second, "Activate")
    assert await soul_now(town) == text
    assert "from the document garden.txt" in (await asks(town, ada, "/soul")).text
    broken = Upload(b"\xff\xfe\xfa", "x.txt", "text/plain")
    assert "isn't UTF-8 text" in (await asks(town, ada, "/soul set", document=broken)).text
    large = Upload(b"x", "x.txt", "text/plain", size=100_000)
    assert "The limit is 64 KB" in (await asks(town, ada, "/soul set", document=large)).text
    long = Upload(b"word " * 5000, "x.txt", "text/plain")
    assert "at most 4000" in (await asks(town, ada, "/soul set", document=long)).text


async def test_editing_asks_and_the_answer_becomes_a_draft(town: Town) -> None:
    ada, olga, _ = people(town)
    chat = own(town, ada)
    await asks(town, ada, "/soul set You are a baker.\nUse ```code```.")
    shown = await asks(town, ada, "/soul")
    _, question = await pressed(town, ada, shown, "Edit")
    assert question.text.startswith("✎ soul #")
    assert question.text.endswith("You are a baker.\nUse ```code```.")
    asked = [call for call in town.tg.calls("sendMessage", chat.id) if call.result == question.raw][-1]
    assert asked.params["reply_markup"]["force_reply"]
    draft = await replied(town, ada, question, "You are a good baker.\nUse ```code```.", "A draft")
    assert marks(draft)[-1] == ("bold", "good")
    # meanwhile somebody else changes it: it is not overwritten unseen
    await asks(town, olga, "/soul set You are a miller.")
    toast, again = await pressed(town, ada, draft, "Activate")
    assert "has become active in the meantime" in toast
    assert not draft.buttons
    assert "is active now" in again.text
    assert ("strikethrough", "miller.") in marks(again)
    assert await soul_now(town) == "You are a miller."
    assert "is active" in await town.press(chat, ada, again, "Activate")
    assert await soul_now(town) == "You are a good baker.\nUse ```code```."
    # the answer may be a document, and it may come late
    document = Upload(b"You are a cook.", "cook.md", "text/markdown")
    late = await replied(town, ada, question, "", "A draft", document=document)
    assert "is active now" in late.text
    assert ("bold", "cook.") in marks(late)
    assert "edited" in (await asks(town, ada, "/soul")).text


async def test_a_long_soul_takes_several_messages_and_its_question_stays_one(town: Town) -> None:
    ada, _, _ = people(town)
    chat = own(town, ada)
    text = "\n\n".join(f"Paragraph {number}: you are kind and you take your time." for number in range(90))
    first = await asks(town, ada, "/soul set", document=Upload(text.encode(), "long.md", "text/markdown"))
    parts = await town.tg.wait_for(
        lambda: [m for m in town.tg.messages(chat) if m.message_id >= first.message_id and m.from_bot][1:]
    )
    assert not first.buttons
    assert "✅ Activate" in parts[-1].buttons
    await town.press(chat, ada, parts[-1], "Activate")
    assert await soul_now(town) == text
    question = await asks(town, ada, "/soul edit")
    assert question.text.endswith("It's in this document.")
    draft = await replied(town, ada, question, "You are short.", "A draft")
    assert ("bold", "You are short.") in marks(draft)


async def test_the_history_is_paged_and_every_version_comes_back(town: Town) -> None:
    ada, _, _ = people(town)
    chat = own(town, ada)
    for number in range(6):
        await asks(town, ada, f"/soul set You are soul {number}.\n\nAnd number {number} it is.")
    history = await asks(town, ada, "/soul history")
    assert "page 1 of" in history.text
    newest = int(history.text.split("Soul, version ")[1].split()[0])
    listed = [f"Soul, version {newest - back}" for back in range(5)]
    assert [history.text.index(line) for line in listed] == sorted(history.text.index(line) for line in listed)
    assert "You are soul 5. And number 5 it is." in history.text
    assert f"↩ Restore {newest}" not in history.buttons
    await town.press(chat, ada, history, "Older")
    await town.tg.wait_for(lambda: "page 2 of" in history.text)
    assert f"Soul, version {newest - 5}\n" in history.text
    _, whole = await pressed(town, ada, history, f"View {newest - 5}")
    assert whole.text.endswith("\n\nYou are soul 0.\n\nAnd number 0 it is.")
    _, told = await pressed(town, ada, whole, f"Restore {newest - 5}")
    assert f"Soul version {newest + 1} is active" in told.text
    assert await soul_now(town) == "You are soul 0.\n\nAnd number 0 it is."
    assert f"version {newest + 2} is active" in (await asks(town, ada, f"/soul restore {newest - 4}")).text
    assert await soul_now(town) == "You are soul 1.\n\nAnd number 1 it is."
    assert "There is no version 4321" in (await asks(town, ada, "/soul restore 4321")).text
    first = await asks(town, ada, f"/soul history {-(-(newest + 2) // 5)}")
    assert "the soul that Relay starts with" in first.text


# Personas


async def test_a_persona_acts_in_its_topic_only(town: Town) -> None:
    ada, olga, ben = people(town)
    forum = town.forum(ada, olga, ben)
    bot = f"@{town.tg.bot.username}"
    spanish, other = (town.tg.topic(forum, name, ada) for name in ("Spanish", "Other"))
    told = await town.ask(forum, ada, "/persona You are my Spanish teacher.", topic=spanish)
    assert "From the next message on" in told.text
    assert "tokens" in told.text
    for word in ("uno", "dos"):
        await town.ask(forum, ben, f"{bot} hola {word}", topic=spanish)
    first, second = town.prompt("hola uno"), town.prompt("hola dos")
    assert "# IN THIS CONVERSATION\nYou are my Spanish teacher." in first.system_text
    assert first.body["system"] == second.body["system"], "the cached prefix stays the same"
    assert second.usage["cache_read_input_tokens"] > 0
    for topic in (other, None):
        await town.ask(forum, ben, f"{bot} hello in {topic}", topic=topic)
        assert "Spanish" not in town.prompt(f"hello in {topic}").system_text
    await asks(town, ada, "hello in private")
    assert "Spanish" not in town.prompt("hello in private").system_text
    # others see no button work, nor may they set one
    shown = await town.ask(forum, ada, "/persona", topic=spanish)
    assert "by you · 20" in shown.text
    assert shown.text.endswith("You are my Spanish teacher.")
    assert await town.press(forum, ben, shown, "Clear") == ADMINS_ONLY
    assert (await town.ask(forum, ben, "/persona I am the boss", topic=spanish)).text == ADMINS_ONLY
    # another admin clears it, and the first one brings it back
    _, cleared = await pressed(town, olga, shown, "Clear")
    assert "no role here" in cleared.text
    assert cleared.topic_id == spanish
    await town.ask(forum, ben, f"{bot} cleared now?", topic=spanish)
    assert "Spanish" not in town.prompt("cleared now?").system_text
    assert "nothing to clear" in (await town.ask(forum, ada, "/persona clear", topic=spanish)).text
    await pressed(town, ada, cleared, "Undo")
    await town.ask(forum, ben, f"{bot} back again?", topic=spanish)
    assert "Spanish teacher" in town.prompt("back again?").system_text


async def test_a_persona_in_a_private_chat_is_edited_and_cleared(town: Town) -> None:
    ada, _, ben = people(town)
    chat = own(town, ada)
    topic = town.tg.topic(chat, "Cooking", ada)
    assert "I don't have a role here" in (await town.ask(chat, ada, "/persona", topic=topic)).text
    await town.ask(chat, ada, "/persona You are a cook.\nYou love salt.", topic=topic)
    shown = await town.ask(chat, ada, "/persona", topic=topic)
    _, question = await pressed(town, ada, shown, "Edit")
    assert question.text.startswith("✎ persona #")
    assert question.text.endswith("You are a cook.\nYou love salt.")
    told = await replied(town, ada, question, "You are a cook.\nYou love pepper.", "next message")
    assert marks(told) == [("strikethrough", "salt."), ("bold", "pepper.")]
    await town.ask(chat, ada, "what is missing?", topic=topic)
    assert "You love pepper." in town.prompt("what is missing?").system_text
    # a button that hangs under an earlier version does nothing to this one, also after a restart
    await town.relay.kill()
    await town.relay.start()
    assert "changed since" in await town.press(chat, ada, shown, "Clear")
    assert "changed since" in await town.press(chat, ada, shown, "Edit")
    await town.ask(chat, ada, "and now?", topic=topic)
    assert "You love pepper." in town.prompt("and now?").system_text
    assert "Cleared" in (await town.ask(chat, ada, "/persona clear", topic=topic)).text
    await town.ask(chat, ada, "just you?", topic=topic)
    assert "IN THIS CONVERSATION" not in town.prompt("just you?").system_text
    assert "at most 1000" in (await town.ask(chat, ada, "/persona " + "salt " * 801, topic=topic)).text
    assert (await asks(town, ben, "/persona")).text == ADMINS_ONLY
