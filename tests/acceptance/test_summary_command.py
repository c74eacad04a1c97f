"""/summary shows a conversation's summary, makes one on demand, and lets people correct and restore it."""

from __future__ import annotations

from pathlib import Path

from tests.acceptance.harness import OWNER
from tests.acceptance.shared_bot import SESSION, SharedBot
from tests.acceptance.test_terminal import relay
from tests.standins.anthropic import Recorded, Reply
from tests.standins.telegram import Chat, StoredMessage, User

pytestmark = SESSION


def small(bot: SharedBot, words: str) -> list[Recorded]:
    return [one for one in bot.model.requests if "haiku" in one.model and words in one.last_text]


async def talk(bot: SharedBot, chat: Chat, user: User, count: int, word: str) -> None:
    for number in range(count):
        await bot.ask(chat, user, f"{word} {number} said", f"{word} {number} heard")


async def summarised(bot: SharedBot, chat: Chat, user: User, word: str, text: str) -> StoredMessage:
    """Has two exchanges and a summary of them."""
    bot.model.rule(word, text, model="haiku", times=1)
    await talk(bot, chat, user, 2, word)
    shown = await bot.ask(chat, user, "/summary refresh")
    assert text in shown.text
    return shown


async def test_a_summary_is_made_on_demand_and_shown(bot: SharedBot) -> None:
    ada, dm = bot.person()
    none = await bot.ask(dm, ada, "/summary")
    assert "This conversation has no summary yet" in none.text
    assert not none.buttons
    assert "nothing new" in (await bot.ask(dm, ada, "/summary refresh")).text
    await talk(bot, dm, ada, 2, "lemur")
    none = await bot.ask(dm, ada, "/summary")
    assert list(none.buttons) == ["⟳ Write one now"]
    bot.model.rule("lemur", "Lemurs were *discussed*.\n- at length", model="haiku", times=1)
    await bot.press(dm, ada, none, "Write one now")
    assert "Summary, version 1 of 1 · by claude-haiku" in none.text
    assert "covers 4 messages until 20" in none.text
    assert "Lemurs were *discussed*." in none.text
    assert len(small(bot, "lemur 1 heard")) == 1
    await bot.ask(dm, ada, "and now?", "Now.")
    assert "<summary>" not in str(bot.prompt("and now?").messages), "all summarised messages are still in the prompt"
    assert "2 messages since" in (await bot.ask(dm, ada, "/summary")).text
    assert "nothing new" in await bot.press(dm, ada, none, "Refresh")
    assert "Write /summary" in (await bot.ask(dm, ada, "/summary sing")).text


async def test_a_correction_by_reply_is_the_basis_of_the_next_summary(bot: SharedBot) -> None:
    ada, dm = bot.person()
    shown = await summarised(bot, dm, ada, "badger", "Ada keeps badgers in Basel.")
    await bot.press(dm, ada, shown, "Correct")
    prompt = await bot.tg.wait_for(
        lambda: next((m for m in bot.tg.messages(dm) if m.text.startswith("✎ summary #")), None)
    )
    assert "Ada keeps badgers in Basel." in prompt.text
    now = await bot.ask(dm, ada, "Ada keeps badgers in Bern.", reply_to=prompt)
    assert "version 2 of 2 · corrected by Ada" in now.text
    assert "badgers in Bern" in now.text
    await bot.ask(dm, ada, "where are they?", "In Bern. [LEARN: Ada keeps badgers]")
    request = bot.prompt("where are they?")
    assert "<summary>\nAda keeps badgers in Bern.\n</summary>" in request.text
    assert "badgers in Basel" not in str(request.messages[0])
    assert "Learned: Ada keeps badgers" in bot.tg.messages(dm)[-1].text, "a person's own correction is trusted"
    # The same question again: that version is no longer current.
    stale = await bot.ask(dm, ada, "Ada keeps badgers in Biel.", reply_to=prompt)
    assert "has changed since" in stale.text
    bot.model.rule("where are they?", "Badgers, in Bern.", model="haiku", times=1)
    await bot.ask(dm, ada, "badger again", "Fine.")
    assert "Badgers, in Bern." in (await bot.ask(dm, ada, "/summary refresh")).text
    assert "<summary>\nAda keeps badgers in Bern.\n</summary>" in small(bot, "where are they?")[0].last_text


