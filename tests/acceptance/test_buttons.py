"""Buttons in the chat: double taps, presses by strangers, and updates that aren't presses."""

from __future__ import annotations

import asyncio

import pytest

from tests.acceptance.shared_bot import SESSION, SharedBot
from tests.standins.anthropic import Reply

pytestmark = SESSION


async def test_a_double_tap_on_retry_asks_the_model_once(bot: SharedBot) -> None:
    ada, dm = bot.person()
    bot.model.fault("refusal", match="a prickly one")
    refused = await bot.ask(dm, ada, "a prickly one")
    asked = bot.asked
    bot.says("a prickly one", Reply("Now then.", first_delay=0.4))
    data = refused.buttons["↻ Retry"]
    first, second = bot.tg.press(dm, ada, refused, data), bot.tg.press(dm, ada, refused, data)
    await bot.tg.wait_for(lambda: {first, second} <= set(bot.tg.answers))
    await asyncio.sleep(0.3)
    assert [message.text for message in bot.tg.messages(dm) if message.from_bot][1:] == ["Now then."]
    assert bot.asked == asked + 1
    assert bot.tg.answers[second]["text"] == "I've already answered this again."


async def test_a_strangers_press_is_acknowledged_but_does_nothing(bot: SharedBot) -> None:
    (ada, _), stranger = bot.person("Ada"), bot.tg.user(77_301, "Sam")
    group = bot.group(ada, stranger)
    taught = await bot.ask(group, ada, f"@{bot.tg.bot.username} I row", "Ok [LEARN: rows]")
    buttons, asked = taught.buttons, bot.asked
    for data in (*buttons.values(), "r:1", "n", "d:1:u"):
        query = bot.tg.press(group, stranger, taught, data)
        answer = await bot.tg.wait_for(lambda query=query: bot.tg.answers.get(query))
        assert not answer.get("text")
    assert taught.buttons == buttons
    assert bot.asked == asked


@pytest.mark.parametrize("command", ["/forget *kayak*", "/forget --erase kayak"])
async def test_only_the_person_who_was_asked_can_dismiss_the_question(bot: SharedBot, command: str) -> None:
    (ada, dm), (ben, other) = bot.person("Ada"), bot.person("Ben")
    await bot.ask(dm, ada, "/remember I own a kayak")
    shown = await bot.ask(dm, ada, command)
    theirs = await bot.ask(other, ben, "/help")
    for chat, person, under, said in (
        (other, ben, theirs, "not yours"), (dm, ada, shown, "Kept."),
    ):  # fmt: skip
        before, query = under.text, bot.tg.press(chat, person, under, shown.buttons["✖ Keep"])
        answer = await bot.tg.wait_for(lambda query=query: bot.tg.answers.get(query))
        assert said in answer["text"]
        await bot.tg.wait_for(lambda: not bot.tg.pending_updates)
        assert (under.text == before) is (person is ben)
    assert shown.text.startswith("Nothing was")


async def test_creating_a_topic_gets_no_answer(bot: SharedBot) -> None:
    ada, dm = bot.person()
    forum = bot.forum(ada)
    for chat in (forum, dm):
        bot.tg.topic(chat, "Ideas", ada)
    await bot.tg.wait_for(lambda: not bot.tg.pending_updates)
    await asyncio.sleep(0.5)
    assert not [message.text for chat in (forum, dm) for message in bot.tg.messages(chat) if message.from_bot]
