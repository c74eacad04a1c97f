"""/summary: what is kept of a conversation is shown, made on demand, corrected, and taken back."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.acceptance.conftest import World
from tests.acceptance.harness import OWNER
from tests.acceptance.test_terminal import relay
from tests.acceptance.town import SESSION, Town
from tests.standins.anthropic import Recorded, Reply
from tests.standins.telegram import Chat, StoredMessage, User

pytestmark = SESSION


def small(town: Town, words: str) -> list[Recorded]:
    return [one for one in town.model.requests if "haiku" in one.model and words in one.last_text]


async def talk(town: Town, chat: Chat, user: User, count: int, word: str) -> None:
    for number in range(count):
        await town.ask(chat, user, f"{word} {number} said", f"{word} {number} heard")


async def summarised(town: Town, chat: Chat, user: User, word: str, text: str) -> StoredMessage:
    """Two exchanges and a summary of them."""
    town.model.rule(word, text, model="haiku", times=1)
    await talk(town, chat, user, 2, word)
    shown = await town.ask(chat, user, "/summary refresh")
    assert text in shown.text
    return shown


async def test_a_summary_is_made_on_demand_and_shown(town: Town) -> None:
    ada, dm = town.person()
    none = await town.ask(dm, ada, "/summary")
    assert "no summary of this conversation yet" in none.text
    assert not none.buttons
    assert "nothing new" in (await town.ask(dm, ada, "/summary refresh")).text
    await talk(town, dm, ada, 2, "lemur")
    none = await town.ask(dm, ada, "/summary")
    assert list(none.buttons) == ["⟳ Write one now"]
    town.model.rule("lemur", "Lemurs were *discussed*.\n- at length", model="haiku", times=1)
    await town.press(dm, ada, none, "Write one now")
    assert "Summary, version 1 of 1 · by claude-haiku" in none.text
    assert "covers 4 messages until 20" in none.text
    assert "Lemurs were *discussed*." in none.text
    assert len(small(town, "lemur 1 heard")) == 1
    await town.ask(dm, ada, "and now?", "Now.")
    assert "<summary>" not in str(town.prompt("and now?").messages), "all that it covers stands there itself"
    assert "2 messages since" in (await town.ask(dm, ada, "/summary")).text
    assert "nothing new" in await town.press(dm, ada, none, "Refresh")
    assert "Write /summary" in (await town.ask(dm, ada, "/summary sing")).text


async def test_a_correction_by_reply_is_a_version_that_the_next_one_builds_on(town: Town) -> None:
    ada, dm = town.person()
    shown = await summarised(town, dm, ada, "badger", "Ada keeps badgers in Basel.")
    await town.press(dm, ada, shown, "Correct")
    prompt = await town.tg.wait_for(
        lambda: next((m for m in town.tg.messages(dm) if m.text.startswith("✎ summary #")), None)
    )
    assert "Ada keeps badgers in Basel." in prompt.text
    now = await town.ask(dm, ada, "Ada keeps badgers in Bern.", reply_to=prompt)
    assert "version 2 of 2 · corrected by Ada" in now.text
    assert "badgers in Bern" in now.text
    await town.ask(dm, ada, "where are they?", "In Bern. [LEARN: Ada keeps badgers]")
    request = town.prompt("where are they?")
    assert "<summary>\nAda keeps badgers in Bern.\n</summary>" in request.text
    assert "badgers in Basel" not in str(request.messages[0])
    assert "Learned: Ada keeps badgers" in town.tg.messages(dm)[-1].text, "a person's own word is trusted"
    # the same question once more: that version is no longer the present one
    stale = await town.ask(dm, ada, "Ada keeps badgers in Biel.", reply_to=prompt)
    assert "has changed since" in stale.text
    town.model.rule("where are they?", "Badgers, in Bern.", model="haiku", times=1)
    await town.ask(dm, ada, "badger again", "Fine.")
    assert "Badgers, in Bern." in (await town.ask(dm, ada, "/summary refresh")).text
    assert "<summary>\nAda keeps badgers in Bern.\n</summary>" in small(town, "where are they?")[0].last_text


async def test_a_correction_while_a_summary_is_written_is_not_lost(town: Town) -> None:
    ada, dm = town.person()
    await summarised(town, dm, ada, "stoat", "Stoats live in Basel.")
    await talk(town, dm, ada, 2, "weasel")
    town.model.rule("weasel", Reply("Stoats and weasels, once more.", first_delay=2), model="haiku", times=1)
    town.model.rule("in Bern", "Stoats in Bern, and weasels.", model="haiku", times=1)
    said = await town.tg.say(dm, ada, "/summary refresh")
    await town.tg.wait_for(lambda: small(town, "weasel 1 heard"))
    corrected = await town.ask(dm, ada, "/summary correct Stoats live in Bern.")
    assert "Stoats live in Bern." in corrected.text
    await town.tg.wait_for(
        lambda: [m for m in town.tg.messages(dm) if m.message_id > said.message_id and "and weasels." in m.text]
    )
    first, second = small(town, "weasel 1 heard")
    assert "in Basel" in first.last_text
    assert "<summary>\nStoats live in Bern.\n</summary>" in second.last_text
    await town.ask(dm, ada, "so where?")
    assert "<summary>\nStoats live in Bern.\n</summary>" in town.prompt("so where?").text


async def test_versions_are_kept_and_an_older_one_can_be_taken_again(town: Town) -> None:
    ada, dm = town.person()
    await summarised(town, dm, ada, "heron", "Version one of herons.")
    for number in range(2, 7):
        shown = await town.ask(dm, ada, f"/summary correct Herons, number {number}.")
    assert "version 6 of 6" in shown.text
    await town.press(dm, ada, shown, "History")
    assert "(6)" in shown.text
    assert "Herons, number 6." in shown.text
    assert ", current" in shown.text
    assert list(shown.buttons) == ["6", "5", "4", "3", "2", "Older ›", "‹ Current summary"]
    await town.press(dm, ada, shown, "Older")
    await town.press(dm, ada, shown, "1")
    assert "version 1 of 6" in shown.text
    restore = shown.buttons["↺ Use this one again"]
    assert "Restored" in await town.press(dm, ada, shown, "Use this one again")
    assert "version 7 of 7 · corrected by Ada" in shown.text
    assert "Version one of herons." in shown.text
    # twice does no harm
    town.tg.press(dm, ada, shown, restore)
    assert "version 7 of 7" in (await town.ask(dm, ada, "/summary")).text
    await town.ask(dm, ada, "what of herons?")
    assert "<summary>\nVersion one of herons.\n</summary>" in town.prompt("what of herons?").text
    assert "version 7 of 7" in (await town.ask(dm, ada, "/summary")).text
    # a new conversation has none of it
    await town.ask(dm, ada, "/new")
    assert "no summary" in (await town.ask(dm, ada, "/summary")).text
    assert "no summary" in (await town.ask(dm, ada, "/summary correct What of it?")).text
    assert "earlier conversation" in await town.press(dm, ada, await opened(town, dm, ada, "zv:1"), "x")


async def opened(town: Town, chat: Chat, user: User, data: str) -> StoredMessage:
    """A message of the bot's with a button of this data under it."""
    message = await town.ask(chat, user, "anything")
    message.raw["reply_markup"] = {"inline_keyboard": [[{"text": "x", "callback_data": data}]]}
    return message


