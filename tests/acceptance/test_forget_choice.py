"""If several memories match /forget, the bot shows them at once and one tap decides."""

from __future__ import annotations

import pytest

from tests.acceptance.shared_bot import SESSION, SharedBot

pytestmark = SESSION


async def test_an_ambiguous_forget_lists_the_candidates_and_a_tap_decides(bot: SharedBot) -> None:
    ada, dm = bot.person()
    for number, fact in enumerate(("cat *Tom*", "cat Minka", "cat Felix"), 1):
        await bot.ask(dm, ada, f"/remember my {fact} is pet number {number}")
    reply = await bot.ask(dm, ada, "/forget pet number")
    assert reply.text.startswith("🧠 Which one should I forget?")
    for name in ("cat *Tom*", "cat Minka", "cat Felix"):
        assert name in reply.text
    assert list(reply.buttons) == ["🗑 1", "🗑 2", "🗑 3", "✖ None of these", "🗑 All 3"]
    line = next(line for line in reply.text.splitlines() if "Minka" in line)
    number = line[line.index(" · ") - 1]
    late = reply.buttons["🗑 1" if number != "1" else "🗑 2"]
    assert await bot.press(dm, ada, reply, f"🗑 {number}") == "Done."
    listed = (await bot.ask(dm, ada, "/memory")).text
    assert "Minka" not in listed
    assert "Tom" in listed
    assert "Felix" in listed
    assert "wait" not in listed  # Choosing one answers the question.
    assert "✖ Not forgotten: 2 of these" in reply.buttons
    query = bot.tg.press(dm, ada, reply, late)
    answer = await bot.tg.wait_for(lambda: bot.tg.answers.get(query), timeout=30)
    assert answer["text"] == "That's already decided."
    assert await bot.press(dm, ada, reply, "↩ Undo: my cat Minka is pet number 2") == "Undone."
    assert "Minka" in (await bot.ask(dm, ada, "/memory")).text


async def test_none_of_these_forgets_nothing(bot: SharedBot) -> None:
    ada, dm = bot.person()
    reply = await bot.ask(dm, ada, "boats", "Ok [LEARN: Boat Nora is red] [LEARN: Boat Lena leaks]")
    reply = await bot.ask(dm, ada, "forget it", "Ok [FORGET: boat]")
    assert "Which one should I forget? 1 Boat" in reply.text
    assert await bot.press(dm, ada, reply, "✖ None of these") == "OK, I won't forget any of them."
    listed = (await bot.ask(dm, ada, "/memory")).text
    assert "(2)" in listed
    assert "wait" not in listed


@pytest.mark.parametrize("number", ["1", "2"])
async def test_none_of_these_does_nothing_after_a_choice(bot: SharedBot, number: str) -> None:
    ada, dm = bot.person()
    await bot.ask(dm, ada, "boats", "Ok [LEARN: Boat Nora is red] [LEARN: Boat Lena leaks]")
    reply = await bot.ask(dm, ada, "forget it", "Ok [FORGET: boat]")
    none = reply.buttons["✖ None of these"]
    assert await bot.press(dm, ada, reply, f"🗑 {number}") == "Done."
    query = bot.tg.press(dm, ada, reply, none)
    answer = await bot.tg.wait_for(lambda: bot.tg.answers.get(query), timeout=30)
    assert answer["text"] == "That's already decided."
    assert "(1)" in (await bot.ask(dm, ada, "/memory")).text


async def test_another_member_of_the_group_cannot_choose(bot: SharedBot) -> None:
    (ada, _), (ben, _) = bot.person("Ada"), bot.person("Ben")
    group, name = bot.group(ada, ben), f"@{bot.tg.bot.username}"
    for fact in ("likes green pears", "likes green plums"):
        await bot.ask(group, ada, f"/remember{name} {fact}")
    reply = await bot.ask(group, ada, f"/forget{name} likes green")
    assert "Ada: likes green p" in reply.text
    shown = dict(reply.buttons)
    for label in ("🗑 1", "🗑 2", "✖ None of these"):
        assert "not yours" in await bot.press(group, ben, reply, label)
    assert reply.buttons == shown
    assert await bot.press(group, ada, reply, "🗑 1") == "Done."
    await bot.tg.wait_for(lambda: any("Undo" in label for label in reply.buttons), timeout=30)


@pytest.mark.parametrize(("label", "left"), [("Forget it", 0), ("Keep it", 1)])
async def test_forget_asks_about_a_memory_that_may_not_be_meant(bot: SharedBot, label: str, left: int) -> None:
    ada, dm = bot.person()
    await bot.ask(dm, ada, "/remember Andrea has the key")
    reply = await bot.ask(dm, ada, "/forget Andreas")
    assert reply.text == "🧠 Did you mean “Andrea has the key”?"
    assert list(reply.buttons) == ["🗑 Forget it", "✖ Keep it"]
    assert await bot.press(dm, ada, reply, label) == ("Kept." if left else "Done.")
    listed = (await bot.ask(dm, ada, "/memory")).text
    assert ("Andrea" in listed) == bool(left)
    assert "wait" not in listed


async def test_forget_everything_asks_what_is_meant(bot: SharedBot) -> None:
    ada, dm = bot.person()
    await bot.ask(dm, ada, "/remember Alles Liebe is what Mia says")
    await bot.ask(dm, ada, "/remember I like tea")
    for word in ("alles", "Everything!", "alle", "me"):
        reply = await bot.ask(dm, ada, f"/forget {word}")
        assert "/memory reset" in reply.text
        assert f"/forget *{word.strip('!')}*" in reply.text
    assert "(2)" in (await bot.ask(dm, ada, "/memory")).text
