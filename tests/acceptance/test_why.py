"""/why and /usage from outside: what went into an answer, for those who may know it."""

from __future__ import annotations

import pytest

from tests.acceptance.conftest import World
from tests.acceptance.harness import OWNER
from tests.acceptance.town import SESSION, Town
from tests.standins.anthropic import tool
from tests.standins.telegram import Chat, StoredMessage

pytestmark = SESSION


def buttons(message: StoredMessage, words: str) -> list[str]:
    return [label for label in message.buttons if words in label]


async def said_next(town: Town, chat: Chat, after: StoredMessage, words: str) -> StoredMessage:
    """The bot's first message after one that holds these words."""

    def found() -> StoredMessage | None:
        ours = [one for one in town.tg.messages(chat) if one.from_bot and one.message_id > after.message_id]
        return next((one for one in ours if words in one.text), None)

    message = await town.tg.wait_for(found)
    assert message is not None
    return message


async def test_why_tells_what_went_into_an_answer(town: Town) -> None:
    ada, dm = town.person()
    assert "answered anything" in (await town.ask(dm, ada, "/why")).text
    topic = town.tg.topic(dm, "Garden", ada)
    said = await town.tg.say(dm, ada, "the roses need pruning in March", topic=topic)
    await said_next(town, dm, said, "You said: the roses")
    await town.ask(dm, ada, "my dog is called Bruno", "A dog! [LEARN: Ada has a dog called Bruno]")
    town.says("do the roses need pruning in March or April?", [tool("search_memory", {"query": "roses"})])
    answer = await town.ask(dm, ada, "do the roses need pruning in March or April?")
    asked = town.asked
    shown = await town.ask(dm, ada, "/why")
    for words in (
        "claude-sonnet-5-5", "soul: version", "no summary", "recent messages: 2, since 20", "recalled: 2 messages",
        "the roses need pruning in March", "tools: searched memory", "left out of the prompt: nothing",
        "memory: changes take effect at once", "Facts (1)", "Ada has a dog called Bruno", "Tokens (estimated): soul",
        "memory ", "from the cache", "about $0.0",
    ):  # fmt: skip
        assert words in shown.text
    assert town.asked == asked
    # in reply to an answer it is about that one; in reply to something else it says so
    first = next(message for message in town.tg.messages(dm) if message.from_bot and "A dog!" in message.text)
    assert "Facts: none" in (await town.ask(dm, ada, "/why", reply_to=first)).text
    assert "tools: searched memory" in (await town.ask(dm, ada, "/why", reply_to=answer)).text
    assert "isn't one of my answers" in (await town.ask(dm, ada, "/why", reply_to=shown)).text
    assert "the roses need" not in (await town.ask(dm, ada, "/why", topic=topic)).text
    # what the tool was given and returned
    await town.press(dm, ada, shown, "1 tool call")
    for words in ("Tool 1 of 1: searched memory", '"query": "roses"', "the roses need pruning in March"):
        assert words in shown.text
    await town.press(dm, ada, shown, "Why this answer")
    assert "soul: version" in shown.text


async def test_a_fact_is_forgotten_under_why_and_the_tap_is_undone(town: Town) -> None:
    ada, dm = town.person()
    await town.ask(dm, ada, "/remember I collect stamps")
    await town.ask(dm, ada, "/remember I collect coins")
    await town.ask(dm, ada, "what do I collect?")
    shown = await town.ask(dm, ada, "/why")
    assert len(buttons(shown, "Forget")) == 2
    assert "Forgotten" in await town.press(dm, ada, shown, "stamps")
    told = await said_next(town, dm, shown, "Forgot: I collect stamps")
    await town.tg.wait_for(lambda: "(forgotten since)" in town.tg.message(dm, shown.message_id).text)
    assert len(buttons(town.tg.message(dm, shown.message_id), "Forget")) == 1
    await town.ask(dm, ada, "and now, collector?")
    assert "stamps" not in town.prompt("and now, collector?").system_text
    await town.press(dm, ada, told, "Undo / Edit")
    await town.tg.wait_for(lambda: buttons(town.tg.message(dm, told.message_id), "Undo: I collect stamps"))
    await town.press(dm, ada, town.tg.message(dm, told.message_id), "Undo: I collect stamps")
    await town.ask(dm, ada, "and once more?")
    assert "stamps" in town.prompt("and once more?").system_text