async def test_a_correction_has_a_length(town: Town) -> None:
    ada, dm = town.person()
    await summarised(town, dm, ada, "moose", "Moose.")
    said = await town.ask(dm, ada, "/summary correct " + "ÄÖ" * 1900)
    assert "at most 1500" in said.text
    assert "version 1 of 1" in (await town.ask(dm, ada, "/summary")).text


async def test_a_model_that_is_away_is_said_so(town: Town) -> None:
    ada, dm = town.person()
    await talk(town, dm, ada, 2, "newt")
    town.model.fault("529", times=None, match="newt", model="haiku")
    said = await town.ask(dm, ada, "/summary refresh")
    assert said.text.startswith("⚠️ ")
    assert "try again in a while" in said.text
    town.model.faults.clear()
    town.model.rule("newt", "Newts, at last.", model="haiku", times=1)
    assert "Newts, at last." in (await town.ask(dm, ada, "/summary refresh")).text


async def test_in_a_group_its_people_correct_and_nobody_else(town: Town) -> None:
    (ada, _), (ben, ben_dm), (cleo, cleo_dm) = town.person("Ada"), town.person("Ben"), town.person("Cleo")
    group, bot = town.group(ada, ben), f"@{town.tg.bot.username}"
    for number in range(2):
        await town.ask(group, ada, f"{bot} ibex {number}", "Noted.")
    town.model.rule("ibex", "Ibexes.", model="haiku", times=1)
    shown = await town.ask(group, ada, f"/summary{bot} refresh")
    assert "Ibexes." in shown.text
    fixed = await town.ask(group, ben, f"/summary{bot} correct Ibexes on Mount Ben.")
    assert "corrected by Ben" in fixed.text
    # a forged press from one's own chat finds nothing there; one who is not in the group may do nothing in it
    hello = await town.ask(cleo_dm, cleo, "hello")
    for data in fixed.buttons.values():
        query = town.tg.press(cleo_dm, cleo, hello, data)
        await town.tg.wait_for(lambda query=query: town.tg.answers.get(query))
    assert "Ibexes" not in "".join(m.text for m in town.tg.messages(cleo_dm))
    for label in ("Refresh", "Correct", "History"):
        assert "not yours" in await town.press(group, cleo, fixed, label)
    town.model.rule("what lives there", "Ok [LEARN: likes ibexes]", times=1)
    reply = await town.ask(group, ada, f"{bot} what lives there?")
    assert "Ibexes on Mount Ben" in town.prompt("what lives there").text
    assert "Waiting for your tap" in reply.text, "to Ada it is somebody else's word"
    assert "no summary" in (await town.ask(ben_dm, ben, "/summary")).text


@pytest.mark.asyncio(loop_scope="function")
async def test_its_buttons_and_questions_outlive_a_restart(world: World) -> None:
    tg, dm, ada = world.tg, world.dm, world.owner

    async def ask(text: str, **more: object) -> StoredMessage:
        return await tg.wait_reply(dm, await tg.say(dm, ada, text, **more))

    for number in range(2):
        await ask(f"yak {number}")
    world.model.rule("yak", "Yaks.", model="haiku")
    shown = await ask("/summary refresh")
    await tg.tap(dm, ada, shown, "✎ Correct")
    prompt = await tg.wait_for(lambda: next((m for m in tg.messages(dm) if m.text.startswith("✎ summary")), None))
    await ask("/help")  # by now it is written down that the question is in the chat
    await world.relay.kill()
    await world.relay.start()
    assert "version 2 of 2 · corrected by Ada" in (await ask("Better yaks.", reply_to=prompt)).text
    await tg.tap(dm, ada, shown, "History")
    await tg.wait_for(lambda: "Versions of this conversation's summary (2)" in shown.text)


async def test_the_terminal_shows_its_own(town: Town, tmp_path: Path) -> None:
    assert town.tg.user(OWNER)
    code, shown = await relay(town.relay.environment, tmp_path, "summary")
    assert code == 0
    assert "summary" in shown.lower()
    code, shown = await relay(town.relay.environment, tmp_path, "summary", "history")
    assert code == 0
