"""/search finds earlier messages and opens them in place, only for people who may see them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.harness import OWNER
from tests.acceptance.shared_bot import SESSION, SharedBot
from tests.acceptance.test_terminal import relay
from tests.pictures import picture
from tests.standins.telegram import Chat, StoredMessage, User

pytestmark = SESSION


def bold(message: StoredMessage) -> list[str]:
    """Returns the bold parts of a message."""
    units = message.text.encode("utf-16-le")
    return [
        units[2 * one["offset"] : 2 * (one["offset"] + one["length"])].decode("utf-16-le")
        for one in message.entities
        if one["type"] == "bold"
    ]


async def test_search_finds_messages_in_all_topics_and_opens_them_in_place(bot: SharedBot) -> None:
    ada, dm = bot.person()
    topic = bot.tg.topic(dm, "Boiler & Co", ada)
    await bot.ask(dm, ada, "the weather is fine", "Indeed.")
    for number in range(4):
        await bot.ask(dm, ada, f"small talk {number}", f"chat {number}", topic=topic)
    await bot.ask(dm, ada, "our *boiler* is a [Vaillant](ecoTEC)", "Noted.", topic=topic)
    await bot.ask(dm, ada, "small talk 4", "chat 4", topic=topic)
    asked = bot.asked
    found = await bot.ask(dm, ada, "/search vaillant BOILER")
    assert bot.asked == asked
    assert "1 found" in found.text
    assert "our *boiler* is a [Vaillant](ecoTEC)" in found.text
    assert "· you · Boiler & Co" in found.text
    assert {"boiler", "Vaillant"} <= set(bold(found))
    assert list(found.buttons) == ["1"]
    before = found.text
    await bot.press(dm, ada, found, "1")
    assert found.text.startswith("Boiler & Co\n")
    assert [line for line in found.text.splitlines() if "chat" in line or "talk" in line or "boiler" in line] == [
        "chat 2", "small talk 3", "chat 3", "our *boiler* is a [Vaillant](ecoTEC)", "small talk 4", "chat 4",
    ]  # fmt: skip
    assert list(found.buttons) == ["‹ Earlier", "‹ Back to the results"]
    await bot.press(dm, ada, found, "Earlier")
    assert "small talk 0" in found.text
    assert "boiler" not in found.text
    assert list(found.buttons) == ["Later ›", "‹ Back to the results"]
    await bot.press(dm, ada, found, "Back")
    assert found.text == before
    assert all(call.ok for call in bot.tg.calls("editMessageText", dm.id))


async def test_hostile_topic_names_group_names_and_captions_are_shown_as_text(bot: SharedBot) -> None:
    ada, dm = bot.person()
    odd = "</b><script>alert(1)</script> '; drop table relay.message; -- %s $1 \\ {0}"
    forum = bot.tg.group(next(bot.groups), odd, [ada], forum=True)
    for chat in (forum, dm):
        topic = bot.tg.topic(chat, f"*{odd}* &amp;", ada)
        await bot.ask(chat, ada, f"{odd} zither", "Noted.", topic=topic, photo=picture())
        assert f"{odd} zither" in bot.prompt("zither").last_text
        found = await bot.ask(chat, ada, f"/search zither {odd[:11]}", topic=topic)
        assert odd[:60] in found.text
        await bot.press(chat, ada, found, "1")
        assert odd[:60] in found.text
    calls = [call for call in bot.tg.log if call.params.get("chat_id") in (dm.id, forum.id)]
    # The menu button can't be set before anybody has opened their chat.
    assert [call for call in calls if not call.ok and call.method != "setChatMenuButton"] == []


async def test_search_results_are_paged_within_one_message(bot: SharedBot) -> None:
    ada, dm = bot.person()
    for number in range(8):
        await bot.ask(dm, ada, f"penguin {number} " + "waddles along " * 60, "ok")
    found = await bot.ask(dm, ada, "/search penguin")
    assert "8 found, 1–6" in found.text
    assert list(found.buttons) == ["1", "2", "3", "4", "5", "6", "More ›"]
    assert len([m for m in bot.tg.messages(dm) if m.message_id >= found.message_id]) == 1
    await bot.press(dm, ada, found, "More")
    assert "8 found, 7–8" in found.text
    assert list(found.buttons) == ["7", "8", "‹ Previous"]
    await bot.press(dm, ada, found, "8")
    assert "penguin" in found.text
    await bot.press(dm, ada, found, "Back")
    assert "7–8" in found.text
    await bot.press(dm, ada, found, "Previous")
    assert "1–6" in found.text


async def test_filters_narrow_a_search_and_an_invalid_filter_is_reported(bot: SharedBot) -> None:
    ada, dm = bot.person()
    topic = bot.tg.topic(dm, "Trips", ada)
    await bot.ask(dm, ada, "a kayak in Norway", "A kayak, how nice.")
    await bot.ask(dm, ada, "the kayak has a leak", "Mend it.", topic=topic)

    async def search(text: str, **more: int) -> str:
        return (await bot.ask(dm, ada, f"/search {text}", **more)).text

    assert "3 found" in await search("kayak")
    assert "How nice".lower() in await search("kayak from:you")
    assert "2 found" in await search("kayak from:me")
    assert "leak" in await search("kayak in:trips")
    assert "1 found" in await search("kayak in:here from:me")
    assert "leak" in await search("kayak in:here", topic=topic)
    assert "1 found" in await search("“kayak has”")
    assert "3 found" in await search("kayak after:yesterday")
    assert "didn't find anything" in await search("kayak before:yesterday")
    assert "before:soon isn't a date I know" in await search("kayak before:soon")
    assert "know a topic or group called Nowhere" in await search("kayak in:Nowhere")
    assert "No message contains all of these words" in await search("kayak volcano")
    assert "didn't find anything" in await search("volcano")
    assert "What should I look for?" in await search("")
    assert "very common words" in await search("what is it")
    assert "4 found" in await search("after:today")


async def test_a_replaced_answer_is_not_found(bot: SharedBot) -> None:
    ada, dm = bot.person()
    bot.model.script(["a poor pomegranate", "a better banana"])
    await bot.ask(dm, ada, "which fruit?")
    await bot.ask(dm, ada, "/retry")
    assert "didn't find anything" in (await bot.ask(dm, ada, "/search pomegranate")).text
    assert "a better banana" in (await bot.ask(dm, ada, "/search banana")).text


async def test_memories_are_found_and_opened_too(bot: SharedBot) -> None:
    ada, dm = bot.person()
    learned = await bot.ask(dm, ada, "my aunt keeps llamas", "Lovely. [LEARN: Has an aunt who keeps llamas]")
    assert "Has an aunt" in learned.text
    found = await bot.ask(dm, ada, "/search aunt llamas")
    assert "2 found" in found.text
    number = next(line.split(" ")[0] for line in found.text.splitlines() if "🧠 memory #" in line)
    await bot.press(dm, ada, found, number)
    assert found.text.splitlines()[2] == "Has an aunt who keeps llamas"
    assert "You said, " in found.text
    assert "my aunt keeps llamas" in found.text
    assert [label.split(" #")[0] for label in found.buttons] == ["Open", "‹ Back to the results"]
    await bot.press(dm, ada, found, "Back")
    assert "2 found" in found.text
    await bot.press(dm, ada, found, number)
    await bot.press(dm, ada, found, "Open")
    assert "Source" in found.buttons


# Access


async def forged(bot: SharedBot, chat: Chat, user: User, under: StoredMessage, data: str) -> str:
    """Presses a button with forged data and returns the toast."""
    query = bot.tg.press(chat, user, under, data)
    return str((await bot.tg.wait_for(lambda: bot.tg.answers.get(query))).get("text") or "")


async def test_a_search_in_a_group_finds_only_the_groups_messages(bot: SharedBot) -> None:
    (ada, dm), (ben, ben_dm) = bot.person("Ada"), bot.person("Ben")
    group, mention = bot.forum(ada, ben), f"@{bot.tg.bot.username}"
    topic = bot.tg.topic(group, "Camping", ada)
    await bot.ask(dm, ada, "the tent secretly leaks", "I see.")
    said = await bot.tg.say(group, ada, f"{mention} the tent is green", topic=topic)
    await bot.tg.wait_reply(group, said, topic=topic)
    for number in range(7):
        await bot.ask(group, ben, f"{mention} tent peg {number}", topic=topic)
    found = await bot.ask(group, ada, f"/search@{mention[1:]} tent", topic=topic)
    assert "secretly" not in found.text
    assert "16 found" in found.text, "eight messages and eight answers"
    found = await bot.ask(group, ada, f"/search@{mention[1:]} green tent from:ada", topic=topic)
    assert "Ada · Forum › Camping" in found.text
    links = [one["url"] for one in found.entities if one["type"] == "text_link"]
    assert links == [f"https://t.me/c/{-1_000_000_000_000 - group.id}/{topic}/{said.message_id}"]
    # Any member of the group may page through it.
    await bot.press(group, ben, found, "1")
    assert "tent peg 0" in found.text
    # Nobody may do so elsewhere or from outside.
    hello = await bot.ask(ben_dm, ben, "hello")
    private = await bot.ask(dm, ada, "/search tent")
    assert "secretly" in private.text
    assert "green" not in private.text
    for data in [*private.buttons.values(), *found.buttons.values()]:
        assert "run /search again" in await forged(bot, ben_dm, ben, hello, data)
    assert "run /search again" in await forged(bot, group, ben, found, private.buttons["1"])
    assert "secretly" not in "".join(m.text for chat in (group, ben_dm) for m in bot.tg.messages(chat))
    bot.tg.remove_member(group, ben, by=ada)
    for data in found.buttons.values():
        assert "run /search again" in await forged(bot, group, ben, found, data)


async def test_private_search_results_do_not_open_after_others_joined(bot: SharedBot) -> None:
    (ada, dm), (ben, _) = bot.person("Ada"), bot.person("Ben")
    await bot.ask(dm, ada, "my diary is under the floorboards", "I see.")
    forum = bot.forum(ada)
    found = await bot.ask(forum, ada, "/search diary")
    assert "floorboards" in found.text
    bot.tg.add_member(forum, ben, by=ada)
    await bot.ask(forum, ben, f"@{bot.tg.bot.username} hello")
    assert "run /search again" in await bot.press(forum, ben, found, "1")
    assert "run /search again" in await bot.press(forum, ada, found, "1")


@pytest.mark.parametrize(
    "data", ["qp", "qp:1", "qp:x:y", "qp:99999999999999999999:0", "qo:1:2:3", "qc:0:0:0:z", "qp:0:-1"]
)
async def test_malformed_search_buttons_do_nothing(bot: SharedBot, data: str) -> None:
    ada, dm = bot.person()
    reply = await bot.ask(dm, ada, "hello")
    assert await forged(bot, dm, ada, reply, data)
    assert reply.text == "You said: hello"


async def test_search_buttons_work_after_a_restart(bot: SharedBot) -> None:
    world = bot.world()
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


async def test_search_works_in_the_shell(bot: SharedBot, tmp_path: Path) -> None:
    olga = bot.tg.user(OWNER)
    dm = bot.tg.dm(olga)
    await bot.ask(dm, olga, "the harpsichord needs tuning", "Call somebody.")
    code, shown = await relay(bot.relay.environment, tmp_path, "search", "harpsichord", "from:me")
    assert code == 0
    assert "1 found" in shown
    assert "the harpsichord needs tuning" in shown
    assert "you" in shown


async def test_a_question_that_was_asked_before_is_found_with_its_answer(bot: SharedBot) -> None:
    ada, dm = bot.person()
    await bot.ask(dm, ada, "Which pump did you suggest for the cistern?", "I would take the Grundfos at 389 euros.")
    await bot.stored(dm)
    found = await bot.ask(dm, ada, "/search Which pump did you suggest for the cistern")
    assert found.text.startswith("2 found")
    assert "Grundfos" in found.text
    assert "Grundfos" not in (await bot.ask(dm, ada, "/search pump from:me")).text
