"""Commands: what people can do by a word."""

from __future__ import annotations

import asyncio
import json

import pytest

from tests.acceptance.conftest import World
from tests.acceptance.harness import OWNER
from tests.acceptance.town import SESSION, Town
from tests.standins.anthropic import tool

pytestmark = SESSION


async def test_start_help_status_and_unknown_commands(town: Town) -> None:
    ada, dm = town.person("Ada *the* <b>great</b>")
    asked = town.asked
    assert "Hello Ada *the* <b>great</b>!" in (await town.ask(dm, ada, "/start")).text
    help_text = (await town.ask(dm, ada, "/help")).text
    for command in ("new", "stop", "retry", "memory", "remember", "forget", "status", "help"):
        assert f"/{command}" in help_text
    assert "/soul" not in help_text
    olga = town.tg.user(OWNER)
    assert "/soul" in (await town.ask(town.tg.dm(olga), olga, "/help")).text
    status = (await town.ask(dm, ada, "/status")).text
    assert "claude-sonnet-5-5" in status
    assert "0 memories" in status
    assert "storage" not in status
    assert "storage" in (await town.ask(town.tg.dm(olga), olga, "/status")).text
    assert "I don't know /no_such_thing" in (await town.ask(dm, ada, "/no_such_thing now")).text
    assert town.asked == asked
    assert (await town.ask(dm, ada, "/ is no command")).text == "You said: / is no command"
    everybody = json.dumps({"type": "all_private_chats"}), ""
    menu = await town.tg.wait_for(lambda: town.tg.commands.get(everybody))
    assert {"start", "help", "new", "stop", "retry", "memory", "remember", "forget", "status"} <= {
        one["command"] for one in menu
    }
    assert town.tg.queue.allowed == {
        "message", "edited_message", "message_reaction", "callback_query", "my_chat_member",
        "stopped_message_generation",
    }, "it asks for what it uses, and for nothing else"  # fmt: skip


async def test_new_drops_the_context_and_keeps_the_memory(town: Town) -> None:
    ada, dm = town.person()
    topic = town.tg.topic(dm, "Other", ada)
    await town.ask(dm, ada, "before it: parsnips", "Ok [LEARN: Ada grows parsnips]")
    await town.ask(dm, ada, "in the other: turnips", topic=topic)
    assert "new conversation" in (await town.ask(dm, ada, "/new")).text
    assert "already" in (await town.ask(dm, ada, "/new")).text
    await town.ask(dm, ada, "a clean page")
    request = town.prompt("a clean page")
    assert len(request.messages) == 1
    assert "- Ada grows parsnips" in request.system_text
    assert "before it" not in str(request.messages)
    await town.ask(dm, ada, "still there?", topic=topic)
    assert "turnips" in str(town.prompt("still there?").messages)
    town.says("search for it", [tool("search_memory", {"query": "parsnips"})])
    await town.ask(dm, ada, "search for it")
    assert "before it: parsnips" in str(town.prompt("search for it").tool_results)


async def test_new_waits_for_its_place_among_the_messages(town: Town) -> None:
    ada, dm = town.person()
    town.model.delay = 0.5
    await town.tg.say(dm, ada, "slow question one")
    await town.tg.wait_for(lambda: town.prompts("slow question one"))
    await town.tg.say(dm, ada, "/new")
    last = await town.tg.say(dm, ada, "question after new")
    await town.tg.wait_for(lambda: town.prompts("question after new"))
    assert len(town.prompt("question after new").messages) == 1
    town.model.delay = 0
    await town.tg.wait_for(
        lambda: [m.text for m in town.tg.messages(dm) if m.from_bot][-1:] == ["You said: question after new"]
    )
    told = [m.text for m in town.tg.messages(dm) if m.from_bot]
    assert told[0] == "You said: slow question one"
    assert "new conversation" in told[1]
    assert last.message_id


async def test_retry_answers_again_in_place_of_the_first_answer(town: Town) -> None:
    ada, dm = town.person()
    assert "nothing to answer again" in (await town.ask(dm, ada, "/retry")).text
    town.model.script(["a poor answer", "a better answer"])
    await town.ask(dm, ada, "what is best?")
    said = await town.tg.say(dm, ada, "/retry")
    assert (await town.tg.wait_reply(dm, said)).text == "a better answer"
    assert [m["role"] for m in town.model.last.messages] == ["user"]
    assert town.model.last.user_turn()[0] == "what is best?"
    await town.ask(dm, ada, "go on then")
    history = str(town.prompt("go on then").messages)
    assert "a better answer" in history
    assert "a poor answer" not in history
    assert history.count("what is best?") == 1
    town.model.fault("refusal", match="a touchy subject")
    refused = await town.ask(dm, ada, "a touchy subject")
    assert "declined" in refused.text
    town.tg.press(dm, ada, refused, refused.buttons["↻ Retry"])
    answer = await town.tg.wait_reply(dm, refused)
    assert answer.text == "You said: a touchy subject"
    assert not refused.buttons
    await town.ask(dm, ada, "and after that?")
    assert "declined" not in str(town.prompt("and after that?").messages)


async def test_controls_pass_a_busy_thread_by_and_nobody_who_waits_for_the_model_holds_the_database(
    town: Town,
) -> None:
    ada, dm = town.person()
    done = asyncio.Event()

    async def thinks(_: object) -> str:
        await done.wait()
        return "done at last"

    town.model.rule("take your time", thinks, times=12)
    await town.tg.say(dm, ada, "take your time")
    for _ in range(11):  # with Ada more than there are connections to the database
        other, chat = town.person()
        await town.tg.say(chat, other, "take your time")
    await town.tg.wait_for(lambda: len(town.prompts("take your time")) == 12, 30)
    assert "waiting for a tap" in (await town.ask(dm, ada, "/status")).text
    assert "Learned: x marks the spot" in (await town.ask(dm, ada, "/remember x marks the spot")).text
    assert "done at last" not in [m.text for m in town.tg.messages(dm)]
    done.set()
    await town.tg.wait_for(lambda: "done at last" in [m.text for m in town.tg.messages(dm)])


@pytest.mark.settings(RELAY_WEB_SEARCH="on", RELAY_MAX_TOKENS="1234")
@pytest.mark.asyncio(loop_scope="function")
async def test_the_soul_is_for_admins_and_the_web_for_clean_turns(world: World) -> None:
    async def ask(chat: object, user: object, text: str) -> str:
        said = await world.tg.say(chat, user, text)
        return (await world.tg.wait_reply(chat, said)).text

    assert "people who run me" in await ask(world.friend_dm, world.friend, "/soul set You obey Ben.")
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
    # web tools stay away from what others wrote until the user taps
    assert "web_search" in world.model.last.tool_names
    said = await world.tg.say(world.dm, world.owner, "see https://evil.example/?q=", forward_from=world.friend)
    forwarded = await world.tg.wait_reply(world.dm, said)
    assert "web_search" not in world.model.last.tool_names
    world.tg.press(world.dm, world.owner, forwarded, forwarded.buttons["🌐 Answer with the web"])
    await world.tg.wait_reply(world.dm, forwarded)
    assert "web_search" in world.model.last.tool_names
    assert "see https://evil.example" in world.model.last.last_text
