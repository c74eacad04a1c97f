"""Whoever is not let in gets nothing, whatever they do: no word, no model call, no trace. How they may
ask to be let in is in test_people.py."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from relay.surfaces.chat import COMMANDS
from tests.acceptance.harness import OWNER, STRANGER
from tests.acceptance.house import House, open_house
from tests.acceptance.town import Town
from tests.standins.telegram import Chat, StoredMessage, User
from tests.standins.telegram.everything import every_update

pytestmark = pytest.mark.asyncio(loop_scope="module")

WORD, NAME, KNOWN = "xylophagous", "Zebulonia", "quincunx"
COMMANDS = sorted(name for name, verb in COMMANDS.items() if "chat" in verb.surfaces)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared() -> AsyncIterator[House]:
    """A house in which nobody may ask to be let in."""
    async with open_house(RELAY_PAIRING="off") as house:
        yield house


@pytest.fixture(scope="module")
def town(shared: House) -> Town:
    """The file's bot; nobody but its owner and the stranger acts."""
    return Town(shared.tg, shared.model, shared.relay, shared.data)


def ours(town: Town, chat: Chat) -> list[tuple[int, str, str]]:
    """All that the bot shows in a chat, with its buttons."""
    return [(one.message_id, one.text, str(one.buttons)) for one in town.tg.messages(chat) if one.from_bot]


async def shown_in(town: Town, group: Chat, olga: User) -> list[StoredMessage]:
    """What the owner asks for in the group that has buttons or wants a reply."""
    at = f"@{town.tg.bot.username}"
    town.says("I collect stamps", "Fine. [LEARN: collects stamps]")
    asked = [
        f"{at} I collect stamps, the {KNOWN} ones", f"/soul{at}", f"/soul{at} history", f"/persona{at} A pirate",
        f"/answer{at}", f"/link{at}", f"/search{at} {KNOWN}", f"/sessions{at}", f"/summary{at}",
    ]  # fmt: skip
    shown = [await town.ask(group, olga, text) for text in asked]
    draft = await town.tg.say(group, olga, "Another soul altogether.")
    shown.append(await town.ask(group, olga, f"/soul{at} set", reply_to=draft))
    return shown


async def test_a_stranger_is_not_answered_and_nothing_is_kept(town: Town) -> None:
    olga, sam = town.tg.user(OWNER), town.tg.user(STRANGER, NAME)
    dm, own = town.tg.dm(sam), town.tg.dm(olga)
    group, at = town.group(olga, sam), f"@{town.tg.bot.username}"
    shown = await shown_in(town, group, olga)
    questions = [await town.ask(group, olga, f"/soul{at} edit")]
    before, calls, requests = ours(town, group), len(town.tg.log), town.asked

    said = []
    for name in COMMANDS:
        for argument in ("", f" {WORD} {name}"):
            if name != "start":
                said.append(await town.tg.say(dm, sam, f"/{name}{argument}"))
            said.append(await town.tg.say(group, sam, f"/{name}{at}{argument}"))
            await town.tg.say(group, sam, f"/{name}{argument}")
    for chat in (dm, group):
        said.append(await town.tg.say(chat, sam, f"{at} {WORD}, please answer"))
        await town.tg.say(chat, sam, f"{WORD} in a caption", photo=True)
        await town.tg.say(chat, sam, "/soul set", document=f"{WORD} in a file".encode())
        await town.tg.say(chat, sam, f"{WORD} forwarded", forward_from=olga)
    for one in (*questions, *shown):
        await town.tg.say(group, sam, f"{WORD} in reply", reply_to=one)
        town.tg.react(group, sam, one, "👍")
    for one in said:
        town.tg.edit(one.chat_id, one, f"{at} {WORD} edited")
    town.tg.stop_generation(dm, 1)
    other = town.tg.group(next(town.groups), f"{WORD} club", [sam])
    town.tg.add_member(other, town.tg.bot, by=sam)
    await town.tg.say(other, sam, f"{at} {WORD} in another group")
    await town.tg.wait_for(lambda: not town.tg.pending_updates)

    # Each press stops waiting, and says nothing.
    pressed = [(one, data) for one in shown for data in one.buttons.values()]
    assert {data.split(":")[0] for _, data in pressed} >= {"se", "sh", "sv", "sa", "sx", "pc", "ga", "gl", "qo", "ko"}
    for one, data in (*pressed, (shown[0], f"{WORD}:1"), (shown[0], "")):
        query = town.tg.press(group, sam, one, data)
        answer = await town.tg.wait_for(lambda query=query: town.tg.answers.get(query))
        assert set(answer) == {"callback_query_id"}, (data, answer)

    # What comes after all that is answered after all that.
    assert "memor" in (await town.ask(own, olga, "/status")).text
    assert "Soul, version 1" in (await town.ask(own, olga, "/soul")).text
    assert ours(town, group) == before
    assert ours(town, dm) == ours(town, other) == []
    there = [
        record.method for record in town.tg.log[calls:] if record.params.get("chat_id") in (dm.id, group.id, other.id)
    ]
    assert there == []
    assert town.asked == requests
    assert not town.keeps(WORD)
    assert not town.keeps(NAME)
    assert town.keeps(KNOWN), "what the owner says is found in this way"


async def test_no_type_of_update_lets_a_stranger_in(town: Town) -> None:
    word, olga, eve = "zyzzyvas", town.tg.user(OWNER), town.tg.user(STRANGER + 1, "Quixotica")
    dm, own, group = town.tg.dm(eve), town.tg.dm(olga), town.group(olga, eve)
    calls, requests = len(town.tg.log), town.asked
    updates = list(every_update(eve, dm, group, word))
    assert len({kind for update in updates for kind in update}) > 25
    for update in updates:
        town.tg.push(update)
    await town.tg.wait_for(lambda: not town.tg.pending_updates)
    assert "memor" in (await town.ask(own, olga, "/status")).text, "what comes after all that is answered after it"
    assert ours(town, dm) == ours(town, group) == []
    others = [
        one.method
        for one in town.tg.log[calls:]
        if one.params.get("chat_id") != own.id
        and not (one.method == "deleteMyCommands" and str(eve.id) not in str(one.params))  # of those who are known
    ]
    assert set(others) <= {"getUpdates", "answerCallbackQuery", "getChatMemberCount", "getMe"}
    assert not [
        one.params for one in town.tg.log[calls:] if one.method == "answerCallbackQuery" and "text" in one.params
    ]
    assert town.asked == requests
    assert not town.keeps(word)
    assert not town.keeps("Quixotica")


async def test_what_a_known_person_does_elsewhere_is_no_question_either(town: Town) -> None:
    """In channels, through other bots, in shops and business chats: nothing of it is for the bot, or answered."""
    word, olga = "syzygies", town.tg.user(OWNER)
    own, group = town.tg.dm(olga), town.group(olga, town.tg.user(STRANGER + 2, "Sid"))
    calls, requests = len(town.tg.log), town.asked
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
            town.tg.push(update)
    await town.tg.wait_for(lambda: not town.tg.pending_updates)
    assert "memor" in (await town.ask(own, olga, "/status")).text
    assert town.asked == requests
    assert [one.method for one in town.tg.log[calls:] if one.method.startswith("answer")] == []
    assert not town.keeps(word)