async def test_a_correction_while_a_summary_is_written_is_not_lost(bot: SharedBot) -> None:
    ada, dm = bot.person()
    await summarised(bot, dm, ada, "stoat", "Stoats live in Basel.")
    await talk(bot, dm, ada, 2, "weasel")
    bot.model.rule("weasel", Reply("Stoats and weasels, once more.", first_delay=2), model="haiku", times=1)
    bot.model.rule("in Bern", "Stoats in Bern, and weasels.", model="haiku", times=1)
    said = await bot.tg.say(dm, ada, "/summary refresh")
    await bot.tg.wait_for(lambda: small(bot, "weasel 1 heard"))
    corrected = await bot.ask(dm, ada, "/summary correct Stoats live in Bern.")
    assert "Stoats live in Bern." in corrected.text
    await bot.tg.wait_for(
        lambda: [m for m in bot.tg.messages(dm) if m.message_id > said.message_id and "and weasels." in m.text]
    )
    first, second = small(bot, "weasel 1 heard")
    assert "in Basel" in first.last_text
    assert "<summary>\nStoats live in Bern.\n</summary>" in second.last_text
    await bot.ask(dm, ada, "so where?")
    assert "<summary>\nStoats live in Bern.\n</summary>" in bot.prompt("so where?").text


async def test_versions_are_kept_and_an_older_one_can_be_restored(bot: SharedBot) -> None:
    ada, dm = bot.person()
    await summarised(bot, dm, ada, "heron", "Version one of herons.")
    for number in range(2, 7):
        shown = await bot.ask(dm, ada, f"/summary correct Herons, number {number}.")
    assert "version 6 of 6" in shown.text
    await bot.press(dm, ada, shown, "History")
    assert "(6)" in shown.text
    assert "Herons, number 6." in shown.text
    assert ", current" in shown.text
    assert list(shown.buttons) == ["6", "5", "4", "3", "2", "Older ›", "‹ Current summary"]
    await bot.press(dm, ada, shown, "Older")
    await bot.press(dm, ada, shown, "1")
    assert "version 1 of 6" in shown.text
    restore = shown.buttons["↺ Use this one again"]
    assert "Restored" in await bot.press(dm, ada, shown, "Use this one again")
    assert "version 7 of 7 · corrected by Ada" in shown.text
    assert "Version one of herons." in shown.text
    # Pressing it twice does no harm.
    bot.tg.press(dm, ada, shown, restore)
    assert "version 7 of 7" in (await bot.ask(dm, ada, "/summary")).text
    await bot.ask(dm, ada, "what of herons?")
    assert "<summary>\nVersion one of herons.\n</summary>" in bot.prompt("what of herons?").text
    assert "version 7 of 7" in (await bot.ask(dm, ada, "/summary")).text
    # A new conversation has no summary.
    await bot.ask(dm, ada, "/new")
    assert "no summary" in (await bot.ask(dm, ada, "/summary")).text
    assert "no summary" in (await bot.ask(dm, ada, "/summary correct What of it?")).text
    assert "earlier conversation" in await bot.press(dm, ada, await opened(bot, dm, ada, "zv:1"), "x")


async def opened(bot: SharedBot, chat: Chat, user: User, data: str) -> StoredMessage:
    """Returns a message of the bot with a button that has this data."""
    message = await bot.ask(chat, user, "anything")
    message.raw["reply_markup"] = {"inline_keyboard": [[{"text": "x", "callback_data": data}]]}
    return message


async def test_the_length_of_a_correction_is_limited(bot: SharedBot) -> None:
    ada, dm = bot.person()
    await summarised(bot, dm, ada, "moose", "Moose.")
    said = await bot.ask(dm, ada, "/summary correct " + "ÄÖ" * 1900)
    assert "at most 1500" in said.text
    assert "version 1 of 1" in (await bot.ask(dm, ada, "/summary")).text


