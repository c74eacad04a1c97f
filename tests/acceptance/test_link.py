"""/link: an admin lends their own memory to a group, for their own turns there."""

from __future__ import annotations

import asyncio

from tests.acceptance.harness import OWNER
from tests.acceptance.shared_bot import SESSION, SharedBot
from tests.acceptance.shared_relay import SharedRelay
from tests.standins.anthropic import tool
from tests.standins.telegram import Chat, StoredMessage, User

pytestmark = SESSION


def at(bot: SharedBot) -> str:
    return f"@{bot.tg.bot.username}"


def olga_of(bot: SharedBot) -> tuple[User, Chat]:
    olga = bot.tg.user(OWNER, "Olga")
    return olga, bot.tg.dm(olga)


async def linked(bot: SharedBot, group: Chat, lender: User) -> StoredMessage:
    """Lends the memory by the button."""
    asked = await bot.ask(group, lender, f"/link{at(bot)}")
    assert await bot.press(group, lender, asked, "Lend my memory here") == "Lent."
    await bot.tg.wait_for(lambda: "Unlink" in asked.buttons)
    return asked


async def test_link_explains_itself_and_only_the_asking_admin_may_confirm(bot: SharedBot) -> None:
    (olga, dm), (ben, _) = olga_of(bot), bot.person("Ben")
    stranger = bot.tg.user(77_301, "Sam")
    group = bot.group(olga, ben, stranger)
    assert "my admins" in (await bot.ask(group, ben, f"/link{at(bot)}")).text
    assert "That works only in groups" in (await bot.ask(dm, olga, "/link")).text
    asked = await bot.ask(group, olga, f"/link{at(bot)}")
    assert asked.text.startswith("Lend your own memory to this group?\n")
    assert "Everyone here can see my answers" in asked.text
    assert list(asked.buttons) == ["Lend my memory here", "Cancel"]
    for label in asked.buttons:
        assert "not yours to decide" in await bot.press(group, ben, asked, label)
    bot.tg.press(group, stranger, asked, asked.buttons["Lend my memory here"])
    assert await bot.press(group, olga, asked, "Cancel") == ""
    await bot.tg.wait_for(lambda: asked.text == "OK, I won't use your memory here.")
    assert not asked.buttons
    assert "No one's memory" in (await bot.ask(group, olga, f"/unlink{at(bot)}")).text
    asked = await linked(bot, group, olga)
    assert "Your memory is lent to this group" in asked.text
    assert "not yours to decide" in await bot.press(group, ben, asked, "Unlink")
    again = await bot.ask(group, olga, f"/link{at(bot)}")
    assert "Your memory is lent to this group" in again.text
    assert await bot.press(group, olga, again, "Unlink") == "Taken back."
    await bot.tg.wait_for(lambda: "Taken back" in again.text)
    assert await bot.press(group, olga, asked, "Unlink") == "Taken back."
    # An old button does nothing if there is no link.
    assert "No one's memory" in (await bot.ask(group, olga, f"/unlink{at(bot)}")).text


async def test_link_is_unnecessary_in_a_group_of_one_person(bot: SharedBot) -> None:
    olga, _ = olga_of(bot)
    group = bot.group(olga)
    told = await bot.ask(group, olga, "/link")
    assert "You're the only person here" in told.text
    assert not told.buttons


async def test_lent_memory_is_used_only_in_turns_of_the_lender(bot: SharedBot) -> None:
    (olga, dm), (ben, _) = olga_of(bot), bot.person("Ben")
    group = bot.group(olga, ben)
    await bot.ask(dm, olga, "I am allergic to walnuts", "Noted [LEARN: Is allergic to walnuts]")
    await bot.ask(dm, olga, "the marmalade recipe of aunt Berta needs quinces")
    await bot.ask(group, olga, f"{at(bot)} before: aunt Berta's marmalade recipe?", "No idea.")
    before = bot.prompt("before: aunt Berta").text
    assert "walnuts" not in before
    assert "quinces" not in before
    await linked(bot, group, olga)
    await bot.ask(group, olga, f"{at(bot)} during: aunt Berta's marmalade recipe?", "It is a secret.")
    during = bot.prompt("during: aunt Berta")
    assert "- Olga: Is allergic to walnuts" in during.system_text
    assert "Olga, in private: the marmalade recipe of aunt Berta needs quinces" in during.text
    # Another person's turn and the group's search show none of it.
    await bot.ask(group, ben, f"{at(bot)} Ben asks: aunt Berta's marmalade recipe?", "Ask her.")
    bens = bot.prompt("Ben asks: aunt Berta").text
    assert "walnuts" not in bens
    assert "quinces" not in bens
    bot.says("look for quinces", [tool("search_memory", {"query": "quinces marmalade recipe walnuts"})])
    await bot.ask(group, olga, f"{at(bot)} look for quinces")
    assert "needs quinces" not in str(bot.prompt("look for quinces").tool_results)
    await bot.ask(group, olga, f"/unlink{at(bot)}")
    await bot.ask(group, olga, f"{at(bot)} after: aunt Berta's marmalade recipe?", "No idea.")
    after = bot.prompt("after: aunt Berta").text
    assert "walnuts" not in after
    assert "needs quinces" not in after


