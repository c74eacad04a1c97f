"""Reactions are stored for later and never answered."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.acceptance.harness import OWNER
from tests.acceptance.shared_bot import SESSION, SharedBot
from tests.acceptance.shared_relay import SharedRelay
from tests.standins.telegram import Chat

pytestmark = SESSION


def signals(bot: SharedBot, chat: Chat) -> list[tuple[Any, ...]]:
    """Returns each reaction in a chat: who, on whose message, the emoji, and whether it still stands."""
    shared_relay = SharedRelay(bot.tg, bot.model, bot.relay, bot.data)
    return shared_relay.sql(
        "select s.user_id, m.role, s.emoji, s.removed_at is null from relay.signal s"
        " join relay.message m on m.id = s.message_id join relay.thread t on t.id = m.thread_id"
        " where t.chat_id = %s order by s.id",
        chat.id,
    )


async def taken(bot: SharedBot) -> None:
    """Waits until all updates have been fetched."""
    await bot.tg.wait_for(lambda: not bot.tg.pending_updates)
    await asyncio.sleep(0.5)


async def test_reactions_are_stored_and_never_answered(bot: SharedBot) -> None:
    ada, dm = bot.person()
    said = await bot.tg.say(dm, ada, "tell me a joke")
    reply = await bot.tg.wait_reply(dm, said)
    asked, shown = bot.asked, len(bot.tg.messages(dm))
    bot.tg.react(dm, ada, reply, "👍")
    await bot.tg.wait_for(lambda: signals(bot, dm))
    bot.tg.react(dm, ada, reply, "👎")
    bot.tg.react(dm, ada, said, "🔥")
    bot.tg.react(dm, ada, reply, None)
    await bot.tg.wait_for(lambda: len(signals(bot, dm)) == 3)
    custom = [{"type": "custom_emoji", "custom_emoji_id": "5368324170671202286"}, {"type": "paid"}, {"type": "new"}]
    body = {"chat": dm.json(), "message_id": reply.message_id, "user": ada.json(), "date": 2_000_000_000}
    bot.tg.push({"message_reaction": {**body, "old_reaction": [], "new_reaction": custom}})
    await bot.tg.wait_for(lambda: len(signals(bot, dm)) == 5)
    await taken(bot)
    assert set(signals(bot, dm)) == {
        (ada.id, "assistant", "👍", False),
        (ada.id, "assistant", "👎", False),
        (ada.id, "user", "🔥", True),
        (ada.id, "assistant", "custom:5368324170671202286", True),
        (ada.id, "assistant", "paid", True),
    }
    assert bot.asked == asked
    assert len(bot.tg.messages(dm)) == shown


async def test_reactions_of_strangers_and_to_other_messages_are_not_stored(bot: SharedBot) -> None:
    (ada, _), (ben, _), stranger = bot.person("Ada"), bot.person("Ben"), bot.tg.user(77_201, "Sam")
    group = bot.group(ada, ben, stranger)
    said = await bot.tg.say(group, ada, f"@{bot.tg.bot.username} hello")
    reply = await bot.tg.wait_reply(group, said)
    other = await bot.tg.say(group, ben, "just talking")
    body = {"chat": group.json(), "message_id": reply.message_id, "date": 2_000_000_000, "old_reaction": []}
    like = [{"type": "emoji", "emoji": "👍"}]
    bot.tg.push({"message_reaction": {**body, "actor_chat": group.json(), "new_reaction": like}})
    bot.tg.react(group, stranger, reply, "👍")
    bot.tg.react(group, ben, said, "👍")
    bot.tg.react(group, ben, other, "👍")
    bot.tg.react(group, ben, reply, "👎")
    await bot.tg.wait_for(lambda: signals(bot, group))
    await taken(bot)
    assert signals(bot, group) == [(ben.id, "assistant", "👎", True)]
    for broken in ({}, {"new_reaction": "x"}, {"new_reaction": [3, {}, {"type": "emoji"}], "date": "never"}):
        bot.tg.push({"message_reaction": {"user": ben.json(), **body, **broken}})
    await taken(bot)
    olga = bot.tg.user(OWNER)
    status = (await bot.ask(bot.tg.dm(olga), olga, "/status")).text
    assert "0 set aside" in status
    assert "reactions in 30 days: 👍" in status
