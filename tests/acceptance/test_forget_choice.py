"""Which one to forget, when several may be meant: shown at once, decided by one tap."""

from __future__ import annotations

import pytest

from tests.acceptance.town import SESSION, Town

pytestmark = SESSION


async def test_an_ambiguous_forget_shows_what_it_may_mean_and_a_tap_decides(town: Town) -> None:
    ada, dm = town.person()
    for number, fact in enumerate(("cat *Tom*", "cat Minka", "cat Felix"), 1):
        await town.ask(dm, ada, f"/remember my {fact} is pet number {number}")
    reply = await town.ask(dm, ada, "/forget pet number")
    assert reply.text.startswith("🧠 Which one should I forget?")
    for name in ("cat *Tom*", "cat Minka", "cat Felix"):
        assert name in reply.text
    assert list(reply.buttons) == ["🗑 1", "🗑 2", "🗑 3", "✖ None of these", "🗑 All 3"]
    line = next(line for line in reply.text.splitlines() if "Minka" in line)
    number = line[line.index(" · ") - 1]
    late = reply.buttons["🗑 1" if number != "1" else "🗑 2"]
    assert await town.press(dm, ada, reply, f"🗑 {number}") == "Done."
    listed = (await town.ask(dm, ada, "/memory")).text
    assert "Minka" not in listed
    assert "Tom" in listed
    assert "Felix" in listed
    assert "wait" not in listed  # choosing one answers the question
    assert "✖ Not forgotten: 2 of these" in reply.buttons
    query = town.tg.press(dm, ada, reply, late)
    answer = await town.tg.wait_for(lambda: town.tg.answers.get(query), timeout=30)
    assert answer["text"] == "That's already decided."
    assert await town.press(dm, ada, reply, "↩ Undo: my cat Minka is pet number 2") == "Undone."
    assert "Minka" in (await town.ask(dm, ada, "/memory")).text


async def test_none_of_these_forgets_nothing(town: Town) -> None:
    ada, dm = town.person()
    reply = await town.ask(dm, ada, "boats", "Ok [LEARN: Boat Nora is red] [LEARN: Boat Lena leaks]")
    reply = await town.ask(dm, ada, "forget it", "Ok [FORGET: boat]")
    assert "Which one should I forget? 1 Boat" in reply.text
    assert await town.press(dm, ada, reply, "✖ None of these") == "OK, I won't forget any of them."
    listed = (await town.ask(dm, ada, "/memory")).text
    assert "(2)" in listed
    assert "wait" not in listed


@pytest.mark.parametrize("number", ["1", "2"])
async def test_after_one_was_chosen_none_of_these_is_too_late(town: Town, number: str) -> None:
    ada, dm = town.person()
    await town.ask(dm, ada, "boats", "Ok [LEARN: Boat Nora is red] [LEARN: Boat Lena leaks]")
    reply = await town.ask(dm, ada, "forget it", "Ok [FORGET: boat]")
    none = reply.buttons["✖ None of these"]
    assert await town.press(dm, ada, reply, f"🗑 {number}") == "Done."
    query = town.tg.press(dm, ada, reply, none)
    answer = await town.tg.wait_for(lambda: town.tg.answers.get(query), timeout=30)
    assert answer["text"] == "That's already decided."
    assert "(1)" in (await town.ask(dm, ada, "/memory")).text


async def test_another_member_of_a_group_does_not_choose(town: Town) -> None:
    (ada, _), (ben, _) = town.person("Ada"), town.person("Ben")
    group, name = town.group(ada, ben), f"@{town.tg.bot.username}"
    for fact in ("likes green pears", "likes green plums"):
        await town.ask(group, ada, f"/remember{name} {fact}")
    reply = await town.ask(group, ada, f"/forget{name} likes green")
    assert "Ada: likes green p" in reply.text
    shown = dict(reply.buttons)
    for label in ("🗑 1", "🗑 2", "✖ None of these"):
        assert "not yours" in await town.press(group, ben, reply, label)
    assert reply.buttons == shown
    assert await town.press(group, ada, reply, "🗑 1") == "Done."
    await town.tg.wait_for(lambda: any("Undo" in label for label in reply.buttons), timeout=30)
