"""Reactions: kept for later, answered never."""

from __future__ import annotations

import asyncio
from typing import Any

from tests.acceptance.harness import OWNER
from tests.acceptance.house import House
from tests.acceptance.town import SESSION, Town
from tests.standins.telegram import Chat

pytestmark = SESSION


def signals(town: Town, chat: Chat) -> list[tuple[Any, ...]]:
    """Who reacted how to whose message in a chat, and whether that stands."""
    house = House(town.tg, town.model, town.relay, town.data)
    return house.sql(
        "select s.user_id, m.role, s.emoji, s.removed_at is null from relay.signal s"
        " join relay.message m on m.id = s.message_id join relay.thread t on t.id = m.thread_id"
        " where t.chat_id = %s order by s.id",
        chat.id,
    )


async def taken(town: Town) -> None:
    """Waits until what people did has been taken."""
    await town.tg.wait_for(lambda: not town.tg.pending_updates)
    await asyncio.sleep(0.5)


async def test_reactions_are_kept_and_never_answered(town: Town) -> None:
    ada, dm = town.person()
    said = await town.tg.say(dm, ada, "tell me a joke")
    reply = await town.tg.wait_reply(dm, said)
    asked, shown = town.asked, len(town.tg.messages(dm))
    town.tg.react(dm, ada, reply, "👍")
    await town.tg.wait_for(lambda: signals(town, dm))
    town.tg.react(dm, ada, reply, "👎")
    town.tg.react(dm, ada, said, "🔥")
    town.tg.react(dm, ada, reply, None)
    await town.tg.wait_for(lambda: len(signals(town, dm)) == 3)
    custom = [{"type": "custom_emoji", "custom_emoji_id": "5368324170671202286"}, {"type": "paid"}, {"type": "new"}]
    body = {"chat": dm.json(), "message_id": reply.message_id, "user": ada.json(), "date": 2_000_000_000}
    town.tg.push({"message_reaction": {**body, "old_reaction": [], "new_reaction": custom}})
    await town.tg.wait_for(lambda: len(signals(town, dm)) == 5)
    await taken(town)
    assert set(signals(town, dm)) == {
        (ada.id, "assistant", "👍", False),
        (ada.id, "assistant", "👎", False),
        (ada.id, "user", "🔥", True),
        (ada.id, "assistant", "custom:5368324170671202286", True),
        (ada.id, "assistant", "paid", True),
    }
    assert town.asked == asked
    assert len(town.tg.messages(dm)) == shown


async def test_what_is_nobodys_business_is_not_kept(town: Town) -> None:
    (ada, _), (ben, _), stranger = town.person("Ada"), town.person("Ben"), town.tg.user(77_201, "Sam")
    group = town.group(ada, ben, stranger)
    said = await town.tg.say(group, ada, f"@{town.tg.bot.username} hello")
    reply = await town.tg.wait_reply(group, said)
    other = await town.tg.say(group, ben, "just talking")
    body = {"chat": group.json(), "message_id": reply.message_id, "date": 2_000_000_000, "old_reaction": []}
    like = [{"type": "emoji", "emoji": "👍"}]
    town.tg.push({"message_reaction": {**body, "actor_chat": group.json(), "new_reaction": like}})
    town.tg.react(group, stranger, reply, "👍")
    town.tg.react(group, ben, said, "👍")
    town.tg.react(group, ben, other, "👍")
    town.tg.react(group, ben, reply, "👎")
    await town.tg.wait_for(lambda: signals(town, group))
    await taken(town)
    assert signals(town, group) == [(ben.id, "assistant", "👎", True)]
    for broken in ({}, {"new_reaction": "x"}, {"new_reaction": [3, {}, {"type": "emoji"}], "date": "never"}):
        town.tg.push({"message_reaction": {"user": ben.json(), **body, **broken}})
    await taken(town)
    olga = town.tg.user(OWNER)
    status = (await town.ask(town.tg.dm(olga), olga, "/status")).text
    assert "0 set aside" in status
    assert "reactions in 30 days: 👍" in status
