"""/answer sets which messages the bot answers in a group or a topic. Only admins may set it."""

from __future__ import annotations

import asyncio

from tests.acceptance.harness import OWNER
from tests.acceptance.shared_bot import SESSION, SharedBot
from tests.standins.telegram import Chat, StoredMessage, User

pytestmark = SESSION


def at(bot: SharedBot) -> str:
    return f"@{bot.tg.bot.username}"


async def unanswered(bot: SharedBot, chat: Chat, user: User, text: str, **more: object) -> None:
    """Sends a message and asserts that it gets no answer, no notice, and no model call."""
    asked, before = bot.asked, len(bot.tg.messages(chat))
    await bot.tg.say(chat, user, text, **more)
    await bot.tg.wait_for(lambda: not bot.tg.pending_updates)
    await asyncio.sleep(0.5)
    assert bot.asked == asked
    assert len(bot.tg.messages(chat)) == before + 1


async def asks_to_be_let_in(bot: SharedBot, chat: Chat, user: User, text: str) -> None:
    """Asserts that a stranger who addresses the bot gets one line, once, and no model call."""
    asked, said = bot.asked, await bot.tg.say(chat, user, text)
    assert "only answer people I know" in (await bot.tg.wait_reply(chat, said)).text
    assert bot.asked == asked


def marked(message: StoredMessage) -> list[str]:
    """Returns the buttons that mark the current setting."""
    return [label for label in message.buttons if label.startswith("✓")]


async def test_answer_all_answers_every_message_of_known_people(bot: SharedBot) -> None:
    olga, (ben, _) = bot.tg.user(OWNER, "Olga"), bot.person("Ben")
    stranger = bot.tg.user(77_201, "Sam")
    group = bot.group(olga, ben, stranger)
    await unanswered(bot, group, ben, "just talking")
    shown = await bot.ask(group, olga, f"/answer{at(bot)}")
    assert "every message while only one person is here" in shown.text
    assert list(shown.buttons) == ["All", "When addressed", "Off"]
    done = await bot.ask(group, olga, f"/answer{at(bot)} all")
    assert "every message of the people I know" in done.text
    assert marked(done) == ["✓ All"]
    assert "talking to all" in (await bot.ask(group, ben, "talking to all")).text
    assert 'said by="Ben"' in str(bot.prompt("talking to all").messages[-1])
    await unanswered(bot, group, stranger, "me too?")
    await asks_to_be_let_in(bot, group, stranger, f"{at(bot)} me too?")
    await unanswered(bot, group, stranger, f"{at(bot)} me too?")
    assert not bot.keeps("me too?")
    await bot.ask(group, olga, f"/answer{at(bot)} addressed")
    await unanswered(bot, group, ben, "talking again")


async def test_under_answer_all_a_forward_joins_the_turn_of_its_comment_and_no_other(bot: SharedBot) -> None:
    olga, (ben, _) = bot.tg.user(OWNER, "Olga"), bot.person("Ben")
    group = bot.group(olga, ben)
    await bot.ask(group, olga, f"/answer{at(bot)} all")
    # One batch: both arrive before the bot polls again.
    await bot.tg.say(group, ben, "is this true?")
    last = await bot.tg.say(group, ben, "the earth is flat", forward_from=olga)
    await bot.tg.wait_reply(group, last)
    assert "is this true?" in bot.prompt("the earth is flat").last_text
    # One by one: the forward arrives while the comment is being answered.
    bot.model.delay = 0.8
    await bot.tg.say(group, ben, "and that?")
    await bot.tg.wait_for(lambda: not bot.tg.pending_updates)
    await asyncio.sleep(0.1)
    last = await bot.tg.say(group, ben, "the moon is made of cheese", forward_from=olga)
    await bot.tg.wait_reply(group, last)
    assert "and that?" in bot.prompt("made of cheese").last_text
    # What another person forwards behind it, and what nobody comments on, are turns of their own.
    await bot.tg.say(group, ben, "what next?")
    last = await bot.tg.say(group, olga, "mars is red", forward_from=ben)
    await bot.tg.wait_for(lambda: bot.prompts("mars is red"))
    assert "what next?" not in bot.prompt("mars is red").last_text
    await bot.tg.wait_for(lambda: len(bot.tg.messages(group)) == 12)
    await bot.ask(group, ben, "venus is hot", forward_from=olga)
    assert bot.prompt("venus is hot").last_text.count("said by=") == 1


