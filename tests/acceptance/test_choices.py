"""/settings from outside: one's own choices, in force from the next message on."""

from __future__ import annotations

import asyncio

from tests.acceptance.town import SESSION, Town
from tests.standins.anthropic import tool
from tests.standins.telegram import Chat, StoredMessage, User

pytestmark = SESSION

LINK = "See [the page](https://example.com/a)."


async def choose(town: Town, chat: Chat, user: User, label: str) -> StoredMessage:
    """Opens one's settings and taps; the message then."""
    shown = await town.ask(chat, user, "/settings")
    before = shown.text
    assert "Done" in await town.press(chat, user, shown, label)
    await town.tg.wait_for(lambda: town.tg.message(chat, shown.message_id).text != before)
    return town.tg.message(chat, shown.message_id)


async def test_learning_can_wait_or_stop(town: Town) -> None:
    ada, dm = town.person()
    assert "learning: on" in (await town.ask(dm, ada, "/settings")).text
    shown = await choose(town, dm, ada, "🧠 Ask")
    assert "✓ 🧠 Ask" in shown.buttons
    waiting = await town.ask(dm, ada, "I play chess", "Nice [LEARN: Ada plays chess]")
    assert "Waiting for your tap" in waiting.text
    await town.ask(dm, ada, "which game?")
    assert "chess" not in town.prompt("which game?").system_text
    assert "as you chose in /settings" in (await town.ask(dm, ada, "/why")).text
    await town.press(dm, ada, waiting, "Keep or discard")
    opened = await town.tg.wait_for(
        lambda: next((m for m in [town.tg.message(dm, waiting.message_id)] if len(m.buttons) > 1), None)
    )
    await town.press(dm, ada, opened, "Keep")
    await town.ask(dm, ada, "which game now?")
    assert "Ada plays chess" in town.prompt("which game now?").system_text

    await choose(town, dm, ada, "🧠 Off")
    told = await town.ask(
        dm,
        ada,
        "I also play go",
        'Ok [LEARN: Ada plays go] [LEARN: likes stones]\n[REMEMBER] {"content": "Go is old."}',
    )
    assert told.text.count("Learning is off") == 1
    assert "LEARN" not in told.text
    assert not told.buttons
    assert "Learning is off" not in (await town.ask(dm, ada, "just talking")).text
    assert "go" not in (await town.ask(dm, ada, "/memory")).text.split()
    # one's own word still counts
    assert "Learned: I row" in (await town.ask(dm, ada, "/remember I row")).text
    assert "Forgot" in (await town.ask(dm, ada, "forget the chess", "Done [FORGET: plays chess]")).text
    await choose(town, dm, ada, "🧠 On")
    assert "Learned: Ada sings" in (await town.ask(dm, ada, "I sing", "La [LEARN: Ada sings]")).text


async def test_answers_can_be_silent_also_in_a_group(town: Town) -> None:
    (ada, dm), (ben, _) = town.person("Ada"), town.person("Ben")
    group, name = town.group(ada, ben), f"@{town.tg.bot.username}"
    assert not (await town.ask(dm, ada, "hello loud")).silent
    await choose(town, dm, ada, "Silent")
    assert (await town.ask(dm, ada, "hello quiet")).silent
    assert (await town.ask(group, ada, f"{name} hello from Ada")).silent
    assert not (await town.ask(group, ben, f"{name} hello from Ben")).silent
    town.model.chunk_delay = 0.2
    streamed = await town.ask(group, ada, f"{name} {'slow and long ' * 8}")
    assert streamed.silent
    await town.tg.wait_for(lambda: town.tg.message(group, streamed.message_id).edited_at)


