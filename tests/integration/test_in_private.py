"""Checks that a reply for one person alone, requested in a group, is sent to their private chat."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import ClassVar

import pytest
from psycopg.types.json import Jsonb

from relay.commands.registry import Command
from relay.surfaces.chat import COMMANDS, HANDLERS
from relay.surfaces.chat.callbacks import CALLBACKS, Callback
from relay.surfaces.chat.context import ChatContext
from relay.surfaces.chat.handlers import BUTTONS
from relay.surfaces.chat.reply import ButtonReply, CommandReply, button
from tests.integration.conftest import Server
from tests.integration.inside import Inside, inside, speechless
from tests.integration.turn_driver import ADA, BEN, EVE, GROUP
from tests.standins.telegram.values import Chat, StoredMessage, User

BOT = "@relay_test_bot"


@dataclass(frozen=True)
class More(Callback):
    """A button under the secret. Its data is `zz`."""

    code: ClassVar[str] = "zz"


@pytest.fixture(autouse=True)
def _secret(monkeypatch: pytest.MonkeyPatch) -> None:
    """A command whose reply is only for the person who asks."""

    async def secret(call: ChatContext) -> CommandReply:
        return CommandReply(
            f"{call.name} hides {call.space.kind} things", rows=[[button("More", More())]], private=True
        )

    async def more(call: ChatContext, _: More) -> ButtonReply:
        return ButtonReply(
            says=CommandReply(f"More for {call.name} in {call.space.kind}, topic {call.topic_id}", private=True)
        )

    command = Command("secret", secret, "a secret", "", "everyone", ("chat",), ("private", "group"))
    monkeypatch.setitem(COMMANDS, "secret", command)
    monkeypatch.setitem(HANDLERS, "secret", secret)
    monkeypatch.setitem(CALLBACKS, "zz", More)
    monkeypatch.setitem(BUTTONS, "zz", more)


@pytest.fixture
async def relay(embedded: Server) -> AsyncIterator[Inside]:
    async with inside(embedded, speechless, frozenset([EVE]), frozenset([ADA, BEN])) as opened:
        yield opened


async def said(relay: Inside, chat: Chat, user: User | None, text: str, **more: object) -> list[StoredMessage]:
    """Sends a message, and returns the bot's messages in that chat after all work is done."""
    await relay.tg.say(chat, user, text, **more)
    await relay.settled()
    return spoken(relay, chat)


def spoken(relay: Inside, chat: Chat) -> list[StoredMessage]:
    return [message for message in relay.tg.messages(chat) if message.from_bot]


async def test_the_group_gets_a_line_and_the_person_gets_the_answer(relay: Inside) -> None:
    ada, ben = relay.tg.user(ADA, "Ada"), relay.tg.user(BEN, "Ben")
    dm, group = relay.tg.dm(ada), relay.tg.group(GROUP, "Group", [ada, ben])
    (line,) = await said(relay, group, ada, f"/secret{BOT}")
    assert line.text == "I've answered in our private chat."
    assert line.reply_to
    (answer,) = spoken(relay, dm)
    assert answer.text == "Ada hides group things"
    relay.tg.press(dm, ada, answer, answer.buttons["More"])
    await relay.settled()
    assert [message.text for message in spoken(relay, dm)][1:] == ["More for Ada in private, topic 0"]
    # in the private chat, there is no line about it
    assert [message.text for message in await said(relay, dm, ada, "/secret")][2:] == ["Ada hides private things"]


