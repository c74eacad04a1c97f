"""/search: what was said is found again, opened where it was said, by nobody but those who may see it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.conftest import World
from tests.acceptance.harness import OWNER
from tests.acceptance.test_terminal import relay
from tests.acceptance.town import SESSION, Town
from tests.pictures import picture
from tests.standins.telegram import Chat, StoredMessage, User

pytestmark = SESSION


def bold(message: StoredMessage) -> list[str]:
    """What a message shows in bold."""
    units = message.text.encode("utf-16-le")
    return [
        units[2 * one["offset"] : 2 * (one["offset"] + one["length"])].decode("utf-16-le")
        for one in message.entities
        if one["type"] == "bold"
    ]


async def test_words_are_found_in_every_topic_and_open_where_they_were_said(town: Town) -> None:
    ada, dm = town.person()
    topic = town.tg.topic(dm, "Boiler & Co", ada)
    await town.ask(dm, ada, "the weather is fine", "Indeed.")
    for number in range(4):
        await town.ask(dm, ada, f"small talk {number}", f"chat {number}", topic=topic)
    await town.ask(dm, ada, "our *boiler* is a [Vaillant](ecoTEC)", "Noted.", topic=topic)
    await town.ask(dm, ada, "small talk 4", "chat 4", topic=topic)
    asked = town.asked
    found = await town.ask(dm, ada, "/search vaillant BOILER")
    assert town.asked == asked
    assert "1 found" in found.text
    assert "our *boiler* is a [Vaillant](ecoTEC)" in found.text
    assert "· you · Boiler & Co" in found.text
    assert {"boiler", "Vaillant"} <= set(bold(found))
    assert list(found.buttons) == ["1"]
    before = found.text
    await town.press(dm, ada, found, "1")
    assert found.text.startswith("Boiler & Co\n")
    assert [line for line in found.text.splitlines() if "chat" in line or "talk" in line or "boiler" in line] == [
        "chat 2", "small talk 3", "chat 3", "our *boiler* is a [Vaillant](ecoTEC)", "small talk 4", "chat 4",
    ]  # fmt: skip
    assert list(found.buttons) == ["‹ Earlier", "‹ Back to the results"]
    await town.press(dm, ada, found, "Earlier")
    assert "small talk 0" in found.text
    assert "boiler" not in found.text
    assert list(found.buttons) == ["Later ›", "‹ Back to the results"]
    await town.press(dm, ada, found, "Back")
    assert found.text == before
    assert all(call.ok for call in town.tg.calls("editMessageText", dm.id))


async def test_names_of_topics_and_groups_and_captions_are_only_words(town: Town) -> None:
    ada, dm = town.person()
    odd = "</b><script>alert(1)</script> '; drop table relay.message; -- %s $1 \\ {0}"
    forum = town.tg.group(next(town.groups), odd, [ada], forum=True)
    for chat in (forum, dm):
        topic = town.tg.topic(chat, f"*{odd}* &amp;", ada)
        await town.ask(chat, ada, f"{odd} zither", "Noted.", topic=topic, photo=picture())
        assert f"{odd} zither" in town.prompt("zither").last_text
        found = await town.ask(chat, ada, f"/search zither {odd[:11]}", topic=topic)
        assert odd[:60] in found.text
        await town.press(chat, ada, found, "1")
        assert odd[:60] in found.text
    assert all(call.ok for call in town.tg.log if call.params.get("chat_id") in (dm.id, forum.id))


async def test_results_come_in_pages_within_one_message(town: Town) -> None:
    ada, dm = town.person()
    for number in range(8):
        await town.ask(dm, ada, f"penguin {number} " + "waddles along " * 60, "ok")
    found = await town.ask(dm, ada, "/search penguin")
    assert "8 found, 1–6" in found.text
    assert list(found.buttons) == ["1", "2", "3", "4", "5", "6", "More ›"]
    assert len([m for m in town.tg.messages(dm) if m.message_id >= found.message_id]) == 1
    await town.press(dm, ada, found, "More")
    assert "8 found, 7–8" in found.text
    assert list(found.buttons) == ["7", "8", "‹ Previous"]
    await town.press(dm, ada, found, "8")
    assert "penguin" in found.text
    await town.press(dm, ada, found, "Back")
    assert "7–8" in found.text
    await town.press(dm, ada, found, "Previous")
    assert "1–6" in found.text


async def test_filters_narrow_it_and_a_wrong_one_is_named(town: Town) -> None:
    ada, dm = town.person()
    topic = town.tg.topic(dm, "Trips", ada)
    await town.ask(dm, ada, "a kayak in Norway", "A kayak, how nice.")
    await town.ask(dm, ada, "the kayak has a leak", "Mend it.", topic=topic)

    async def search(text: str, **more: int) -> str:
        return (await town.ask(dm, ada, f"/search {text}", **more)).text

    assert "3 found" in await search("kayak")
    assert "How nice".lower() in await search("kayak from:you")
    assert "2 found" in await search("kayak from:me")
    assert "leak" in await search("kayak in:trips")
    assert "1 found" in await search("kayak in:here from:me")
    assert "leak" in await search("kayak in:here", topic=topic)
    assert "1 found" in await search("“kayak has”")
    assert "3 found" in await search("kayak after:yesterday")
    assert "didn't find anything" in await search("kayak before:yesterday")
    assert "before:soon is not a date I know" in await search("kayak before:soon")
    assert "know a topic or group called Nowhere" in await search("kayak in:Nowhere")
    assert "No message has all of these words" in await search("kayak volcano")
    assert "didn't find anything" in await search("volcano")
    assert "What should I look for?" in await search("")
    assert "nearly every message" in await search("what is it")
    assert "4 found" in await search("after:today")


async def test_an_answer_that_was_replaced_is_not_found(town: Town) -> None:
    ada, dm = town.person()
    town.model.script(["a poor pomegranate", "a better banana"])
    await town.ask(dm, ada, "which fruit?")
    await town.ask(dm, ada, "/retry")
    assert "didn't find anything" in (await town.ask(dm, ada, "/search pomegranate")).text
    assert "a better banana" in (await town.ask(dm, ada, "/search banana")).text


async def test_what_is_known_is_found_and_opened_too(town: Town) -> None:
    ada, dm = town.person()
    learned = await town.ask(dm, ada, "my aunt keeps llamas", "Lovely. [LEARN: Has an aunt who keeps llamas]")
    assert "Has an aunt" in learned.text
    found = await town.ask(dm, ada, "/search aunt llamas")
    assert "2 found" in found.text
    number = next(line.split(" ")[0] for line in found.text.splitlines() if "🧠 memory #" in line)
    await town.press(dm, ada, found, number)
    assert found.text.splitlines()[2] == "Has an aunt who keeps llamas"
    assert "You said, " in found.text
    assert "my aunt keeps llamas" in found.text
    assert [label.split(" #")[0] for label in found.buttons] == ["Open", "‹ Back to the results"]
    await town.press(dm, ada, found, "Back")
    assert "2 found" in found.text
    await town.press(dm, ada, found, number)
    await town.press(dm, ada, found, "Open")
    assert "Where from" in found.buttons


# Who may see it


async def forged(town: Town, chat: Chat, user: User, under: StoredMessage, data: str) -> str:
    """A press whose data somebody made up; what the bot says to it."""
    query = town.tg.press(chat, user, under, data)
    return str((await town.tg.wait_for(lambda: town.tg.answers.get(query))).get("text") or "")


async def test_a_groups_words_are_found_in_it_and_private_ones_are_not(town: Town) -> None:
    (ada, dm), (ben, ben_dm) = town.person("Ada"), town.person("Ben")
    group, bot = town.forum(ada, ben), f"@{town.tg.bot.username}"
    topic = town.tg.topic(group, "Camping", ada)
    await town.ask(dm, ada, "the tent secretly leaks", "I see.")
    said = await town.tg.say(group, ada, f"{bot} the tent is green", topic=topic)
    await town.tg.wait_reply(group, said, topic=topic)
    for number in range(7):
        await town.ask(group, ben, f"{bot} tent peg {number}", topic=topic)
    found = await town.ask(group, ada, f"/search@{bot[1:]} tent", topic=topic)
    assert "secretly" not in found.text
    assert "16 found" in found.text, "what was said, and what I said to it"
    found = await town.ask(group, ada, f"/search@{bot[1:]} green tent from:ada", topic=topic)
    assert "Ada · Forum › Camping" in found.text
    links = [one["url"] for one in found.entities if one["type"] == "text_link"]
    assert links == [f"https://t.me/c/{-1_000_000_000_000 - group.id}/{topic}/{said.message_id}"]
    # anybody of the group may leaf through it
    await town.press(group, ben, found, "1")
    assert "tent peg 0" in found.text
    # nobody may elsewhere, and nobody outside
    hello = await town.ask(ben_dm, ben, "hello")
    private = await town.ask(dm, ada, "/search tent")
    assert "secretly" in private.text
    assert "green" not in private.text
    for data in [*private.buttons.values(), *found.buttons.values()]:
        assert "Ask again" in await forged(town, ben_dm, ben, hello, data)
    assert "Ask again" in await forged(town, group, ben, found, private.buttons["1"])
    assert "secretly" not in "".join(m.text for chat in (group, ben_dm) for m in town.tg.messages(chat))
    town.tg.remove_member(group, ben, by=ada)
    for data in found.buttons.values():
        assert "Ask again" in await forged(town, group, ben, found, data)


async def test_what_the_owner_found_alone_does_not_open_once_others_are_there(town: Town) -> None:
    (ada, dm), (ben, _) = town.person("Ada"), town.person("Ben")
    await town.ask(dm, ada, "my diary is under the floorboards", "I see.")
    forum = town.forum(ada)
    found = await town.ask(forum, ada, "/search diary")
    assert "floorboards" in found.text
    town.tg.add_member(forum, ben, by=ada)
    await town.ask(forum, ben, f"@{town.tg.bot.username} hello")
    assert "Ask again" in await town.press(forum, ben, found, "1")
    assert "Ask again" in await town.press(forum, ada, found, "1")


@pytest.mark.parametrize(
    "data", ["qp", "qp:1", "qp:x:y", "qp:99999999999999999999:0", "qo:1:2:3", "qc:0:0:0:z", "qp:0:-1"]
)
async def test_odd_buttons_do_nothing(town: Town, data: str) -> None:
    ada, dm = town.person()
    reply = await town.ask(dm, ada, "hello")
    assert await forged(town, dm, ada, reply, data)
    assert reply.text == "You said: hello"


@pytest.mark.asyncio(loop_scope="function")
async def test_its_buttons_outlive_a_restart(world: World) -> None:
    for number in range(8):
        said = await world.tg.say(world.dm, world.owner, f"a zebra crossing {number}")
        await world.tg.wait_reply(world.dm, said)
    said = await world.tg.say(world.dm, world.owner, "/search zebra from:me")
    found = await world.tg.wait_reply(world.dm, said)
    assert "8 found, 1–6" in found.text
    await world.relay.kill()
    await world.relay.start()
    for label, seen in (("More ›", "7–8"), ("8", "zebra crossing"), ("‹ Back to the results", "7–8")):
        await world.tg.tap(world.dm, world.owner, found, label)
        await world.tg.wait_for(lambda seen=seen, label=label: seen in found.text and label not in found.buttons)


async def test_the_terminal_finds_it_too(town: Town, tmp_path: Path) -> None:
    olga = town.tg.user(OWNER)
    dm = town.tg.dm(olga)
    await town.ask(dm, olga, "the harpsichord needs tuning", "Call somebody.")
    code, shown = await relay(town.relay.environment, tmp_path, "search", "harpsichord", "from:me")
    assert code == 0
    assert "1 found" in shown
    assert "the harpsichord needs tuning" in shown
    assert "you" in shown
