"""/settings: a person's own settings apply from the next message on."""

from __future__ import annotations

import asyncio

from tests.acceptance.shared_bot import SESSION, SharedBot
from tests.standins.anthropic import tool
from tests.standins.telegram import Chat, StoredMessage, User

pytestmark = SESSION

LINK = "See [the page](https://example.com/a)."


async def choose(bot: SharedBot, chat: Chat, user: User, label: str) -> StoredMessage:
    """Opens the settings, taps a button and returns the message then."""
    shown = await bot.ask(chat, user, "/settings")
    before = shown.text
    assert "Done" in await bot.press(chat, user, shown, label)
    await bot.tg.wait_for(lambda: bot.tg.message(chat, shown.message_id).text != before)
    return bot.tg.message(chat, shown.message_id)


async def test_learning_can_be_set_to_ask_or_off(bot: SharedBot) -> None:
    ada, dm = bot.person()
    assert "learning: on" in (await bot.ask(dm, ada, "/settings")).text
    shown = await choose(bot, dm, ada, "🧠 Ask")
    assert "✓ 🧠 Ask" in shown.buttons
    waiting = await bot.ask(dm, ada, "I play chess", "Nice [LEARN: Ada plays chess]")
    assert "Waiting for your tap" in waiting.text
    await bot.ask(dm, ada, "which game?")
    assert "chess" not in bot.prompt("which game?").system_text
    assert "as you chose in /settings" in (await bot.ask(dm, ada, "/why")).text
    await bot.press(dm, ada, waiting, "Keep or discard")
    opened = await bot.tg.wait_for(
        lambda: next((m for m in [bot.tg.message(dm, waiting.message_id)] if len(m.buttons) > 1), None)
    )
    await bot.press(dm, ada, opened, "Keep")
    await bot.ask(dm, ada, "which game now?")
    assert "Ada plays chess" in bot.prompt("which game now?").system_text

    await choose(bot, dm, ada, "🧠 Off")
    told = await bot.ask(
        dm,
        ada,
        "I also play go",
        'Ok [LEARN: Ada plays go] [LEARN: likes stones]\n[REMEMBER] {"content": "Go is old."}',
    )
    assert told.text.count("Learning is off") == 1
    assert "LEARN" not in told.text
    assert not told.buttons
    assert "Learning is off" not in (await bot.ask(dm, ada, "just talking")).text
    assert "go" not in (await bot.ask(dm, ada, "/memory")).text.split()
    # An explicit command still works.
    assert "Learned: I row" in (await bot.ask(dm, ada, "/remember I row")).text
    assert "Forgot" in (await bot.ask(dm, ada, "forget the chess", "Done [FORGET: plays chess]")).text
    await choose(bot, dm, ada, "🧠 On")
    assert "Learned: Ada sings" in (await bot.ask(dm, ada, "I sing", "La [LEARN: Ada sings]")).text


async def test_answers_can_be_silent_in_private_and_in_groups(bot: SharedBot) -> None:
    (ada, dm), (ben, _) = bot.person("Ada"), bot.person("Ben")
    group, name = bot.group(ada, ben), f"@{bot.tg.bot.username}"
    assert not (await bot.ask(dm, ada, "hello loud")).silent
    await choose(bot, dm, ada, "Silent")
    assert (await bot.ask(dm, ada, "hello quiet")).silent
    assert (await bot.ask(group, ada, f"{name} hello from Ada")).silent
    assert not (await bot.ask(group, ben, f"{name} hello from Ben")).silent
    bot.model.chunk_delay = 0.2
    streamed = await bot.ask(group, ada, f"{name} {'slow and long ' * 8}")
    assert streamed.silent
    await bot.tg.wait_for(lambda: bot.tg.message(group, streamed.message_id).edited_at)


async def test_link_previews_are_optional_and_never_shown_for_forwarded_text(bot: SharedBot) -> None:
    ada, dm = bot.person()
    assert (await bot.ask(dm, ada, "a link", LINK)).raw["link_preview_options"] == {"is_disabled": True}
    await choose(bot, dm, ada, "Previews")
    assert (await bot.ask(dm, ada, "another link", LINK)).raw["link_preview_options"] == {"is_disabled": False}
    foreign = await bot.ask(dm, ada, "look at this", LINK, forward_from="Somebody")
    assert foreign.raw["link_preview_options"] == {"is_disabled": True}