async def test_an_unavailable_model_is_reported(bot: SharedBot) -> None:
    ada, dm = bot.person()
    await talk(bot, dm, ada, 2, "newt")
    bot.model.fault("529", times=None, match="newt", model="haiku")
    said = await bot.ask(dm, ada, "/summary refresh")
    assert said.text.startswith("⚠️ ")
    assert "try again in a while" in said.text
    bot.model.faults.clear()
    bot.model.rule("newt", "Newts, at last.", model="haiku", times=1)
    assert "Newts, at last." in (await bot.ask(dm, ada, "/summary refresh")).text


async def test_only_group_members_can_correct_a_groups_summary(bot: SharedBot) -> None:
    (ada, _), (ben, ben_dm), (cleo, cleo_dm) = bot.person("Ada"), bot.person("Ben"), bot.person("Cleo")
    group, mention = bot.group(ada, ben), f"@{bot.tg.bot.username}"
    for number in range(2):
        await bot.ask(group, ada, f"{mention} ibex {number}", "Noted.")
    bot.model.rule("ibex", "Ibexes.", model="haiku", times=1)
    shown = await bot.ask(group, ada, f"/summary{mention} refresh")
    assert "Ibexes." in shown.text
    fixed = await bot.ask(group, ben, f"/summary{mention} correct Ibexes on Mount Ben.")
    assert "corrected by Ben" in fixed.text
    # A forged press from another chat finds nothing, and a non-member may do nothing in the group.
    hello = await bot.ask(cleo_dm, cleo, "hello")
    for data in fixed.buttons.values():
        query = bot.tg.press(cleo_dm, cleo, hello, data)
        await bot.tg.wait_for(lambda query=query: bot.tg.answers.get(query))
    assert "Ibexes" not in "".join(m.text for m in bot.tg.messages(cleo_dm))
    for label in ("Refresh", "Correct", "History"):
        assert "not yours" in await bot.press(group, cleo, fixed, label)
    bot.model.rule("what lives there", "Ok [LEARN: likes ibexes]", times=1)
    reply = await bot.ask(group, ada, f"{mention} what lives there?")
    assert "Ibexes on Mount Ben" in bot.prompt("what lives there").text
    assert "Waiting for your tap" in reply.text, "for Ada it is another person's text"
    assert "no summary" in (await bot.ask(ben_dm, ben, "/summary")).text


async def test_buttons_and_questions_of_a_summary_work_after_a_restart(bot: SharedBot) -> None:
    world = bot.world()
    tg, dm, ada = world.tg, world.dm, world.owner

    async def ask(text: str, **more: object) -> StoredMessage:
        return await tg.wait_reply(dm, await tg.say(dm, ada, text, **more))

    for number in range(2):
        await ask(f"yak {number}")
    world.model.rule("yak", "Yaks.", model="haiku")
    shown = await ask("/summary refresh")
    await tg.tap(dm, ada, shown, "✎ Correct")
    prompt = await tg.wait_for(lambda: next((m for m in tg.messages(dm) if m.text.startswith("✎ summary")), None))
    await ask("/help")  # by now, the bot has stored that the question is in the chat
    await world.relay.kill()
    await world.relay.start()
    assert "version 2 of 2 · corrected by Ada" in (await ask("Better yaks.", reply_to=prompt)).text
    await tg.tap(dm, ada, shown, "History")
    await tg.wait_for(lambda: "Versions of this conversation's summary (2)" in shown.text)


async def test_the_summary_is_shown_in_the_shell(bot: SharedBot, tmp_path: Path) -> None:
    assert bot.tg.user(OWNER)
    code, shown = await relay(bot.relay.environment, tmp_path, "summary")
    assert code == 0
    assert "summary" in shown.lower()
    code, shown = await relay(bot.relay.environment, tmp_path, "summary", "history")
    assert code == 0