async def test_answer_off_answers_only_commands_of_admins(bot: SharedBot) -> None:
    olga, (ben, _) = bot.tg.user(OWNER, "Olga"), bot.person("Ben")
    group = bot.group(olga, ben)
    reply = await bot.ask(group, ben, f"{at(bot)} I play chess", "Nice [LEARN: plays chess]")
    bot.model.fault("refusal", match="a thorny one")
    refused = await bot.ask(group, ben, f"{at(bot)} a thorny one")
    await bot.ask(group, olga, f"/answer{at(bot)} off")
    for user in (ben, olga):
        await unanswered(bot, group, user, f"{at(bot)} are you there?")
        await unanswered(bot, group, user, "a reply", reply_to=reply)
    for command in ("status", "help", "new", "retry"):
        await unanswered(bot, group, ben, f"/{command}{at(bot)}")
    assert "waiting for a tap" in (await bot.ask(group, olga, f"/status{at(bot)}")).text
    # Buttons still respond to everybody.
    assert await bot.press(group, ben, reply, "Undo / Edit") == ""
    assert "switched off" in await bot.press(group, ben, refused, "Retry")
    await bot.ask(group, olga, f"/answer{at(bot)} addressed")
    assert (await bot.ask(group, ben, f"{at(bot)} and now?")).text


async def test_answer_off_and_addressed_also_apply_in_a_group_of_one_person(bot: SharedBot) -> None:
    olga = bot.tg.user(OWNER, "Olga")
    group = bot.group(olga)
    await bot.ask(group, olga, "nobody else is here")
    await bot.ask(group, olga, "/answer off")
    await unanswered(bot, group, olga, "not now")
    await bot.ask(group, olga, "/answer addressed")
    await unanswered(bot, group, olga, "not yet")
    await bot.ask(group, olga, f"{at(bot)} now")
    await bot.ask(group, olga, "/answer all")
    await bot.ask(group, olga, "everything again")


async def test_answer_in_a_topic_applies_to_that_topic(bot: SharedBot) -> None:
    olga, (ben, _) = bot.tg.user(OWNER, "Olga"), bot.person("Ben")
    forum = bot.forum(olga, ben)
    talk, work = (bot.tg.topic(forum, name, olga) for name in ("Talk", "Work"))
    done = await bot.ask(forum, olga, f"/answer{at(bot)} all", topic=talk)
    assert "in this topic**" not in done.text
    assert "What I answer in this topic: every message of the people I know" in done.text
    assert "Elsewhere in this group: every message while only one person is here" in done.text
    assert (await bot.ask(forum, ben, "in the talk", topic=talk)).topic_id == talk
    await unanswered(bot, forum, ben, "at work", topic=work)
    await unanswered(bot, forum, ben, "in General")
    await bot.ask(forum, olga, f"/answer{at(bot)} off", topic=work)
    await bot.ask(forum, olga, f"/answer{at(bot)} all")  # General is a topic, too.
    await bot.ask(forum, ben, "in General now")
    await unanswered(bot, forum, ben, f"{at(bot)} at work", topic=work)
    # Everywhere: this overrides the settings of topics.
    await bot.ask(forum, olga, f"/answer{at(bot)} addressed everywhere", topic=work)
    for topic in (talk, work, None):
        await unanswered(bot, forum, ben, f"just {topic}", topic=topic)
        await bot.ask(forum, ben, f"{at(bot)} for you {topic}", topic=topic)
    await bot.ask(forum, olga, f"/answer{at(bot)} off everywhere")
    await unanswered(bot, forum, ben, f"{at(bot)} in the talk", topic=talk)