async def test_many_facts_are_paged(town: Town) -> None:
    ada, dm = town.person()
    for number in range(1, 9):
        await town.ask(dm, ada, f"/remember Fact {number}{'abcdefghi'[number] * 20}")
    await town.ask(dm, ada, "hello there")
    shown = await town.ask(dm, ada, "/why")
    assert "Facts (8, page 1 of 2)" in shown.text
    await town.press(dm, ada, shown, "›")
    turned = await town.tg.wait_for(
        lambda: "page 2 of 2" in town.tg.message(dm, shown.message_id).text and town.tg.message(dm, shown.message_id)
    )
    assert "Fact 8" in turned.text
    assert "Fact 1b" not in turned.text
    assert len(buttons(turned, "Forget")) == 2


async def test_what_was_not_ones_own_words_is_why_memory_waits(town: Town) -> None:
    ada, dm = town.person()
    await town.ask(dm, ada, "forwarded news of a flood", "Oh. [LEARN: There was a flood]", forward_from="Reporter")
    shown = await town.ask(dm, ada, "/why")
    assert "memory: changes wait for your tap (your message contained other people's words)" in shown.text


async def test_in_a_group_it_is_told_in_private_and_only_to_members(town: Town) -> None:
    (ada, dm), (ben, ben_dm), (eve, eve_dm) = town.person("Ada"), town.person("Ben"), town.person("Eve")
    group, name = town.group(ada, ben), f"@{town.tg.bot.username}"
    await town.ask(dm, ada, "my secret is 0815", "Noted [LEARN: Ada's secret is 0815]")
    answer = await town.ask(group, ada, f"{name} I bring salad", "Good [LEARN: brings salad]")
    await town.ask(group, ben, f"{name} who brings what?")
    before = town.tg.messages(ben_dm)[-1] if town.tg.messages(ben_dm) else await town.ask(ben_dm, ben, "/start")
    line = await town.ask(group, ben, f"/why@{town.tg.bot.username}")
    assert "in our private chat" in line.text
    shown = await said_next(town, ben_dm, before, "Why this answer")
    assert "brings salad" in shown.text
    assert "0815" not in shown.text
    # Ben may not forget what is about Ada; Ada may
    assert "That isn't yours to forget" in await town.press(ben_dm, ben, shown, "salad")
    mine = await town.ask(dm, ada, "/start")
    await town.ask(group, ada, f"/why@{town.tg.bot.username}")
    own = await said_next(town, dm, mine, "Why this answer")
    assert "Forgotten" in await town.press(dm, ada, own, "salad")
    # somebody who is not in the group gets nothing from a button that they found
    data = await town.tg.button(shown, "salad")
    theirs = await town.ask(eve_dm, eve, "/start")
    for found in (data, data.replace("yf", "yp").rpartition(":")[0]):
        query = town.tg.press(eve_dm, eve, theirs, found)
        told = await town.tg.wait_for(lambda query=query: town.tg.answers.get(query))
        assert "not yours" in str(told["text"])
    assert "salad" not in str([message.text for message in town.tg.messages(eve_dm)])
    assert answer.message_id


