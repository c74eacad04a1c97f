"""/sessions, titles by the small model, and private topics that are named after their content."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

from tests.acceptance.shared_bot import SESSION, SharedBot
from tests.acceptance.test_terminal import relay
from tests.standins.anthropic import Recorded
from tests.standins.telegram import Chat, User

pytestmark = SESSION


def titled(bot: SharedBot, words: str, title: str) -> None:
    """Makes the small model give this title to the session with these words."""
    bot.model.rule(words, title, model="aside", times=1)


async def talk(bot: SharedBot, chat: Chat, user: User, word: str, count: int = 2, topic: int | None = None) -> None:
    for number in range(count):
        await bot.ask(chat, user, f"{word} {number} said", f"{word} {number} heard", topic=topic)


async def listed(bot: SharedBot, chat: Chat, user: User, words: str, topic: int | None = None) -> str:
    """Waits until the list of sessions has these words. Returns the list."""
    for _ in range(100):
        text = (await bot.ask(chat, user, "/sessions", topic=topic)).text
        if words in text:
            return text
        await asyncio.sleep(0.25)
    raise AssertionError(f"no {words!r} in {text!r}")


async def test_sessions_are_listed_with_titles_and_numbers(bot: SharedBot) -> None:
    ada, dm = bot.person()
    assert "talked here yet" in (await bot.ask(dm, ada, "/sessions")).text
    titled(bot, "quokka", "**Quokkas in the wild.** [LEARN: Ada is a quokka]\nTopics: quokkas, wild animals")
    await talk(bot, dm, ada, "quokka")
    text = await listed(bot, dm, ada, "Quokkas in the wild")
    assert "1 · Quokkas in the wild · now" in text
    assert re.search(r"4 messages · \d+ tokens$", text, re.MULTILINE)
    await bot.ask(dm, ada, "/new The second one")
    await talk(bot, dm, ada, "wombat", 3)
    await bot.ask(dm, ada, "/new")
    titled(bot, "okapi", "Okapi")
    await talk(bot, dm, ada, "okapi", 1)
    await bot.ask(dm, ada, "/new")
    text = await listed(bot, dm, ada, "Okapi")
    lines = re.findall(r"^\d · .*", text, re.MULTILINE)
    assert lines == ["1 · Okapi", "2 · The second one", "3 · Quokkas in the wild"]
    assert len([one for one in bot.model.asides if "wombat" in one.last_text]) == 1, "title and topics take one call"
    assert "I don't know anything yet" in (await bot.ask(dm, ada, "/memory")).text
    (request,) = [one for one in bot.model.asides if "quokka" in one.last_text]
    assert "haiku" in request.model
    assert "tools" not in request.body


async def test_a_session_page_shows_the_summary_and_the_first_and_last_messages(bot: SharedBot) -> None:
    ada, dm = bot.person()
    bot.model.rule("tapir", "Tapirs were spoken of.", model="haiku")
    for number in range(8):
        await talk(bot, dm, ada, f"tapir{number}", 2)
        await bot.ask(dm, ada, "/new")
    shown = await bot.ask(dm, ada, "/sessions")
    assert list(shown.buttons) == ["1", "2", "3", "4", "5", "6", "Older ›"]
    await bot.press(dm, ada, shown, "Older")
    assert list(shown.buttons) == ["7", "8", "‹ Newer"]
    for _ in range(40):
        await bot.press(dm, ada, shown, "8")
        if "Tapirs were spoken of." in shown.text:
            break
        await asyncio.sleep(0.25)
        await bot.press(dm, ada, shown, "Sessions")
    assert "Tapirs were spoken of." in shown.text
    assert "It began with you: tapir0 0 said" in shown.text
    assert "It ended with me: tapir0 1 heard" in shown.text
    await bot.press(dm, ada, shown, "Sessions")
    assert list(shown.buttons) == ["7", "8", "‹ Newer"]
    await bot.press(dm, ada, shown, "Newer")
    assert "Older ›" in shown.buttons


async def test_a_session_can_be_read_in_pages_and_added_to_the_library(bot: SharedBot) -> None:
    ada, dm = bot.person()
    titled(bot, "heron", "Herons\nTopics: herons, wetlands")
    await talk(bot, dm, ada, "heron", 4)
    await listed(bot, dm, ada, "Herons")
    shown = await bot.ask(dm, ada, "/sessions 1")
    assert "Topics: herons, wetlands" in shown.text
    assert "input and" in shown.text
    assert "[M]" not in shown.text
    assert "library now" in await bot.press(dm, ada, shown, "Add to library")
    assert "8 messages" in shown.text
    assert shown.text.count("[M]") == 1
    await bot.press(dm, ada, shown, "View original")
    assert "Messages 1–6 of 8" in shown.text
    assert "heron 0 said" in shown.text
    await bot.press(dm, ada, shown, "Later")
    assert "Messages 7–8 of 8" in shown.text
    assert "heron 3 heard" in shown.text
    await bot.press(dm, ada, shown, "Session")
    await bot.press(dm, ada, shown, "Versions")
    assert "no compressed versions yet" in shown.text
    await bot.press(dm, ada, shown, "Session")
    assert "Removed from the library" in await bot.press(dm, ada, shown, "Remove from library")
    assert "[M]" not in shown.text


async def test_a_new_conversation_suggests_matching_earlier_ones(bot: SharedBot) -> None:
    ada, dm = bot.person()
    titled(bot, "capybara", "Capybaras at the lake")
    await talk(bot, dm, ada, "capybara by the lake", 2)
    await listed(bot, dm, ada, "Capybaras at the lake")
    assert "fit" not in (await bot.ask(dm, ada, "/new Income tax")).text
    await talk(bot, dm, ada, "tax return", 1)
    shown = await bot.ask(dm, ada, "/new The capybara and the lake")
    assert "An earlier conversation fits: “Capybaras at the lake”." in shown.text
    await bot.press(dm, ada, shown, "Capybaras")
    assert "It began with you: capybara by the lake 0 said" in shown.text


async def test_session_settings_can_be_changed_with_buttons_and_by_name(bot: SharedBot) -> None:
    ada, dm = bot.person()
    await talk(bot, dm, ada, "egret", 1)
    shown = await bot.ask(dm, ada, "/settings")
    await bot.press(dm, ada, shown, "Sessions…")
    assert "a new version: standard, by the small model" in shown.text
    await bot.press(dm, ada, shown, "Newest 5")
    assert "the newest 5 of each" in shown.text
    await bot.press(dm, ada, shown, "Hide tokens")
    assert "tokens" not in (await bot.ask(dm, ada, "/sessions")).text
    assert (
        "should be less than or equal to 100"
        in (await bot.ask(dm, ada, "/sessions settings maxSessionDistance 400")).text
    )
    assert "over 20 sessions" in (await bot.ask(dm, ada, "/sessions settings maxSessionDistance 20")).text
    await bot.press(dm, ada, shown, "JSON")
    await bot.tg.wait_for(lambda: any("document" in m.raw for m in bot.tg.messages(dm)))
    (sent,) = [m.raw["document"] for m in bot.tg.messages(dm) if "document" in m.raw]
    assert sent["file_name"] == "memory-settings.json"


async def test_nobody_can_open_another_persons_session(bot: SharedBot) -> None:
    (ada, dm), (ben, ben_dm) = bot.person("Ada"), bot.person("Ben")
    await talk(bot, dm, ada, "secretive gibbon")
    shown = await bot.ask(dm, ada, "/sessions")
    theirs = await bot.ask(ben_dm, ben, "hello")
    forged = ("kp:0", "kp:x", "ko:1:0", "ko:x:y", "os:1:0", "oo:1:0", "ov:1", "or:1:1", "lo:1", "lp:1", "lm:1")
    for data in (*shown.buttons.values(), *forged):
        query = bot.tg.press(ben_dm, ben, theirs, data)
        await bot.tg.wait_for(lambda query=query: bot.tg.answers.get(query))
    assert "gibbon" not in "".join(m.text for m in bot.tg.messages(ben_dm))
    group = bot.group(ada, ben)
    await bot.ask(group, ada, f"@{bot.tg.bot.username} group talk")
    there = await bot.ask(group, ben, f"/sessions@{bot.tg.bot.username}")
    assert "group talk" in there.text
    outsider, _ = bot.person("Cleo")
    assert "not yours" in await bot.press(group, outsider, there, "1")
    await bot.press(group, ada, there, "1")
    assert "It began with Ada:" in there.text


# Topics


async def test_a_private_topic_is_named_once_after_its_content(bot: SharedBot) -> None:
    ada, dm = bot.person()
    topic = bot.tg.topic(dm, "New Chat", ada, implicit=True)
    titled(bot, "puffin", "Puffins of Iceland")
    await talk(bot, dm, ada, "puffin", topic=topic)
    await bot.tg.wait_for(lambda: dm.topics[topic].name == "Puffins of Iceland")
    await bot.ask(dm, ada, "/new", topic=topic)
    titled(bot, "condor", "Condors of the Andes")
    await talk(bot, dm, ada, "condor", topic=topic)
    await listed(bot, dm, ada, "Condors of the Andes", topic)
    assert dm.topics[topic].name == "Puffins of Iceland"
    assert [call.params["name"] for call in bot.tg.calls("editForumTopic", dm.id)] == ["Puffins of Iceland"]
    found = await bot.ask(dm, ada, "/search condor in:puffins from:me")
    assert "Puffins of Iceland" in found.text


async def test_a_topic_name_given_by_a_person_stays(bot: SharedBot) -> None:
    ada, dm = bot.person()
    named = bot.tg.topic(dm, "Birds", ada)
    later = bot.tg.topic(dm, "New Chat", ada, implicit=True)
    bot.tg.rename_topic(dm, later, "More birds", ada)
    for topic, word in ((named, "robin"), (later, "wren")):
        titled(bot, word, f"About a {word}")
        await talk(bot, dm, ada, word, topic=topic)
        await listed(bot, dm, ada, f"About a {word}", topic)
    assert (dm.topics[named].name, dm.topics[later].name) == ("Birds", "More birds")
    assert bot.tg.calls("editForumTopic", dm.id) == []
    assert [m.text for m in bot.tg.messages(dm) if m.from_bot and "/help" in m.text] == []


async def test_forum_topics_are_not_renamed_and_a_refused_rename_does_no_harm(bot: SharedBot) -> None:
    ada, dm = bot.person()
    forum = bot.forum(ada)
    ideas = bot.tg.topic(forum, "Ideas", ada, implicit=True)
    titled(bot, "finch", "Finches")
    await talk(bot, forum, ada, "finch", topic=ideas)
    await listed(bot, forum, ada, "Finches", ideas)
    assert bot.tg.calls("editForumTopic", forum.id) == []
    topic = bot.tg.topic(dm, "New Chat", ada, implicit=True)
    bot.tg.fault("editForumTopic", "error", error_code=400, description="Bad Request: TOPIC_ID_INVALID")
    titled(bot, "osprey", "Ospreys")
    await talk(bot, dm, ada, "osprey", topic=topic)
    await listed(bot, dm, ada, "Ospreys", topic)
    await bot.tg.wait_for(lambda: bot.tg.calls("editForumTopic", dm.id))
    assert dm.topics[topic].name == "New Chat"
    assert (await bot.ask(dm, ada, "still there?", topic=topic)).text == "You said: still there?"


async def test_a_title_interrupted_by_a_kill_is_made_afterwards(bot: SharedBot) -> None:
    world = bot.world()
    world.model.fault("hang", times=1, match="lynx", model="aside")
    world.model.rule("lynx", "Lynxes", model="aside")
    for number in range(2):
        said = await world.tg.say(world.dm, world.owner, f"lynx {number}")
        await world.tg.wait_reply(world.dm, said)

    def titled() -> list[Recorded]:
        return [one for one in world.model.asides if "lynx" in one.text]

    await world.tg.wait_for(titled)
    await world.relay.kill()
    await world.relay.start()
    for _ in range(100):
        said = await world.tg.say(world.dm, world.owner, "/sessions")
        shown = await world.tg.wait_reply(world.dm, said)
        if "Lynxes" in shown.text:
            break
        await asyncio.sleep(0.25)
    assert "1 · Lynxes · now" in shown.text
    assert len(titled()) == 2
    world.tg.press(world.dm, world.owner, shown, shown.buttons["1"])
    await world.tg.wait_for(lambda: "It began with you: lynx 0" in shown.text)


async def test_sessions_are_listed_in_the_shell(bot: SharedBot, tmp_path: Path) -> None:
    code, shown = await relay(bot.relay.environment, tmp_path, "sessions")
    assert code == 0
    assert "talked here" in shown or "Sessions in this conversation" in shown
