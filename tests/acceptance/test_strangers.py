"""Strangers get no message and no model call, whatever they do, and leave no trace. How they may ask to be let in is in
test_people.py."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from relay.surfaces.chat import COMMANDS
from tests.acceptance.harness import OWNER, STRANGER
from tests.acceptance.shared_bot import SharedBot
from tests.acceptance.shared_relay import SharedRelay, open_relay
from tests.standins.telegram import Chat, StoredMessage, User
from tests.standins.telegram.everything import every_update

pytestmark = pytest.mark.asyncio(loop_scope="module")

WORD, NAME, KNOWN = "xylophagous", "Zebulonia", "quincunx"
MENUS = frozenset({"setMyCommands", "deleteMyCommands", "setChatMenuButton"})
COMMANDS = sorted(name for name, verb in COMMANDS.items() if "chat" in verb.surfaces)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def module_relay() -> AsyncIterator[SharedRelay]:
    """A Relay in which nobody may ask to be let in."""
    async with open_relay(RELAY_PAIRING="off") as shared_relay:
        yield shared_relay


@pytest.fixture(scope="module")
def bot(module_relay: SharedRelay) -> SharedBot:
    """The file's bot. Only its owner and the stranger act."""
    return SharedBot(module_relay.tg, module_relay.model, module_relay.relay, module_relay.data)


def ours(bot: SharedBot, chat: Chat) -> list[tuple[int, str, str]]:
    """Returns everything the bot shows in a chat, with its buttons."""
    return [(one.message_id, one.text, str(one.buttons)) for one in bot.tg.messages(chat) if one.from_bot]


async def shown_in(bot: SharedBot, group: Chat, olga: User) -> list[StoredMessage]:
    """Makes the owner ask in the group for messages that have buttons or expect a reply."""
    at = f"@{bot.tg.bot.username}"
    bot.says("I collect stamps", "Fine. [LEARN: collects stamps]")
    asked = [
        f"{at} I collect stamps, the {KNOWN} ones", f"/soul{at}", f"/soul{at} history", f"/persona{at} A pirate",
        f"/answer{at}", f"/link{at}", f"/search{at} {KNOWN}", f"/sessions{at}", f"/summary{at}",
    ]  # fmt: skip
    shown = [await bot.ask(group, olga, text) for text in asked]
    draft = await bot.tg.say(group, olga, "Another soul altogether.")
    shown.append(await bot.ask(group, olga, f"/soul{at} set", reply_to=draft))
    return shown