async def test_a_button_of_an_old_private_answer_still_acts_for_its_group(relay: Inside) -> None:
    ada, ben = relay.tg.user(ADA, "Ada"), relay.tg.user(BEN, "Ben")
    dm, forum = relay.tg.dm(ada), relay.tg.group(GROUP, "Forum", [ada, ben], forum=True)
    topic = relay.tg.topic(forum, "Plans", ada)
    (line,) = await said(relay, forum, ada, f"/secret{BOT}", topic=topic)
    assert line.topic_id == topic
    (answer,) = spoken(relay, dm)
    query = {"id": "1", "from": ada.json(), "chat_instance": "1", "data": answer.buttons["More"]}
    relay.tg.push(
        {"callback_query": {**query, "message": {"chat": dm.json(), "message_id": answer.message_id, "date": 0}}}
    )
    await relay.settled()
    assert [message.text for message in spoken(relay, dm)][1:] == ["More for Ada in private, topic 0"]


@pytest.mark.parametrize("blocked", [False, True])
async def test_a_person_the_bot_cannot_write_to_is_shown_a_link(relay: Inside, blocked: bool) -> None:
    ada, ben = relay.tg.user(ADA, "Ada"), relay.tg.user(BEN, "Ben")
    group = relay.tg.group(GROUP, "Group", [ada, ben])
    if blocked:
        relay.tg.dm(ada)
        relay.tg.block(ada)
    (line,) = await said(relay, group, ada, f"/secret{BOT}")
    assert line.text == "That's between us, and I can't write to you yet. Open our chat, press Start, and ask again."
    assert line.reply_to
    ((way,),) = (line.reply_markup or {})["inline_keyboard"]
    assert way == {"text": "Open our chat", "url": "https://t.me/relay_test_bot?start=hello"}
    assert "hides" not in str(relay.tg.messages(group))
    if blocked:
        relay.tg.unblock(ada)
    dm = relay.tg.dm(ada)
    (hello,) = await said(relay, dm, ada, "/start hello")
    assert "Hello Ada!" in hello.text
    assert [message.text for message in await said(relay, group, ada, f"/secret{BOT}")][1:] == [
        "I've answered in our private chat."
    ]
    assert spoken(relay, dm)[1].text == "Ada hides group things"


async def test_group_members_may_press_a_button_and_each_is_answered_in_private(relay: Inside) -> None:
    ada, ben, sam = relay.tg.user(ADA, "Ada"), relay.tg.user(BEN, "Ben"), relay.tg.user(6666, "Sam")
    chats = [relay.tg.dm(person) for person in (ada, ben, sam)]
    group = relay.tg.group(GROUP, "Group", [ada, ben, sam])
    (help_text,) = await said(relay, group, ada, f"/help{BOT}")
    for person in (ada, ben, sam):
        relay.tg.press(group, person, help_text, "zz")
        await relay.settled()
    assert [[message.text for message in spoken(relay, chat)] for chat in chats] == [
        ["More for Ada in group, topic 0"],
        ["More for Ben in group, topic 0"],
        [],
    ]


async def test_a_reminder_for_a_group_that_is_gone_reaches_its_person(relay: Inside) -> None:
    ada, ben = relay.tg.user(ADA, "Ada"), relay.tg.user(BEN, "Ben")
    dm, kitchen = relay.tg.dm(ada), relay.tg.group(GROUP, "Kitchen", [ada, ben])
    await relay.tg.say(kitchen, ada, f"/remind{BOT} every day 9:00 bins")
    await relay.settled()
    relay.tg.remove_member(kitchen, relay.tg.bot, by=ben)
    await relay.sql(
        "select relay.say_first(%s, chat_id, 0, user_id, space_id, %s, '{reminder:1}', 'reminder 1', 'reminder', false)"
        " from reminder",
        relay.worker.bot.id,
        Jsonb({"text": "⏰ bins", "plain": "⏰ bins", "reminders": [1]}),
    )
    await relay.worker.claim()
    await relay.settled()
    while await relay.sql("select id from outbox where status = 'queued'"):
        await relay.worker.claim()
        await relay.settled()
    told = [message.text for message in spoken(relay, dm)]
    assert [one for one in told if one.startswith("⚠️ I couldn't remind you in the group:") and "⏰ bins" in one]
    assert [one for one in told if "so I've ended the reminders there" in one]
    assert await relay.sql("select status from reminder") == [("ended",)]
