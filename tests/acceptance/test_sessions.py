"""/sessions, titles by the small model, and private topics that are named by what is said in them."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from tests.acceptance.conftest import World
from tests.acceptance.test_terminal import relay
from tests.acceptance.town import SESSION, Town
from tests.standins.telegram import Chat, User

pytestmark = SESSION


def titled(town: Town, words: str, title: str) -> None:
    """How the small model names the session that has these words."""
    town.model.rule(words, title, model="aside", times=1)


async def talk(town: Town, chat: Chat, user: User, word: str, count: int = 2, topic: int | None = None) -> None:
    for number in range(count):
        await town.ask(chat, user, f"{word} {number} said", f"{word} {number} heard", topic=topic)


async def listed(town: Town, chat: Chat, user: User, words: str, topic: int | None = None) -> str:
    """Waits until the list of sessions has these words; the list."""
    for _ in range(100):
        text = (await town.ask(chat, user, "/sessions", topic=topic)).text
        if words in text:
            return text
        await asyncio.sleep(0.25)
    raise AssertionError(f"no {words!r} in {text!r}")


async def test_sessions_are_listed_with_titles_and_numbers(town: Town) -> None:
    ada, dm = town.person()
    assert "talked here yet" in (await town.ask(dm, ada, "/sessions")).text
    titled(town, "quokka", "**Quokkas in the wild.** [LEARN: Ada is a quokka]")
    await talk(town, dm, ada, "quokka")
    text = await listed(town, dm, ada, "Quokkas in the wild")
    assert "1 · Quokkas in the wild · now" in text
    assert "4 messages" in text
    assert "tokens in" in text
    await town.ask(dm, ada, "/new The second one")
    await talk(town, dm, ada, "wombat", 3)
    await town.ask(dm, ada, "/new")
    titled(town, "okapi", "Okapi")
    await talk(town, dm, ada, "okapi", 1)
    await town.ask(dm, ada, "/new")
    text = await listed(town, dm, ada, "Okapi")
    lines = re.findall(r"^\d · .*", text, re.MULTILINE)
    assert lines == ["1 · Okapi", "2 · The second one", "3 · Quokkas in the wild"]
    assert not [one for one in town.model.asides if "wombat" in one.last_text], "a person's title stays"
    assert "I don't know anything yet" in (await town.ask(dm, ada, "/memory")).text
    (request,) = [one for one in town.model.asides if "quokka" in one.last_text]
    assert "haiku" in request.model
    assert "tools" not in request.body


async def test_a_session_opens_with_its_summary_and_first_and_last_words(town: Town) -> None:
    ada, dm = town.person()
    town.model.rule("tapir", "Tapirs were spoken of.", model="haiku")
    for number in range(8):
        await talk(town, dm, ada, f"tapir{number}", 2)
        await town.ask(dm, ada, "/new")
    shown = await town.ask(dm, ada, "/sessions")
    assert list(shown.buttons) == ["1", "2", "3", "4", "5", "6", "Older ›"]
    await town.press(dm, ada, shown, "Older")
    assert list(shown.buttons) == ["7", "8", "‹ Newer"]
    for _ in range(40):
        await town.press(dm, ada, shown, "8")
        if "Tapirs were spoken of." in shown.text:
            break
        await asyncio.sleep(0.25)
        await town.press(dm, ada, shown, "Sessions")
    assert "Tapirs were spoken of." in shown.text
    assert "It began: you: tapir0 0 said" in shown.text
    assert "It ended: me: tapir0 1 heard" in shown.text
    await town.press(dm, ada, shown, "Sessions")
    assert list(shown.buttons) == ["7", "8", "‹ Newer"]
    await town.press(dm, ada, shown, "Newer")
    assert "Older ›" in shown.buttons


async def test_nobody_opens_anothers_session(town: Town) -> None:
    (ada, dm), (ben, ben_dm) = town.person("Ada"), town.person("Ben")
    await talk(town, dm, ada, "secretive gibbon")
    shown = await town.ask(dm, ada, "/sessions")
    theirs = await town.ask(ben_dm, ben, "hello")
    for data in (*shown.buttons.values(), "kp:0", "kp:x", "ko:1:0", "ko:x:y"):
        query = town.tg.press(ben_dm, ben, theirs, data)
        await town.tg.wait_for(lambda query=query: town.tg.answers.get(query))
    assert "gibbon" not in "".join(m.text for m in town.tg.messages(ben_dm))
    group = town.group(ada, ben)
    await town.ask(group, ada, f"@{town.tg.bot.username} group talk")
    there = await town.ask(group, ben, f"/sessions@{town.tg.bot.username}")
    assert "group talk" in there.text
    outsider, _ = town.person("Cleo")
    assert "not yours" in await town.press(group, outsider, there, "1")
    await town.press(group, ada, there, "1")
    assert "It began: Ada:" in there.text


# Topics


async def test_a_private_topic_is_named_by_what_is_said_in_it_once(town: Town) -> None:
    ada, dm = town.person()
    topic = town.tg.topic(dm, "New Chat", ada, implicit=True)
    titled(town, "puffin", "Puffins of Iceland")
    await talk(town, dm, ada, "puffin", topic=topic)
    await town.tg.wait_for(lambda: dm.topics[topic].name == "Puffins of Iceland")
    await town.ask(dm, ada, "/new", topic=topic)
    titled(town, "condor", "Condors of the Andes")
    await talk(town, dm, ada, "condor", topic=topic)
    await listed(town, dm, ada, "Condors of the Andes", topic)
    assert dm.topics[topic].name == "Puffins of Iceland"
    assert [call.params["name"] for call in town.tg.calls("editForumTopic", dm.id)] == ["Puffins of Iceland"]
    found = await town.ask(dm, ada, "/search condor in:puffins from:me")
    assert "Puffins of Iceland" in found.text


async def test_a_name_that_a_person_gave_stays(town: Town) -> None:
    ada, dm = town.person()
    named = town.tg.topic(dm, "Birds", ada)
    later = town.tg.topic(dm, "New Chat", ada, implicit=True)
    town.tg.rename_topic(dm, later, "More birds", ada)
    for topic, word in ((named, "robin"), (later, "wren")):
        titled(town, word, f"About a {word}")
        await talk(town, dm, ada, word, topic=topic)
        await listed(town, dm, ada, f"About a {word}", topic)
    assert (dm.topics[named].name, dm.topics[later].name) == ("Birds", "More birds")
    assert town.tg.calls("editForumTopic", dm.id) == []
    assert [m.text for m in town.tg.messages(dm) if m.from_bot and "/help" in m.text] == []


async def test_forums_are_not_renamed_and_a_refusal_does_no_harm(town: Town) -> None:
    ada, dm = town.person()
    forum = town.forum(ada)
    ideas = town.tg.topic(forum, "Ideas", ada, implicit=True)
    titled(town, "finch", "Finches")
    await talk(town, forum, ada, "finch", topic=ideas)
    await listed(town, forum, ada, "Finches", ideas)
    assert town.tg.calls("editForumTopic", forum.id) == []
    topic = town.tg.topic(dm, "New Chat", ada, implicit=True)
    town.tg.fault("editForumTopic", "error", error_code=400, description="Bad Request: TOPIC_ID_INVALID")
    titled(town, "osprey", "Ospreys")
    await talk(town, dm, ada, "osprey", topic=topic)
    await listed(town, dm, ada, "Ospreys", topic)
    await town.tg.wait_for(lambda: town.tg.calls("editForumTopic", dm.id))
    assert dm.topics[topic].name == "New Chat"
    assert (await town.ask(dm, ada, "still there?", topic=topic)).text == "You said: still there?"


@pytest.mark.asyncio(loop_scope="function")
async def test_a_title_that_was_owed_at_a_kill_is_made_after_it(world: World) -> None:
    world.model.fault("hang", times=1, match="lynx", model="aside")
    world.model.rule("lynx", "Lynxes", model="aside")
    for number in range(2):
        said = await world.tg.say(world.dm, world.owner, f"lynx {number}")
        await world.tg.wait_reply(world.dm, said)
    await world.tg.wait_for(lambda: world.model.asides)
    await world.relay.kill()
    await world.relay.start()
    for _ in range(100):
        said = await world.tg.say(world.dm, world.owner, "/sessions")
        shown = await world.tg.wait_reply(world.dm, said)
        if "Lynxes" in shown.text:
            break
        await asyncio.sleep(0.25)
    assert "1 · Lynxes · now" in shown.text
    assert len(world.model.asides) == 2
    world.tg.press(world.dm, world.owner, shown, shown.buttons["1"])
    await world.tg.wait_for(lambda: "It began: you: lynx 0" in shown.text)


async def test_the_terminal_lists_its_own(town: Town, tmp_path: Path) -> None:
    code, shown = await relay(town.relay.environment, tmp_path, "sessions")
    assert code == 0
    assert "talked here" in shown or "Sessions in this conversation" in shown