async def test_previews_come_when_chosen_and_never_for_words_of_others(town: Town) -> None:
    ada, dm = town.person()
    assert (await town.ask(dm, ada, "a link", LINK)).raw["link_preview_options"] == {"is_disabled": True}
    await choose(town, dm, ada, "Previews")
    assert (await town.ask(dm, ada, "another link", LINK)).raw["link_preview_options"] == {"is_disabled": False}
    foreign = await town.ask(dm, ada, "look at this", LINK, forward_from="Somebody")
    assert foreign.raw["link_preview_options"] == {"is_disabled": True}


async def test_the_tools_line_can_be_hidden(town: Town) -> None:
    ada, dm = town.person()
    town.says("search one", [tool("search_memory", {"query": "one"})])
    assert "🔎 searched memory" in (await town.ask(dm, ada, "search one")).text
    await choose(town, dm, ada, "Hide tools")
    town.says("search two", [tool("search_memory", {"query": "two"})])
    assert "🔎" not in (await town.ask(dm, ada, "search two")).text


async def test_ones_own_time_zone_is_asked_for_and_used(town: Town) -> None:
    ada, dm = town.person()
    shown = await town.ask(dm, ada, "/settings")
    assert "Europe/Berlin (the server's)" in shown.text
    await town.press(dm, ada, shown, "Time zone")
    asking = await town.tg.wait_for(
        lambda: next((one for one in town.tg.messages(dm) if one.text.startswith("✎ zone")), None)
    )
    await asyncio.sleep(0.5)  # nobody answers a question in the moment in which it is sent
    assert "a time zone “Atlantis”" in (await town.ask(dm, ada, "Atlantis", reply_to=asking)).text
    assert "Asia/Kathmandu, where it's" in (await town.ask(dm, ada, "kathMANDU", reply_to=asking)).text
    await town.ask(dm, ada, "what time is it?")
    assert "(+0545)" in str(town.prompt("what time is it?").messages[-1])
    assert "time zone: Asia/Kathmandu" in (await town.ask(dm, ada, "/settings")).text
    assert "Europe/Berlin, where it's" in (await town.ask(dm, ada, "/settings zone berlin")).text
    await choose(town, dm, ada, "Server's time zone")
    assert "(the server's)" in (await town.ask(dm, ada, "/settings")).text


async def test_in_a_group_each_has_their_own_and_nobody_sees_anothers(town: Town) -> None:
    (ada, dm), (ben, ben_dm) = town.person("Ada"), town.person("Ben")
    group, name = town.group(ada, ben), f"@{town.tg.bot.username}"
    await choose(town, dm, ada, "🧠 Off")
    assert "Learning is off" in (await town.ask(group, ada, f"{name} I ski", "Ok [LEARN: skis]")).text
    before = await town.ask(ben_dm, ben, "/start")
    assert "in our private chat" in (await town.ask(group, ben, f"/settings@{town.tg.bot.username}")).text
    shown = next(one for one in town.tg.messages(ben_dm) if one.message_id > before.message_id)
    assert "learning: on" in shown.text
    # a button of Ben's settings does nothing for Ada
    data = shown.buttons["🧠 Off"]
    under = await town.ask(dm, ada, "/settings")
    query = town.tg.press(dm, ada, under, data)
    told = await town.tg.wait_for(lambda: town.tg.answers.get(query))
    assert "not yours" in str(told["text"])
    assert "learning: on" in (await town.ask(ben_dm, ben, "/settings")).text


async def test_nonsense_data_changes_nothing(town: Town) -> None:
    ada, dm = town.person()
    shown = await town.ask(dm, ada, "/settings")
    me = ada.id
    for data in (
        f"tl:{me}:maybe",
        f"ts:{me}:zone:1",
        f"ts:{me}:sound:x",
        f"tz:{me}:mars",
        "tl:x:off",
        "ts",
        f"tl:{me}",
    ):
        query = town.tg.press(dm, ada, shown, data)
        await town.tg.wait_for(lambda query=query: query in town.tg.answers)
    assert (await town.ask(dm, ada, "/settings")).text.splitlines()[:-1] == shown.text.splitlines()[:-1]
