"""/why and /usage: what went into an answer, for those who may know it."""

from __future__ import annotations

import pytest

from tests.acceptance.conftest import World
from tests.acceptance.harness import OWNER
from tests.acceptance.shared_bot import SESSION, SharedBot
from tests.standins.anthropic import tool
from tests.standins.telegram import Chat, StoredMessage

pytestmark = SESSION


def buttons(message: StoredMessage, words: str) -> list[str]:
    return [label for label in message.buttons if words in label]


async def said_next(bot: SharedBot, chat: Chat, after: StoredMessage, words: str) -> StoredMessage:
    """Returns the bot's first message with these words after a given one."""

    def found() -> StoredMessage | None:
        ours = [one for one in bot.tg.messages(chat) if one.from_bot and one.message_id > after.message_id]
        return next((one for one in ours if words in one.text), None)

    message = await bot.tg.wait_for(found)
    assert message is not None
    return message


async def test_why_shows_the_inputs_of_an_answer(bot: SharedBot) -> None:
    ada, dm = bot.person()
    assert "answered anything" in (await bot.ask(dm, ada, "/why")).text
    topic = bot.tg.topic(dm, "Garden", ada)
    said = await bot.tg.say(dm, ada, "the roses need pruning in March", topic=topic)
    await said_next(bot, dm, said, "You said: the roses")
    await bot.ask(dm, ada, "my dog is called Bruno", "A dog! [LEARN: Ada has a dog called Bruno]")
    bot.says("do the roses need pruning in March or April?", [tool("search_memory", {"query": "roses"})])
    answer = await bot.ask(dm, ada, "do the roses need pruning in March or April?")
    asked = bot.asked
    shown = await bot.ask(dm, ada, "/why")
    for words in (
        "claude-sonnet-5-5", "soul: version", "no summary", "recent messages: 2, since 20", "recalled: 2 messages",
        "the roses need pruning in March", "tools: searched memory", "left out of the prompt: nothing",
        "memory: changes take effect at once", "Facts (1)", "Ada has a dog called Bruno", "Tokens (estimated): soul",
        "memory ", "from the cache", "about $0.0",
    ):  # fmt: skip
        assert words in shown.text
    assert bot.asked == asked
    # In reply to an answer it is about that answer. In reply to anything else it says so.
    first = next(message for message in bot.tg.messages(dm) if message.from_bot and "A dog!" in message.text)
    assert "Facts: none" in (await bot.ask(dm, ada, "/why", reply_to=first)).text
    assert "tools: searched memory" in (await bot.ask(dm, ada, "/why", reply_to=answer)).text
    assert "isn't one of my answers" in (await bot.ask(dm, ada, "/why", reply_to=shown)).text
    assert "the roses need" not in (await bot.ask(dm, ada, "/why", topic=topic)).text
    # The tool's input and output.
    await bot.press(dm, ada, shown, "1 tool call")
    for words in ("Tool 1 of 1: searched memory", '"query": "roses"', "the roses need pruning in March"):
        assert words in shown.text
    await bot.press(dm, ada, shown, "Why this answer")
    assert "soul: version" in shown.text


async def test_a_fact_can_be_forgotten_under_why_and_restored(bot: SharedBot) -> None:
    ada, dm = bot.person()
    await bot.ask(dm, ada, "/remember I collect stamps")
    await bot.ask(dm, ada, "/remember I collect coins")
    await bot.ask(dm, ada, "what do I collect?")
    shown = await bot.ask(dm, ada, "/why")
    assert len(buttons(shown, "Forget")) == 2
    assert "Forgotten" in await bot.press(dm, ada, shown, "stamps")
    told = await said_next(bot, dm, shown, "Forgot: I collect stamps")
    await bot.tg.wait_for(lambda: "(forgotten since)" in bot.tg.message(dm, shown.message_id).text)
    assert len(buttons(bot.tg.message(dm, shown.message_id), "Forget")) == 1
    await bot.ask(dm, ada, "and now, collector?")
    assert "stamps" not in bot.prompt("and now, collector?").system_text
    await bot.press(dm, ada, told, "Undo / Edit")
    await bot.tg.wait_for(lambda: buttons(bot.tg.message(dm, told.message_id), "Undo: I collect stamps"))
    await bot.press(dm, ada, bot.tg.message(dm, told.message_id), "Undo: I collect stamps")
    await bot.ask(dm, ada, "and once more?")
    assert "stamps" in bot.prompt("and once more?").system_text


