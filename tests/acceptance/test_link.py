"""/link: an admin lends their own memory to a group, for their own turns there."""

from __future__ import annotations

import asyncio

from tests.acceptance.harness import OWNER
from tests.acceptance.town import SESSION, Town
from tests.standins.anthropic import tool
from tests.standins.telegram import Chat, StoredMessage, User

pytestmark = SESSION


def at(town: Town) -> str:
    return f"@{town.tg.bot.username}"


def olga_of(town: Town) -> tuple[User, Chat]:
    olga = town.tg.user(OWNER, "Olga")
    return olga, town.tg.dm(olga)


async def linked(town: Town, group: Chat, lender: User) -> StoredMessage:
    """Lends, by the button."""
    asked = await town.ask(group, lender, f"/link{at(town)}")
    assert await town.press(group, lender, asked, "Lend my memory here") == "Lent."
    await town.tg.wait_for(lambda: "Unlink" in asked.buttons)
    return asked


async def test_it_explains_asks_and_only_whoever_asked_may_press(town: Town) -> None:
    (olga, dm), (ben, _) = olga_of(town), town.person("Ben")
    stranger = town.tg.user(77_301, "Sam")
    group = town.group(olga, ben, stranger)
    assert "people who run me" in (await town.ask(group, ben, f"/link{at(town)}")).text
    assert "That is for groups" in (await town.ask(dm, olga, "/link")).text
    asked = await town.ask(group, olga, f"/link{at(town)}")
    assert "Everyone here can see my answers" in asked.text
    assert list(asked.buttons) == ["Lend my memory here", "Cancel"]
    for label in asked.buttons:
        assert "not yours to decide" in await town.press(group, ben, asked, label)
    town.tg.press(group, stranger, asked, asked.buttons["Lend my memory here"])
    assert await town.press(group, olga, asked, "Cancel") == ""
    await town.tg.wait_for(lambda: asked.text == "OK, I won't use your memory here.")
    assert not asked.buttons
    assert "Nobody lends me" in (await town.ask(group, olga, f"/unlink{at(town)}")).text
    asked = await linked(town, group, olga)
    assert "Your memory is lent to this group" in asked.text
    assert "not yours to decide" in await town.press(group, ben, asked, "Unlink")
    again = await town.ask(group, olga, f"/link{at(town)}")
    assert "Your memory is lent to this group" in again.text
    assert await town.press(group, olga, again, "Unlink") == "Taken back."
    await town.tg.wait_for(lambda: "Taken back" in again.text)
    assert await town.press(group, olga, asked, "Unlink") == "Taken back."
    # an old button of another time does nothing to a link that is not there
    assert "Nobody lends me" in (await town.ask(group, olga, f"/unlink{at(town)}")).text


async def test_alone_nothing_needs_to_be_lent(town: Town) -> None:
    olga, _ = olga_of(town)
    group = town.group(olga)
    told = await town.ask(group, olga, "/link")
    assert "You are the only person here" in told.text
    assert not told.buttons


async def test_what_is_lent_is_in_the_lenders_own_turns_only(town: Town) -> None:
    (olga, dm), (ben, _) = olga_of(town), town.person("Ben")
    group = town.group(olga, ben)
    await town.ask(dm, olga, "I am allergic to walnuts", "Noted [LEARN: Is allergic to walnuts]")
    await town.ask(dm, olga, "the marmalade recipe of aunt Berta needs quinces")
    await town.ask(group, olga, f"{at(town)} before: aunt Berta's marmalade recipe?", "No idea.")
    before = town.prompt("before: aunt Berta").text
    assert "walnuts" not in before
    assert "quinces" not in before
    await linked(town, group, olga)
    await town.ask(group, olga, f"{at(town)} during: aunt Berta's marmalade recipe?", "It is a secret.")
    during = town.prompt("during: aunt Berta")
    assert "- Olga: Is allergic to walnuts" in during.system_text
    assert "Olga, in private: the marmalade recipe of aunt Berta needs quinces" in during.text
    # another person's turn, and the group's own search, have none of it
    await town.ask(group, ben, f"{at(town)} Ben asks: aunt Berta's marmalade recipe?", "Ask her.")
    bens = town.prompt("Ben asks: aunt Berta").text
    assert "walnuts" not in bens
    assert "quinces" not in bens
    town.says("look for quinces", [tool("search_memory", {"query": "quinces marmalade recipe walnuts"})])
    await town.ask(group, olga, f"{at(town)} look for quinces")
    assert "needs quinces" not in str(town.prompt("look for quinces").tool_results)
    await town.ask(group, olga, f"/unlink{at(town)}")
    await town.ask(group, olga, f"{at(town)} after: aunt Berta's marmalade recipe?", "No idea.")
    after = town.prompt("after: aunt Berta").text
    assert "walnuts" not in after
    assert "needs quinces" not in after