async def test_only_admins_may_use_answer(bot: SharedBot) -> None:
    olga, (ben, _) = bot.tg.user(OWNER, "Olga"), bot.person("Ben")
    stranger = bot.tg.user(77_202, "Sam")
    group = bot.group(olga, ben, stranger)
    assert "my admins" in (await bot.ask(group, ben, f"/answer{at(bot)} all")).text
    await asks_to_be_let_in(bot, group, stranger, f"/answer{at(bot)} all")
    await unanswered(bot, group, stranger, f"/answer{at(bot)} all")
    shown = await bot.ask(group, olga, f"/answer{at(bot)}")
    assert "my admins" in await bot.press(group, ben, shown, "All")
    query = bot.tg.press(group, stranger, shown, shown.buttons["All"])
    await unanswered(bot, group, ben, "still only talking")
    assert not bot.tg.answers[query].get("text")
    assert await bot.press(group, olga, shown, "All") == "All."
    await bot.tg.wait_for(lambda: marked(shown) == ["✓ All"])
    assert "every message of the people I know" in shown.text
    await bot.ask(group, ben, "now it hears me")
    assert await bot.press(group, olga, shown, "All") == "All."
    assert "do nothing" not in shown.text
    olga_dm = bot.tg.dm(olga)
    assert "That works only in groups" in (await bot.ask(olga_dm, olga, "/answer all")).text
    for wrong in ("sometimes", "all nowhere", "all in this topic"):
        assert "Write /answer all" in (await bot.ask(group, olga, f"/answer{at(bot)} {wrong}")).text


async def test_answer_all_warns_if_privacy_mode_hides_messages(bot: SharedBot) -> None:
    olga, (ben, _) = bot.tg.user(OWNER, "Olga"), bot.person("Ben")
    group = bot.tg.group(next(bot.groups), "Group", [olga, ben], bot_status="member")
    bot.tg.can_read_all_group_messages = False
    try:
        done = await bot.ask(group, olga, f"/answer{at(bot)} all")
        assert "Telegram only shows me messages addressed to me here" in done.text
        assert "/setprivacy" in done.text
        assert "/setprivacy" not in (await bot.ask(group, olga, f"/answer{at(bot)} off")).text
    finally:
        bot.tg.can_read_all_group_messages = True
    assert "/setprivacy" not in (await bot.ask(group, olga, f"/answer{at(bot)} all")).text


async def test_the_answer_setting_survives_migration_to_a_supergroup(bot: SharedBot) -> None:
    olga, (ben, _) = bot.tg.user(OWNER, "Olga"), bot.person("Ben")
    small = bot.tg.group(-4_000_201, "Small", [olga, ben])
    await bot.ask(small, olga, f"/answer{at(bot)} all")
    large = bot.tg.migrate(small, next(bot.groups))
    await bot.tg.wait_for(lambda: not bot.tg.pending_updates)
    assert "in the new one" in (await bot.ask(large, ben, "in the new one")).text


async def test_buttons_of_answer_and_link_work_after_a_restart(bot: SharedBot) -> None:
    olga, (ben, _) = bot.tg.user(OWNER, "Olga"), bot.person("Ben")
    group = bot.group(olga, ben)
    shown, linking = await bot.ask(group, olga, f"/answer{at(bot)}"), await bot.ask(group, olga, f"/link{at(bot)}")
    await bot.ask(group, olga, f"/status{at(bot)}")  # By then those two are recorded as sent.
    await bot.relay.kill()
    pressed = [
        bot.tg.press(group, olga, shown, shown.buttons["All"]),
        bot.tg.press(group, olga, linking, linking.buttons["Lend my memory here"]),
    ]
    await bot.relay.start()
    await bot.tg.wait_for(lambda: all(query in bot.tg.answers for query in pressed))
    assert [bot.tg.answers[query].get("text") for query in pressed] == ["All.", "Lent."]
    await bot.tg.say(group, ben, "everything is heard")
    await bot.tg.wait_for(lambda: any("everything is heard" in m.text for m in bot.tg.messages(group) if m.from_bot))
    assert "Your memory is lent to this group" in (await bot.ask(group, olga, f"/link{at(bot)}")).text