async def test_why_says_that_an_answer_teaches_the_wording_before_an_edit(bot: SharedBot) -> None:
    ada, dm = bot.person()
    bot.says("my cat is Mia", "Hello Mia! [LEARN: Has a cat called Mia]")
    said = await bot.tg.say(dm, ada, "my cat is Mia")
    answer = await bot.tg.wait_reply(dm, said)
    assert "wording" not in (await bot.ask(dm, ada, "/why")).text
    bot.tg.edit(dm, said, "my cat is Mina")
    await bot.tg.wait_for(lambda: "✎ Answer again" in answer.buttons)
    assert "what its first wording taught stays, unless you undo it" in (await bot.ask(dm, ada, "/why")).text
    await bot.press(dm, ada, answer, "Answer again")
    await bot.tg.wait_for(lambda: "Mina" in answer.text)
    await bot.stored(dm)
    assert "wording" not in (await bot.ask(dm, ada, "/why")).text


async def test_many_facts_under_why_are_paged(bot: SharedBot) -> None:
    ada, dm = bot.person()
    for number in range(1, 9):
        await bot.ask(dm, ada, f"/remember Fact {number}{'abcdefghi'[number] * 20}")
    await bot.ask(dm, ada, "hello there")
    shown = await bot.ask(dm, ada, "/why")
    assert "Facts (8, page 1 of 2)" in shown.text
    await bot.press(dm, ada, shown, "›")
    turned = await bot.tg.wait_for(
        lambda: "page 2 of 2" in bot.tg.message(dm, shown.message_id).text and bot.tg.message(dm, shown.message_id)
    )
    assert "Fact 8" in turned.text
    assert "Fact 1b" not in turned.text
    assert len(buttons(turned, "Forget")) == 2


async def test_why_says_that_forwarded_text_makes_memory_wait(bot: SharedBot) -> None:
    ada, dm = bot.person()
    await bot.ask(dm, ada, "forwarded news of a flood", "Oh. [LEARN: There was a flood]", forward_from="Reporter")
    shown = await bot.ask(dm, ada, "/why")
    assert "memory: changes wait for your tap (your message contained other people's words)" in shown.text


async def test_why_in_a_group_answers_in_private_and_only_to_members(bot: SharedBot) -> None:
    (ada, dm), (ben, ben_dm), (eve, eve_dm) = bot.person("Ada"), bot.person("Ben"), bot.person("Eve")
    group, name = bot.group(ada, ben), f"@{bot.tg.bot.username}"
    await bot.ask(dm, ada, "my secret is 0815", "Noted [LEARN: Ada's secret is 0815]")
    answer = await bot.ask(group, ada, f"{name} I bring salad", "Good [LEARN: brings salad]")
    await bot.ask(group, ben, f"{name} who brings what?")
    before = bot.tg.messages(ben_dm)[-1] if bot.tg.messages(ben_dm) else await bot.ask(ben_dm, ben, "/start")
    line = await bot.ask(group, ben, f"/why@{bot.tg.bot.username}")
    assert "in our private chat" in line.text
    shown = await said_next(bot, ben_dm, before, "Why this answer")
    assert "brings salad" in shown.text
    assert "0815" not in shown.text
    # Ben may not forget what is about Ada; Ada may.
    assert "That isn't yours to forget" in await bot.press(ben_dm, ben, shown, "salad")
    mine = await bot.ask(dm, ada, "/start")
    await bot.ask(group, ada, f"/why@{bot.tg.bot.username}")
    own = await said_next(bot, dm, mine, "Why this answer")
    assert "Forgotten" in await bot.press(dm, ada, own, "salad")
    # A non-member gets nothing from a button of the group.
    data = await bot.tg.button(shown, "salad")
    theirs = await bot.ask(eve_dm, eve, "/start")
    for found in (data, data.replace("yf", "yp").rpartition(":")[0]):
        query = bot.tg.press(eve_dm, eve, theirs, found)
        told = await bot.tg.wait_for(lambda query=query: bot.tg.answers.get(query))
        assert "isn't yours" in str(told["text"])
    assert "salad" not in str([message.text for message in bot.tg.messages(eve_dm)])
    assert answer.message_id


