"""Added to a group: one message says how things work there, and what to change where they do not."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.acceptance.harness import OWNER
from tests.acceptance.town import SESSION, Town
from tests.standins.telegram import Chat, StoredMessage, User

pytestmark = SESSION


@pytest.fixture(autouse=True)
async def privacy(town: Town) -> AsyncIterator[None]:
    """Bots begin with privacy mode on."""
    town.tg.can_read_all_group_messages = False
    yield
    town.tg.can_read_all_group_messages = True


def empty(town: Town, *members: User, **more: Any) -> Chat:
    """A group in which the bot is not yet."""
    return town.tg.group(next(town.groups), "Club", list(members), bot_status="left", **more)


async def added(town: Town, chat: Chat, by: User) -> StoredMessage:
    """Somebody adds the bot; what it says to that."""
    town.tg.add_member(chat, town.tg.bot, by=by)
    return await town.tg.wait_reply(chat)


def said(town: Town, chat: Chat) -> list[str]:
    return [message.text for message in town.tg.messages(chat) if message.from_bot]


async def settled(town: Town, chat: Chat, user: User) -> list[str]:
    """All that the bot says in a chat, once it has surely said what it had to say to what happened there."""
    await asyncio.sleep(1.5)
    await town.ask(chat, user, f"/status@{town.tg.bot.username}")
    return said(town, chat)[:-1]


async def test_the_greeting_says_how_it_answers_whose_memory_it_uses_and_what_to_change(town: Town) -> None:
    (ada, _), (ben, _) = town.person("Ada"), town.person("Ben")
    club = empty(town, ada, ben)
    asked = town.asked
    hello = (await added(town, club, ada)).text
    assert f"mention me (@{town.tg.bot.username}), reply to me, or use a command" in hello
    assert "This group has its own memory" in hello
    assert "I don't use what anyone tells me in private" in hello
    assert "Telegram only shows me messages addressed to me" in hello
    assert "Edit → Administrators → Add" in hello
    assert f"@BotFather /setprivacy → @{town.tg.bot.username} → Disable" in hello
    assert "remove me from the group and add me again" in hello
    assert "Each topic" not in hello
    assert await settled(town, club, ada) == [hello]
    assert town.asked == asked


async def test_with_privacy_off_there_is_nothing_to_change(town: Town) -> None:
    (ada, _), (ben, _) = town.person("Ada"), town.person("Ben")
    town.tg.can_read_all_group_messages = True
    hello = (await added(town, empty(town, ada, ben), ada)).text
    assert "BotFather" not in hello
    assert "only shows me" not in hello


async def test_in_a_forum_of_one_person_it_is_their_own_room(town: Town) -> None:
    ada, _ = town.person("Ada")
    hello = (await added(town, empty(town, ada, forum=True), ada)).text
    assert "Each topic is a separate conversation" in hello
    # who is there, Telegram tells administrators for sure
    assert "its own memory" in hello
    assert "I use your own memory and answer everything, but only if I'm an administrator" in hello
    assert "only shows me messages addressed to me" in hello


async def test_a_public_group_is_nobodys_own_room(town: Town) -> None:
    ada, _ = town.person("Ada")
    club = empty(town, ada)
    club.username = f"club{-club.id}"
    assert "its own memory" in (await added(town, club, ada)).text


async def test_a_stranger_who_adds_it_hears_nothing(town: Town) -> None:
    (ada, _), sam = town.person("Ada"), town.tg.user(77_101, "Sam")
    club = empty(town, sam, ada)
    town.tg.add_member(club, town.tg.bot, by=sam)
    assert await settled(town, club, ada) == []


async def test_added_again_within_a_minute_or_told_twice_it_greets_once(town: Town) -> None:
    (ada, _), (ben, _) = town.person("Ada"), town.person("Ben")
    club = empty(town, ada, ben)
    hello = await added(town, club, ada)
    update = next(
        number
        for number, update in reversed(town.tg.queue.known.items())
        if update.get("my_chat_member", {}).get("chat", {}).get("id") == club.id
    )
    town.tg.redeliver(update)
    town.tg.remove_member(club, town.tg.bot, by=ada)
    town.tg.add_member(club, town.tg.bot, by=ada)
    assert await settled(town, club, ada) == [hello.text]


async def test_rights_given_in_the_same_moment_are_in_the_greeting(town: Town) -> None:
    (ada, _), (ben, _) = town.person("Ada"), town.person("Ben")
    club = empty(town, ada, ben)
    town.tg.add_member(club, town.tg.bot, by=ada)
    town.tg.set_member(club, town.tg.bot, "administrator", by=ada)
    assert "BotFather" not in (await town.tg.wait_reply(club)).text
    assert len(await settled(town, club, ada)) == 1


async def test_a_change_of_its_rights_is_told_when_it_reads_more_or_less(town: Town) -> None:
    (ada, _), (ben, _), sam = town.person("Ada"), town.person("Ben"), town.tg.user(77_102, "Sam")
    club = empty(town, ada, ben, sam)
    hello = await added(town, club, ada)
    town.tg.set_member(club, town.tg.bot, "administrator", by=ada)
    better = await town.tg.wait_reply(club, hello)
    assert "I can read every message here now" in better.text
    town.tg.set_member(club, town.tg.bot, "administrator", by=ada)
    town.tg.set_member(club, town.tg.bot, "member", by=ada)
    worse = await town.tg.wait_reply(club, better)
    assert "From now on I only see messages addressed to me" in worse.text
    assert "@BotFather" in worse.text
    town.tg.set_member(club, town.tg.bot, "administrator", by=sam)
    assert await settled(town, club, ada) == [hello.text, better.text, worse.text]


async def test_a_group_that_becomes_a_supergroup_is_not_greeted_again(town: Town) -> None:
    (ada, _), (ben, _) = town.person("Ada"), town.person("Ben")
    small = town.tg.group(-4_000_101, "Small", [ada, ben], bot_status="member")
    bot = f"@{town.tg.bot.username}"
    await town.ask(small, ada, f"{bot} hello")
    large = town.tg.migrate(small, next(town.groups))
    absent = {"status": "left", "user": town.tg.bot.json()}
    here = town.tg.membership(large, town.tg.bot.id)
    change = {"chat": large.json(), "from": ada.json(), "date": 1, "old_chat_member": absent, "new_chat_member": here}
    town.tg.queue.add("my_chat_member", change)
    assert await settled(town, large, ada) == []


async def test_where_it_may_not_write_whoever_added_it_hears_of_it_in_private(town: Town) -> None:
    (ada, dm), (ben, _) = town.person("Ada"), town.person("Ben")
    club = empty(town, ada, ben)
    club.muted = True
    town.tg.add_member(club, town.tg.bot, by=ada)
    hello = (await town.tg.wait_reply(dm)).text
    assert hello.startswith("You added me to Club, but I'm not allowed to write there.")
    assert said(town, club) == []


async def test_those_who_run_it_get_their_commands_there(town: Town) -> None:
    (ada, _), olga = town.person("Ada"), town.tg.user(OWNER)
    for members in ([olga, ada], [ada, town.person("Ben")[0]]):
        club = empty(town, *members)
        await added(town, club, members[0])
        scoped = {
            call.params["scope"]["user_id"]: {one["command"] for one in call.params["commands"]}
            for call in town.tg.calls("setMyCommands")
            if call.params.get("scope", {}).get("chat_id") == club.id
        }
        assert list(scoped) == ([OWNER] if olga in members else [])
        assert {"answer", "link", "soul", "memory"} <= scoped.get(OWNER, {"answer", "link", "soul", "memory"})


async def test_who_came_later_gets_their_commands_and_who_may_not_use_them_loses_them(town: Town) -> None:
    (ada, _), olga = town.person("Ada"), town.tg.user(OWNER)
    club = town.group(ada, olga)
    await town.ask(club, olga, f"/status@{town.tg.bot.username}")
    await town.ask(club, ada, f"/answer@{town.tg.bot.username}")
    told = {
        (method, call.params["scope"]["user_id"])
        for method in ("setMyCommands", "deleteMyCommands")
        for call in town.tg.calls(method)
        if call.params.get("scope", {}).get("chat_id") == club.id
    }
    assert told == {("setMyCommands", OWNER), ("deleteMyCommands", ada.id)}


async def test_nothing_goes_wrong_when_telegram_does_not_tell_how_things_stand(town: Town) -> None:
    (ada, _), (ben, _) = town.person("Ada"), town.person("Ben")
    for method in ("getMe", "getChat", "getChatMember", "setMyCommands"):
        town.tg.fault(method, "error", times=9)
    hello = (await added(town, empty(town, ada, ben), ada)).text
    assert "I answer the people I know when they mention me" in hello
    assert "only shows me" not in hello