async def test_the_tools_line_can_be_hidden(bot: SharedBot) -> None:
    ada, dm = bot.person()
    bot.says("search one", [tool("search_memory", {"query": "one"})])
    assert "🔎 searched memory" in (await bot.ask(dm, ada, "search one")).text
    await choose(bot, dm, ada, "Hide tools")
    bot.says("search two", [tool("search_memory", {"query": "two"})])
    assert "🔎" not in (await bot.ask(dm, ada, "search two")).text


async def test_a_persons_own_time_zone_is_asked_for_and_used(bot: SharedBot) -> None:
    ada, dm = bot.person()
    shown = await bot.ask(dm, ada, "/settings")
    assert "Europe/Berlin (the server's)" in shown.text
    await bot.press(dm, ada, shown, "Time zone")
    asking = await bot.tg.wait_for(
        lambda: next((one for one in bot.tg.messages(dm) if one.text.startswith("✎ zone")), None)
    )
    await asyncio.sleep(0.5)  # Nobody replies in the moment in which the question is sent.
    assert "a time zone “Atlantis”" in (await bot.ask(dm, ada, "Atlantis", reply_to=asking)).text
    assert "Asia/Kathmandu, where it's" in (await bot.ask(dm, ada, "kathMANDU", reply_to=asking)).text
    await bot.ask(dm, ada, "what time is it?")
    assert "(+0545)" in str(bot.prompt("what time is it?").messages[-1])
    assert "time zone: Asia/Kathmandu" in (await bot.ask(dm, ada, "/settings")).text
    assert "Europe/Berlin, where it's" in (await bot.ask(dm, ada, "/settings zone berlin")).text
    await choose(bot, dm, ada, "Server's time zone")
    assert "(the server's)" in (await bot.ask(dm, ada, "/settings")).text


async def test_a_setting_is_named_as_the_list_shows_it_and_a_wrong_value_is_explained(bot: SharedBot) -> None:
    ada, dm = bot.person()
    for words, answer in (
        ("timezone lisbon", "Your time zone is Europe/Lisbon"),
        ("Time zone Europe/Paris", "Your time zone is Europe/Paris"),
        ("timezone New York", "Your time zone is America/New_York"),
        ("timezone GMT-3", "Your time zone is UTC−3, where it's"),
        ("time zone mst", "I know several with that name: America/Denver, America/Phoenix. Which one?"),
        ("time zone server", "Europe/Berlin (the server's)"),
        ("timezone", "Name a big city in your time zone, or server for the server's: /settings time zone New York"),
        ("learning foo", "learning can be on, ask or off, such as /settings learning off"),
        ("sound", "sound can be on or off, such as /settings sound off"),
        ("foo", "time zone (a big city, or server for the server's)"),
        ("voice always", "voice: always, but I can't speak here: text to speech is off"),
    ):
        assert answer in (await bot.ask(dm, ada, f"/settings {words}")).text
    shown = await bot.ask(dm, ada, "/voice")
    assert shown.text == "voice: always, but I can't speak here: text to speech is off."
    await bot.press(dm, ada, shown, "Never")
    await bot.tg.wait_for(lambda: shown.text == "voice: never – I never send voice notes.")


async def test_settings_in_a_group_are_personal_and_private(bot: SharedBot) -> None:
    (ada, dm), (ben, ben_dm) = bot.person("Ada"), bot.person("Ben")
    group, name = bot.group(ada, ben), f"@{bot.tg.bot.username}"
    await choose(bot, dm, ada, "🧠 Off")
    assert "Learning is off" in (await bot.ask(group, ada, f"{name} I ski", "Ok [LEARN: skis]")).text
    before = await bot.ask(ben_dm, ben, "/start")
    assert "in our private chat" in (await bot.ask(group, ben, f"/settings@{bot.tg.bot.username}")).text
    shown = next(one for one in bot.tg.messages(ben_dm) if one.message_id > before.message_id)
    assert "learning: on" in shown.text
    # A button of Ben's settings does nothing for Ada.
    data = shown.buttons["🧠 Off"]
    under = await bot.ask(dm, ada, "/settings")
    query = bot.tg.press(dm, ada, under, data)
    told = await bot.tg.wait_for(lambda: bot.tg.answers.get(query))
    assert "not yours" in str(told["text"])
    assert "learning: on" in (await bot.ask(ben_dm, ben, "/settings")).text


async def test_nonsense_button_data_changes_no_setting(bot: SharedBot) -> None:
    ada, dm = bot.person()
    shown = await bot.ask(dm, ada, "/settings")
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
        query = bot.tg.press(dm, ada, shown, data)
        await bot.tg.wait_for(lambda query=query: query in bot.tg.answers)
    assert (await bot.ask(dm, ada, "/settings")).text.splitlines()[:-1] == shown.text.splitlines()[:-1]