async def test_what_is_learned_in_a_linked_group_stays_there_and_what_was_lent_does_not(town: Town) -> None:
    (olga, dm), (ben, _) = olga_of(town), town.person("Ben")
    group = town.group(olga, ben)
    await town.ask(dm, olga, "I collect stamps", "Noted [LEARN: Collects stamps]")
    await linked(town, group, olga)
    answer = "Fine.\n[LEARN: collects stamps!]\n[LEARN: Brings the tent]"
    taught = await town.ask(group, olga, f"{at(town)} I bring the tent", answer)
    # with lent memory at hand, whoever lends it decides what the group keeps
    assert "To remember: Brings the tent. Waiting for your tap" in taught.text
    assert "stamps" not in taught.text
    await town.press(group, olga, taught, "Keep or discard")
    await town.tg.wait_for(lambda: "✖ Discard" in taught.buttons)
    await town.press(group, olga, taught, "✅ Keep")
    await town.ask(group, ben, f"{at(town)} what does Olga do?")
    assert "- Olga: Brings the tent" in town.prompt("what does Olga do").system_text
    assert "stamps" not in town.prompt("what does Olga do").text
    await town.ask(dm, olga, "in private again: what do I bring?")
    assert "Brings the tent" not in town.prompt("in private again").text


async def test_when_the_lender_leaves_it_is_lent_no_more(town: Town) -> None:
    (olga, dm), (ben, _) = olga_of(town), town.person("Ben")
    sam = town.tg.user(77_302, "Sam")
    group = town.group(olga, ben, sam)
    await town.ask(dm, olga, "I fear spiders", "Noted [LEARN: Fears spiders]")
    for by in (None, sam):  # by herself; sent away by somebody whom the bot does not know
        asked = await linked(town, group, olga)
        gone = town.tg.remove_member(group, olga, by=by)
        assert gone is not None
        line = await town.tg.wait_reply(group, gone)
        assert line.text == "Olga has left, so I no longer use their memory here."
        town.tg.set_member(group, olga, "member", by=ben)
        await town.ask(group, olga, f"{at(town)} I am back {by}")
        assert "spiders" not in town.prompt(f"I am back {by}").text
        assert "Nobody lends me" in (await town.ask(group, olga, f"/unlink{at(town)}")).text
        assert asked.text
    # somebody else's leaving changes nothing
    await linked(town, group, olga)
    town.tg.remove_member(group, ben)
    town.tg.add_member(group, ben, by=sam)
    await town.tg.wait_for(lambda: not town.tg.pending_updates)
    await asyncio.sleep(0.3)
    await town.ask(group, olga, f"{at(town)} still lent")
    assert "- Olga: Fears spiders" in town.prompt("still lent").system_text


async def test_what_was_lent_holds_when_the_group_becomes_a_supergroup(town: Town) -> None:
    (olga, dm), (ben, _) = olga_of(town), town.person("Ben")
    await town.ask(dm, olga, "I play the tuba", "Noted [LEARN: Plays the tuba]")
    small = town.tg.group(-4_000_301, "Small", [olga, ben])
    await linked(town, small, olga)
    large = town.tg.migrate(small, next(town.groups))
    await town.tg.wait_for(lambda: not town.tg.pending_updates)
    await town.ask(large, olga, f"{at(town)} in the new one")
    assert "- Olga: Plays the tuba" in town.prompt("in the new one").system_text