async def test_a_stranger_is_not_answered_and_nothing_is_stored(bot: SharedBot) -> None:
    olga, sam = bot.tg.user(OWNER), bot.tg.user(STRANGER, NAME)
    dm, own = bot.tg.dm(sam), bot.tg.dm(olga)
    group, at = bot.group(olga, sam), f"@{bot.tg.bot.username}"
    shown = await shown_in(bot, group, olga)
    questions = [await bot.ask(group, olga, f"/soul{at} edit")]
    before, calls, requests = ours(bot, group), len(bot.tg.log), bot.asked

    said = []
    for name in COMMANDS:
        for argument in ("", f" {WORD} {name}"):
            if name != "start":
                said.append(await bot.tg.say(dm, sam, f"/{name}{argument}"))
            said.append(await bot.tg.say(group, sam, f"/{name}{at}{argument}"))
            await bot.tg.say(group, sam, f"/{name}{argument}")
    for chat in (dm, group):
        said.append(await bot.tg.say(chat, sam, f"{at} {WORD}, please answer"))
        await bot.tg.say(chat, sam, f"{WORD} in a caption", photo=True)
        await bot.tg.say(chat, sam, "/soul set", document=f"{WORD} in a file".encode())
        await bot.tg.say(chat, sam, f"{WORD} forwarded", forward_from=olga)
    for one in (*questions, *shown):
        await bot.tg.say(group, sam, f"{WORD} in reply", reply_to=one)
        bot.tg.react(group, sam, one, "👍")
    for one in said:
        bot.tg.edit(one.chat_id, one, f"{at} {WORD} edited")
    bot.tg.stop_generation(dm, 1)
    other = bot.tg.group(next(bot.groups), f"{WORD} club", [sam])
    bot.tg.add_member(other, bot.tg.bot, by=sam)
    await bot.tg.say(other, sam, f"{at} {WORD} in another group")
    await bot.tg.wait_for(lambda: not bot.tg.pending_updates)

    # Each press gets an empty answer, which ends its spinner.
    pressed = [(one, data) for one in shown for data in one.buttons.values()]
    assert {data.split(":")[0] for _, data in pressed} >= {"se", "sh", "sv", "sa", "sx", "pc", "ga", "gl", "qo", "os"}
    for one, data in (*pressed, (shown[0], f"{WORD}:1"), (shown[0], "")):
        query = bot.tg.press(group, sam, one, data)
        answer = await bot.tg.wait_for(lambda query=query: bot.tg.answers.get(query))
        assert set(answer) == {"callback_query_id"}, (data, answer)

    # The bot answers these after everything before.
    assert "memor" in (await bot.ask(own, olga, "/status")).text
    assert "Soul, version 1" in (await bot.ask(own, olga, "/soul")).text
    assert ours(bot, group) == before
    assert ours(bot, dm) == ours(bot, other) == []
    there = [
        record.method for record in bot.tg.log[calls:] if record.params.get("chat_id") in (dm.id, group.id, other.id)
    ]
    assert there == []
    assert bot.asked == requests
    assert not bot.keeps(WORD)
    assert not bot.keeps(NAME)
    assert bot.keeps(KNOWN), "this check finds the owner's words"


async def test_no_type_of_update_gives_a_stranger_access(bot: SharedBot) -> None:
    word, olga, eve = "zyzzyvas", bot.tg.user(OWNER), bot.tg.user(STRANGER + 1, "Quixotica")
    dm, own, group = bot.tg.dm(eve), bot.tg.dm(olga), bot.group(olga, eve)
    calls, requests = len(bot.tg.log), bot.asked
    updates = list(every_update(eve, dm, group, word))
    assert len({kind for update in updates for kind in update}) > 25
    for update in updates:
        bot.tg.push(update)
    await bot.tg.wait_for(lambda: not bot.tg.pending_updates)
    assert "memor" in (await bot.ask(own, olga, "/status")).text, "the bot has processed all earlier updates"
    assert ours(bot, dm) == ours(bot, group) == []
    others = [
        one.method
        for one in bot.tg.log[calls:]
        if one.params.get("chat_id") != own.id
        and not (one.method in MENUS and str(eve.id) not in str(one.params))  # for known people, after the start
    ]
    assert set(others) <= {"getUpdates", "answerCallbackQuery", "getChatMemberCount", "getMe"}
    assert not [
        one.params for one in bot.tg.log[calls:] if one.method == "answerCallbackQuery" and "text" in one.params
    ]
    assert bot.asked == requests
    assert not bot.keeps(word)
    assert not bot.keeps("Quixotica")


async def test_updates_from_channels_and_business_chats_are_not_answered(bot: SharedBot) -> None:
    """Updates from channels, other bots, shops and business chats aren't for the bot and aren't answered."""
    word, olga = "syzygies", bot.tg.user(OWNER)
    own, group = bot.tg.dm(olga), bot.group(olga, bot.tg.user(STRANGER + 2, "Sid"))
    calls, requests = len(bot.tg.log), bot.asked
    said = (
        "message",
        "edited_message",
        "callback_query",
        "message_reaction",
        "my_chat_member",
        "stopped_message_generation",
    )
    for update in every_update(olga, own, group, word):
        if not update.keys() & set(said):
            bot.tg.push(update)
    await bot.tg.wait_for(lambda: not bot.tg.pending_updates)
    assert "memor" in (await bot.ask(own, olga, "/status")).text
    assert bot.asked == requests
    assert [one.method for one in bot.tg.log[calls:] if one.method.startswith("answer")] == []
    assert not bot.keeps(word)
