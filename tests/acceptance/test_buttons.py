"""Buttons from outside: pressed twice, by strangers, and what is no press at all."""

from __future__ import annotations

import asyncio

import pytest

from tests.acceptance.town import SESSION, Town
from tests.standins.anthropic import Reply

pytestmark = SESSION


async def test_a_double_tap_on_retry_asks_the_model_once(town: Town) -> None:
    ada, dm = town.person()
    town.model.fault("refusal", match="a prickly one")
    refused = await town.ask(dm, ada, "a prickly one")
    asked = town.asked
    town.says("a prickly one", Reply("Now then.", first_delay=0.4))
    data = refused.buttons["↻ Retry"]
    first, second = town.tg.press(dm, ada, refused, data), town.tg.press(dm, ada, refused, data)
    await town.tg.wait_for(lambda: {first, second} <= set(town.tg.answers))
    await asyncio.sleep(0.3)
    assert [message.text for message in town.tg.messages(dm) if message.from_bot][1:] == ["Now then."]
    assert town.asked == asked + 1
    assert town.tg.answers[second]["text"] == "I've already answered this again."


async def test_a_strangers_press_does_nothing_and_does_not_hang(town: Town) -> None:
    (ada, _), stranger = town.person("Ada"), town.tg.user(77_301, "Sam")
    group = town.group(ada, stranger)
    taught = await town.ask(group, ada, f"@{town.tg.bot.username} I row", "Ok [LEARN: rows]")
    buttons, asked = taught.buttons, town.asked
    for data in (*buttons.values(), "r:1", "n", "d:1:u"):
        query = town.tg.press(group, stranger, taught, data)
        answer = await town.tg.wait_for(lambda query=query: town.tg.answers.get(query))
        assert not answer.get("text")
    assert taught.buttons == buttons
    assert town.asked == asked


@pytest.mark.parametrize("command", ["/forget *kayak*", "/forget --erase kayak"])
async def test_only_who_was_asked_puts_the_question_away(town: Town, command: str) -> None:
    (ada, dm), (ben, other) = town.person("Ada"), town.person("Ben")
    await town.ask(dm, ada, "/remember I own a kayak")
    shown = await town.ask(dm, ada, command)
    theirs = await town.ask(other, ben, "/help")
    for chat, person, under, said in (
        (other, ben, theirs, "not yours"), (dm, ada, shown, "Kept."),
    ):  # fmt: skip
        before, query = under.text, town.tg.press(chat, person, under, shown.buttons["✖ Keep"])
        answer = await town.tg.wait_for(lambda query=query: town.tg.answers.get(query))
        assert said in answer["text"]
        await town.tg.wait_for(lambda: not town.tg.pending_updates)
        assert (under.text == before) is (person is ben)
    assert shown.text.startswith("Nothing was")


async def test_a_new_topic_is_no_question(town: Town) -> None:
    ada, dm = town.person()
    forum = town.forum(ada)
    for chat in (forum, dm):
        town.tg.topic(chat, "Ideas", ada)
    await town.tg.wait_for(lambda: not town.tg.pending_updates)
    await asyncio.sleep(0.5)
    assert not [message.text for chat in (forum, dm) for message in town.tg.messages(chat) if message.from_bot]
