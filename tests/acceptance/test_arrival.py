"""When the bot is added to a group, one message says how it works there and what to change if it can't."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.acceptance.harness import OWNER
from tests.acceptance.shared_bot import SESSION, SharedBot
from tests.standins.telegram import Chat, StoredMessage, User

pytestmark = SESSION


@pytest.fixture(autouse=True)
async def privacy(bot: SharedBot) -> AsyncIterator[None]:
    """Privacy mode is on at first."""
    bot.tg.can_read_all_group_messages = False
    yield
    bot.tg.can_read_all_group_messages = True


def empty(bot: SharedBot, *members: User, **more: Any) -> Chat:
    """Returns a group without the bot."""
    return bot.tg.group(next(bot.groups), "Club", list(members), bot_status="left", **more)


async def added(bot: SharedBot, chat: Chat, by: User) -> StoredMessage:
    """Adds the bot and returns its greeting."""
    bot.tg.add_member(chat, bot.tg.bot, by=by)
    return await bot.tg.wait_reply(chat)


def said(bot: SharedBot, chat: Chat) -> list[str]:
    return [message.text for message in bot.tg.messages(chat) if message.from_bot]


async def settled(bot: SharedBot, chat: Chat, user: User) -> list[str]:
    """Returns everything the bot says in a chat, after it has had time to respond to what happened there."""
    await asyncio.sleep(1.5)
    await bot.ask(chat, user, f"/status@{bot.tg.bot.username}")
    return said(bot, chat)[:-1]


async def test_the_greeting_explains_answering_memory_and_what_to_change(bot: SharedBot) -> None:
    (ada, _), (ben, _) = bot.person("Ada"), bot.person("Ben")
    club = empty(bot, ada, ben)
    asked = bot.asked
    hello = (await added(bot, club, ada)).text
    assert f"mention me (@{bot.tg.bot.username}), reply to me, or use a command" in hello
    assert "This group has its own memory" in hello
    assert "I don't use what anyone tells me in private" in hello
    assert "Telegram only shows me messages addressed to me" in hello
    assert "Edit → Administrators → Add" in hello
    assert f"@BotFather /setprivacy → @{bot.tg.bot.username} → Disable" in hello
    assert "remove me from the group and add me again" in hello
    assert "Each topic" not in hello
    assert await settled(bot, club, ada) == [hello]
    assert bot.asked == asked


async def test_with_privacy_mode_off_the_greeting_suggests_no_change(bot: SharedBot) -> None:
    (ada, _), (ben, _) = bot.person("Ada"), bot.person("Ben")
    bot.tg.can_read_all_group_messages = True
    hello = (await added(bot, empty(bot, ada, ben), ada)).text
    assert "BotFather" not in hello
    assert "only shows me" not in hello


async def test_the_greeting_in_a_forum_of_one_person_mentions_their_own_memory(bot: SharedBot) -> None:
    ada, _ = bot.person("Ada")
    hello = (await added(bot, empty(bot, ada, forum=True), ada)).text
    assert "Each topic is a separate conversation" in hello
    # Telegram reliably tells administrators who is in the group.
    assert "its own memory" in hello
    assert "I use your own memory and answer everything, but only if I'm an administrator" in hello
    assert "only shows me messages addressed to me" in hello


async def test_a_public_group_of_one_person_has_its_own_memory(bot: SharedBot) -> None:
    ada, _ = bot.person("Ada")
    club = empty(bot, ada)
    club.username = f"club{-club.id}"
    assert "its own memory" in (await added(bot, club, ada)).text


async def test_a_stranger_who_adds_the_bot_gets_no_greeting(bot: SharedBot) -> None:
    (ada, _), sam = bot.person("Ada"), bot.tg.user(77_101, "Sam")
    club = empty(bot, sam, ada)
    bot.tg.add_member(club, bot.tg.bot, by=sam)
    assert await settled(bot, club, ada) == []


async def test_the_bot_greets_once_if_added_again_or_if_the_update_is_repeated(bot: SharedBot) -> None:
    (ada, _), (ben, _) = bot.person("Ada"), bot.person("Ben")
    club = empty(bot, ada, ben)
    hello = await added(bot, club, ada)
    update = next(
        number
        for number, update in reversed(bot.tg.queue.known.items())
        if update.get("my_chat_member", {}).get("chat", {}).get("id") == club.id
    )
    bot.tg.redeliver(update)
    bot.tg.remove_member(club, bot.tg.bot, by=ada)
    bot.tg.add_member(club, bot.tg.bot, by=ada)
    assert await settled(bot, club, ada) == [hello.text]


async def test_the_greeting_reflects_admin_rights_given_at_the_same_moment(bot: SharedBot) -> None:
    (ada, _), (ben, _) = bot.person("Ada"), bot.person("Ben")
    club = empty(bot, ada, ben)
    bot.tg.add_member(club, bot.tg.bot, by=ada)
    bot.tg.set_member(club, bot.tg.bot, "administrator", by=ada)
    assert "BotFather" not in (await bot.tg.wait_reply(club)).text
    assert len(await settled(bot, club, ada)) == 1


async def test_a_change_of_rights_is_announced_if_the_bot_reads_more_or_less(bot: SharedBot) -> None:
    (ada, _), (ben, _), sam = bot.person("Ada"), bot.person("Ben"), bot.tg.user(77_102, "Sam")
    club = empty(bot, ada, ben, sam)
    hello = await added(bot, club, ada)
    bot.tg.set_member(club, bot.tg.bot, "administrator", by=ada)
    better = await bot.tg.wait_reply(club, hello)
    assert "I can read every message here now" in better.text
    bot.tg.set_member(club, bot.tg.bot, "administrator", by=ada)
    bot.tg.set_member(club, bot.tg.bot, "member", by=ada)
    worse = await bot.tg.wait_reply(club, better)
    assert "From now on I only see messages addressed to me" in worse.text
    assert "@BotFather" in worse.text
    bot.tg.set_member(club, bot.tg.bot, "administrator", by=sam)
    assert await settled(bot, club, ada) == [hello.text, better.text, worse.text]


async def test_a_group_of_two_with_fixed_answers_is_not_promised_all_of_them(bot: SharedBot) -> None:
    olga = bot.tg.user(OWNER)
    club = empty(bot, olga)
    await added(bot, club, olga)
    set_to = await bot.ask(club, olga, f"/answer@{bot.tg.bot.username} addressed")
    bot.tg.set_member(club, bot.tg.bot, "administrator", by=olga)
    better = await bot.tg.wait_reply(club, set_to)
    assert "I use your own memory here. I answer when addressed; /answer changes that." in better.text
    assert "everything" not in better.text


async def test_a_group_that_becomes_a_supergroup_is_not_greeted_again(bot: SharedBot) -> None:
    (ada, _), (ben, _) = bot.person("Ada"), bot.person("Ben")
    small = bot.tg.group(-4_000_101, "Small", [ada, ben], bot_status="member")
    mention = f"@{bot.tg.bot.username}"
    await bot.ask(small, ada, f"{mention} hello")
    large = bot.tg.migrate(small, next(bot.groups))
    absent = {"status": "left", "user": bot.tg.bot.json()}
    here = bot.tg.membership(large, bot.tg.bot.id)
    change = {"chat": large.json(), "from": ada.json(), "date": 1, "old_chat_member": absent, "new_chat_member": here}
    bot.tg.queue.add("my_chat_member", change)
    assert await settled(bot, large, ada) == []


async def test_if_the_bot_may_not_write_it_greets_in_private(bot: SharedBot) -> None:
    (ada, dm), (ben, _) = bot.person("Ada"), bot.person("Ben")
    club = empty(bot, ada, ben)
    club.muted = True
    bot.tg.add_member(club, bot.tg.bot, by=ada)
    hello = (await bot.tg.wait_reply(dm)).text
    assert hello.startswith("You added me to Club, but I'm not allowed to write there.")
    assert said(bot, club) == []


async def test_only_admins_get_the_admin_command_menu_in_a_group(bot: SharedBot) -> None:
    (ada, _), olga = bot.person("Ada"), bot.tg.user(OWNER)
    for members in ([olga, ada], [ada, bot.person("Ben")[0]]):
        club = empty(bot, *members)
        await added(bot, club, members[0])
        scoped = {
            call.params["scope"]["user_id"]: {one["command"] for one in call.params["commands"]}
            for call in bot.tg.calls("setMyCommands")
            if call.params.get("scope", {}).get("chat_id") == club.id
        }
        assert list(scoped) == ([OWNER] if olga in members else [])
        assert {"answer", "link", "soul", "memory"} <= scoped.get(OWNER, {"answer", "link", "soul", "memory"})


async def test_command_menus_are_updated_for_later_admins_and_former_admins(bot: SharedBot) -> None:
    (ada, _), olga = bot.person("Ada"), bot.tg.user(OWNER)
    club = bot.group(ada, olga)
    await bot.ask(club, olga, f"/status@{bot.tg.bot.username}")
    await bot.ask(club, ada, f"/answer@{bot.tg.bot.username}")
    told = {
        (method, call.params["scope"]["user_id"])
        for method in ("setMyCommands", "deleteMyCommands")
        for call in bot.tg.calls(method)
        if call.params.get("scope", {}).get("chat_id") == club.id
    }
    assert told == {("setMyCommands", OWNER), ("deleteMyCommands", ada.id)}


async def test_the_greeting_is_sent_even_if_telegram_requests_fail(bot: SharedBot) -> None:
    (ada, _), (ben, _) = bot.person("Ada"), bot.person("Ben")
    for method in ("getMe", "getChat", "getChatMember", "setMyCommands"):
        bot.tg.fault(method, "error", times=9)
    hello = (await added(bot, empty(bot, ada, ben), ada)).text
    assert "I answer the people I know when they mention me" in hello
    assert "only shows me" not in hello
