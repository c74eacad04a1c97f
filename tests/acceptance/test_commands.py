"""The bot's commands in the chat."""

from __future__ import annotations

import asyncio
import json

import pytest

from tests.acceptance.conftest import World
from tests.acceptance.harness import OWNER
from tests.acceptance.shared_bot import SESSION, SharedBot
from tests.standins.anthropic import tool

pytestmark = SESSION


async def test_start_help_status_and_unknown_commands_are_answered(bot: SharedBot) -> None:
    ada, dm = bot.person("Ada *the* <b>great</b>")
    asked = bot.asked
    assert "Hello Ada *the* <b>great</b>!" in (await bot.ask(dm, ada, "/start")).text
    help_text = (await bot.ask(dm, ada, "/help")).text
    for command in ("new", "stop", "retry", "memory", "remember", "forget", "status", "help"):
        assert f"/{command}" in help_text
    assert "/soul" not in help_text
    olga = bot.tg.user(OWNER)
    assert "/soul" in (await bot.ask(bot.tg.dm(olga), olga, "/help")).text
    status = (await bot.ask(dm, ada, "/status")).text
    assert "claude-sonnet-5-5" in status
    assert "0 memories" in status
    assert "storage" not in status
    assert "storage" in (await bot.ask(bot.tg.dm(olga), olga, "/status")).text
    assert "I don't know /no_such_thing" in (await bot.ask(dm, ada, "/no_such_thing now")).text
    assert bot.asked == asked
    assert (await bot.ask(dm, ada, "/ is no command")).text == "You said: / is no command"
    everybody = json.dumps({"type": "all_private_chats"}), ""
    menu = await bot.tg.wait_for(lambda: bot.tg.commands.get(everybody))
    assert {"start", "help", "new", "stop", "retry", "memory", "remember", "forget", "status"} <= {
        one["command"] for one in menu
    }
    assert bot.tg.queue.allowed == {
        "message", "edited_message", "message_reaction", "callback_query", "my_chat_member",
        "stopped_message_generation",
    }, "the bot requests only the update types that it uses"  # fmt: skip


async def test_new_drops_the_history_and_keeps_the_memory(bot: SharedBot) -> None:
    ada, dm = bot.person()
    topic = bot.tg.topic(dm, "Other", ada)
    await bot.ask(dm, ada, "before it: parsnips", "Ok [LEARN: Ada grows parsnips]")
    await bot.ask(dm, ada, "in the other: turnips", topic=topic)
    assert "new conversation" in (await bot.ask(dm, ada, "/new")).text
    assert "already" in (await bot.ask(dm, ada, "/new")).text
    await bot.ask(dm, ada, "a clean page")
    request = bot.prompt("a clean page")
    assert len(request.messages) == 1
    assert "- Ada grows parsnips" in request.system_text
    assert "before it" not in str(request.messages)
    await bot.ask(dm, ada, "still there?", topic=topic)
    assert "turnips" in str(bot.prompt("still there?").messages)
    bot.says("search for it", [tool("search_memory", {"query": "parsnips"})])
    await bot.ask(dm, ada, "search for it")
    assert "before it: parsnips" in str(bot.prompt("search for it").tool_results)


async def test_a_title_that_is_too_long_ends_with_an_ellipsis(bot: SharedBot) -> None:
    ada, dm = bot.person()
    named = await bot.ask(dm, ada, "/new " + "garden " * 15)
    assert f"{('garden ' * 15)[:79].rstrip()}…" in named.text


async def test_new_takes_effect_in_the_order_of_the_messages(bot: SharedBot) -> None:
    ada, dm = bot.person()
    bot.model.delay = 0.5
    await bot.tg.say(dm, ada, "slow question one")
    await bot.tg.wait_for(lambda: bot.prompts("slow question one"))
    await bot.tg.say(dm, ada, "/new")
    last = await bot.tg.say(dm, ada, "question after new")
    await bot.tg.wait_for(lambda: bot.prompts("question after new"))
    assert len(bot.prompt("question after new").messages) == 1
    bot.model.delay = 0
    await bot.tg.wait_for(
        lambda: [m.text for m in bot.tg.messages(dm) if m.from_bot][-1:] == ["You said: question after new"]
    )
    told = [m.text for m in bot.tg.messages(dm) if m.from_bot]
    assert told[0] == "You said: slow question one"
    assert "new conversation" in told[1]
    assert last.message_id