async def test_why_of_a_private_answer_is_refused_to_people_who_joined_later(bot: SharedBot) -> None:
    (ada, dm), (ben, ben_dm) = bot.person("Ada"), bot.person("Ben")
    room = bot.forum(ada)
    await bot.ask(dm, ada, "my pin is 4242", "Noted [LEARN: Ada's pin is 4242]")
    answer = await bot.ask(room, ada, "what is my pin?")
    bot.tg.add_member(room, ben, by=ada)
    before = await bot.ask(ben_dm, ben, "/start")
    await bot.ask(room, ben, f"/why@{bot.tg.bot.username}", reply_to=answer)
    refused = await said_next(bot, ben_dm, before, "isn't yours")
    assert "4242" not in refused.text
    mine = await bot.ask(dm, ada, "/start")
    await bot.ask(room, ada, f"/why@{bot.tg.bot.username}", reply_to=answer)
    assert "4242" in (await said_next(bot, dm, mine, "Why this answer")).text


async def test_a_stranger_learns_nothing_from_why(bot: SharedBot) -> None:
    ada, dm = bot.person()
    await bot.ask(dm, ada, "I hide my key under the mat", "Ok [LEARN: Ada's key is under the mat]")
    await bot.ask(dm, ada, "where is it?")
    shown = await bot.ask(dm, ada, "/why")
    stranger = bot.tg.user(77_321, "Sam")
    chat = bot.tg.dm(stranger)
    data = next(iter(shown.buttons.values()))
    placed = await bot.tg.say(chat, stranger, "/why")
    bot.tg.press(chat, stranger, placed, data)
    await bot.tg.wait_for(lambda: not bot.tg.pending_updates)
    assert "key" not in str([message.text for message in bot.tg.messages(chat) if message.from_bot])
    assert "Ada's key" in (await bot.ask(dm, ada, "/memory")).text


async def test_usage_is_personal_and_admins_see_all_spaces(bot: SharedBot) -> None:
    ada, dm = bot.person()
    assert "Nothing used" in (await bot.ask(dm, ada, "/usage")).text
    await bot.ask(dm, ada, "hello usage")
    shown = await bot.ask(dm, ada, "/usage 3")
    assert "Usage in the last 3 days" in shown.text
    assert "1 answer," in shown.text
    assert "Everyone together" not in shown.text
    await bot.tg.wait_for(lambda: "photo" in bot.tg.messages(dm)[-1].raw)
    assert "up to 90" in (await bot.ask(dm, ada, "/usage all")).text
    club = bot.group(ada, bot.person("Ben")[0])
    line = await bot.ask(club, ada, f"/usage@{bot.tg.bot.username}")
    assert line.text == "I've answered in our private chat."
    told = [one.text for one in bot.tg.messages(dm) if one.from_bot and "Nothing used" in one.text]
    assert len(told) == 2, "the group's usage is sent in private too"
    assert [one for one in bot.tg.messages(club) if one.from_bot] == [line]
    olga = bot.tg.user(OWNER)
    assert "Everyone together" in (await bot.ask(bot.tg.dm(olga), olga, "/usage")).text
    assert "with summaries" in (await bot.ask(dm, ada, "/status")).text


@pytest.mark.asyncio(loop_scope="function")
async def test_buttons_of_why_and_settings_work_after_a_restart(world: World) -> None:
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