async def test_an_answer_from_a_room_of_ones_own_stays_ones_own_when_others_come(town: Town) -> None:
    (ada, dm), (ben, ben_dm) = town.person("Ada"), town.person("Ben")
    room = town.forum(ada)
    await town.ask(dm, ada, "my pin is 4242", "Noted [LEARN: Ada's pin is 4242]")
    answer = await town.ask(room, ada, "what is my pin?")
    town.tg.add_member(room, ben, by=ada)
    before = await town.ask(ben_dm, ben, "/start")
    await town.ask(room, ben, f"/why@{town.tg.bot.username}", reply_to=answer)
    refused = await said_next(town, ben_dm, before, "not yours to look into")
    assert "4242" not in refused.text
    mine = await town.ask(dm, ada, "/start")
    await town.ask(room, ada, f"/why@{town.tg.bot.username}", reply_to=answer)
    assert "4242" in (await said_next(town, dm, mine, "Why this answer")).text


async def test_a_stranger_learns_nothing(town: Town) -> None:
    ada, dm = town.person()
    await town.ask(dm, ada, "I hide my key under the mat", "Ok [LEARN: Ada's key is under the mat]")
    await town.ask(dm, ada, "where is it?")
    shown = await town.ask(dm, ada, "/why")
    stranger = town.tg.user(77_321, "Sam")
    chat = town.tg.dm(stranger)
    data = next(iter(shown.buttons.values()))
    placed = await town.tg.say(chat, stranger, "/why")
    town.tg.press(chat, stranger, placed, data)
    await town.tg.wait_for(lambda: not town.tg.pending_updates)
    assert "key" not in str([message.text for message in town.tg.messages(chat) if message.from_bot])
    assert "Ada's key" in (await town.ask(dm, ada, "/memory")).text


async def test_usage_is_ones_own_and_admins_see_all_spaces(town: Town) -> None:
    ada, dm = town.person()
    assert "Nothing used" in (await town.ask(dm, ada, "/usage")).text
    await town.ask(dm, ada, "hello usage")
    shown = await town.ask(dm, ada, "/usage 3")
    assert "Usage of the last 3 days" in shown.text
    assert "1 answer," in shown.text
    assert "All spaces" not in shown.text
    await town.tg.wait_for(lambda: "photo" in town.tg.messages(dm)[-1].raw)
    assert "up to 90" in (await town.ask(dm, ada, "/usage all")).text
    club = town.group(ada, town.person("Ben")[0])
    line = await town.ask(club, ada, f"/usage@{town.tg.bot.username}")
    assert line.text == "I've answered in our private chat."
    told = [one.text for one in town.tg.messages(dm) if one.from_bot and "Nothing used" in one.text]
    assert len(told) == 2, "what the group used is told there too"
    assert [one for one in town.tg.messages(club) if one.from_bot] == [line]
    olga = town.tg.user(OWNER)
    assert "All spaces" in (await town.ask(town.tg.dm(olga), olga, "/usage")).text
    assert "with summaries" in (await town.ask(dm, ada, "/status")).text


@pytest.mark.asyncio(loop_scope="function")
async def test_buttons_outlive_a_restart(world: World) -> None:
    async def ask(text: str) -> StoredMessage:
        return await world.tg.wait_reply(world.dm, await world.tg.say(world.dm, world.owner, text))

    await ask("/remember I own a kayak")
    await ask("what do I own?")
    shown = await ask("/why")
    settings = await ask("/settings")
    await world.relay.kill()
    await world.relay.start()
    await world.tg.wait_polling(timeout=30)
    for message, label in ((shown, "kayak"), (settings, "🧠 Off"), (settings, "Time zone")):
        await world.tg.tap(world.dm, world.owner, message, label)
    await world.tg.wait_for(lambda: any("Forgot: I own a kayak" in one.text for one in world.tg.messages(world.dm)))
    asking = await world.tg.wait_for(
        lambda: next((one for one in world.tg.messages(world.dm) if one.text.startswith("✎ zone")), None)
    )
    assert "learning: off" in world.tg.message(world.dm, settings.message_id).text
    said = await world.tg.say(world.dm, world.owner, "tokyo", reply_to=asking)
    assert "Asia/Tokyo" in (await world.tg.wait_reply(world.dm, said)).text