async def test_retry_replaces_the_first_answer(bot: SharedBot) -> None:
    ada, dm = bot.person()
    assert "nothing to answer again" in (await bot.ask(dm, ada, "/retry")).text
    bot.model.script(["a poor answer", "a better answer"])
    await bot.ask(dm, ada, "what is best?")
    said = await bot.tg.say(dm, ada, "/retry")
    assert (await bot.tg.wait_reply(dm, said)).text == "a better answer"
    assert [m["role"] for m in bot.model.last.messages] == ["user"]
    assert bot.model.last.user_turn()[0] == "what is best?"
    await bot.ask(dm, ada, "go on then")
    history = str(bot.prompt("go on then").messages)
    assert "a better answer" in history
    assert "a poor answer" not in history
    assert history.count("what is best?") == 1
    bot.model.fault("refusal", match="a touchy subject")
    refused = await bot.ask(dm, ada, "a touchy subject")
    assert "declined" in refused.text
    bot.tg.press(dm, ada, refused, refused.buttons["↻ Retry"])
    answer = await bot.tg.wait_reply(dm, refused)
    assert answer.text == "You said: a touchy subject"
    assert not refused.buttons
    await bot.ask(dm, ada, "and after that?")
    assert "declined" not in str(bot.prompt("and after that?").messages)


async def test_commands_work_while_all_turns_wait_for_the_model(bot: SharedBot) -> None:
    ada, dm = bot.person()
    done = asyncio.Event()

    async def thinks(_: object) -> str:
        await done.wait()
        return "done at last"

    bot.model.rule("take your time", thinks, times=12)
    await bot.tg.say(dm, ada, "take your time")
    for _ in range(11):  # With Ada, more than there are connections to the database.
        other, chat = bot.person()
        await bot.tg.say(chat, other, "take your time")
    await bot.tg.wait_for(lambda: len(bot.prompts("take your time")) == 12, 30)
    assert "waiting for a tap" in (await bot.ask(dm, ada, "/status")).text
    assert "Learned: x marks the spot" in (await bot.ask(dm, ada, "/remember x marks the spot")).text
    assert "done at last" not in [m.text for m in bot.tg.messages(dm)]
    done.set()
    await bot.tg.wait_for(lambda: "done at last" in [m.text for m in bot.tg.messages(dm)])


@pytest.mark.settings(RELAY_WEB_SEARCH="on", RELAY_MAX_TOKENS="1234")
@pytest.mark.asyncio(loop_scope="function")
async def test_only_admins_set_the_soul_and_only_untainted_turns_use_the_web(world: World) -> None:
    async def ask(chat: object, user: object, text: str) -> str:
        said = await world.tg.say(chat, user, text)
        return (await world.tg.wait_reply(chat, said)).text

    assert "my admins" in await ask(world.friend_dm, world.friend, "/soul set You obey Ben.")
    assert "Soul, version 1" in await ask(world.dm, world.owner, "/soul")
    assert "Soul version 2 is active" in await ask(world.dm, world.owner, "/soul set You are Captain Nemo.\nBe brief.")
    await ask(world.friend_dm, world.friend, "who are you?")
    soul = world.model.last.body["system"][0]["text"]
    assert soul.startswith("You are Captain Nemo.\nBe brief.\n")
    assert "You are Relay" not in soul
    assert "[LEARN:" in soul
    assert world.model.last.body["max_tokens"] == 1234
    assert "version 2" in await ask(world.dm, world.owner, "/soul")
    assert "/soul shows my personality" in await ask(world.dm, world.owner, "/soul sing")
    # Web tools stay off for others' words until the user taps.
    assert "web_search" in world.model.last.tool_names
    said = await world.tg.say(world.dm, world.owner, "see https://evil.example/?q=", forward_from=world.friend)
    forwarded = await world.tg.wait_reply(world.dm, said)
    assert "web_search" not in world.model.last.tool_names
    world.tg.press(world.dm, world.owner, forwarded, forwarded.buttons["🌐 Answer with the web"])
    await world.tg.wait_reply(world.dm, forwarded)
    assert "web_search" in world.model.last.tool_names
    assert "see https://evil.example" in world.model.last.last_text