async def test_facts_learned_in_a_linked_group_stay_there_unlike_lent_memory(bot: SharedBot) -> None:
    (olga, dm), (ben, _) = olga_of(bot), bot.person("Ben")
    group = bot.group(olga, ben)
    await bot.ask(dm, olga, "I collect stamps", "Noted [LEARN: Collects stamps]")
    await linked(bot, group, olga)
    answer = "Fine.\n[LEARN: collects stamps!]\n[LEARN: Brings the tent]"
    taught = await bot.ask(group, olga, f"{at(bot)} I bring the tent", answer)
    # While memory is lent, the lender decides what the group keeps.
    assert "To remember: Brings the tent. Waiting for your tap" in taught.text
    assert "stamps" not in taught.text
    await bot.press(group, olga, taught, "Keep or discard")
    await bot.tg.wait_for(lambda: "✖ Discard" in taught.buttons)
    await bot.press(group, olga, taught, "✅ Keep")
    await bot.ask(group, ben, f"{at(bot)} what does Olga do?")
    assert "- Olga: Brings the tent" in bot.prompt("what does Olga do").system_text
    assert "stamps" not in bot.prompt("what does Olga do").text
    await bot.ask(dm, olga, "in private again: what do I bring?")
    assert "Brings the tent" not in bot.prompt("in private again").text


async def test_an_erasure_takes_what_the_bot_said_from_lent_memory(bot: SharedBot) -> None:
    (olga, dm), (ben, _) = olga_of(bot), bot.person("Ben")
    group = bot.group(olga, ben)
    await bot.ask(dm, olga, "about my aunt", "Noted [LEARN: Has an aunt called Floribunda]")
    await linked(bot, group, olga)
    learns = "Your aunt is Floribunda. [LEARN: Olga's aunt Floribunda was named in a group]"
    told = await bot.ask(group, olga, f"{at(bot)} who is my aunt?", learns)
    other = await bot.ask(group, olga, f"{at(bot)} how is the weather?", "It rains.")
    await bot.ask(group, olga, f"/unlink{at(bot)}")
    shown = await bot.ask(dm, olga, "/forget --erase Floribunda")
    await bot.press(dm, olga, shown, "Erase for good")
    await bot.tg.wait_for(lambda: told.deleted)
    assert not other.deleted
    shared_relay = SharedRelay(bot.tg, bot.model, bot.relay, bot.data)
    assert shared_relay.sql("select count(*) from relay.memory where content like '%%Floribunda%%'") == [(0,)]
    await bot.ask(group, ben, f"{at(bot)} what did you tell Olga?")
    seen = str(bot.prompt("what did you tell Olga").messages)
    assert "Floribunda" not in seen
    assert "It rains" in seen


async def test_lending_ends_when_the_lender_leaves(bot: SharedBot) -> None:
    (olga, dm), (ben, _) = olga_of(bot), bot.person("Ben")
    sam = bot.tg.user(77_302, "Sam")
    group = bot.group(olga, ben, sam)
    await bot.ask(dm, olga, "I fear spiders", "Noted [LEARN: Fears spiders]")
    for by in (None, sam):  # She leaves herself, or somebody whom the bot doesn't know removes her.
        asked = await linked(bot, group, olga)
        gone = bot.tg.remove_member(group, olga, by=by)
        assert gone is not None
        line = await bot.tg.wait_reply(group, gone)
        assert line.text == "Olga has left, so I no longer use their memory here."
        bot.tg.set_member(group, olga, "member", by=ben)
        await bot.ask(group, olga, f"{at(bot)} I am back {by}")
        assert "spiders" not in bot.prompt(f"I am back {by}").text
        assert "No one's memory" in (await bot.ask(group, olga, f"/unlink{at(bot)}")).text
        assert asked.text
    # When somebody else leaves, nothing changes.
    await linked(bot, group, olga)
    bot.tg.remove_member(group, ben)
    bot.tg.add_member(group, ben, by=sam)
    await bot.tg.wait_for(lambda: not bot.tg.pending_updates)
    await asyncio.sleep(0.3)
    await bot.ask(group, olga, f"{at(bot)} still lent")
    assert "- Olga: Fears spiders" in bot.prompt("still lent").system_text


async def test_lending_survives_migration_to_a_supergroup(bot: SharedBot) -> None:
    (olga, dm), (ben, _) = olga_of(bot), bot.person("Ben")
    await bot.ask(dm, olga, "I play the tuba", "Noted [LEARN: Plays the tuba]")
    small = bot.tg.group(-4_000_301, "Small", [olga, ben])
    await linked(bot, small, olga)
    large = bot.tg.migrate(small, next(bot.groups))
    await bot.tg.wait_for(lambda: not bot.tg.pending_updates)
    await bot.ask(large, olga, f"{at(bot)} in the new one")
    assert "- Olga: Plays the tuba" in bot.prompt("in the new one").system_text
