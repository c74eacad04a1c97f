"""`relay …` without buttons: every choice has an argument or --yes, and the exit code tells the outcome."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from tests.acceptance.harness import OWNER
from tests.acceptance.shared_bot import SESSION, World
from tests.acceptance.shared_relay import open_relay
from tests.acceptance.test_capture import AUTO, finds, judged, says
from tests.acceptance.test_terminal import Terminal, relay, start
from tests.leaks import searched
from tests.places import furnish


class Shell:
    """`relay …` in a folder, with empty standard input or a text."""

    def __init__(self, settings: dict[str, str], folder: Path) -> None:
        self.settings, self.folder = settings, folder

    async def __call__(self, *words: str, code: int = 0) -> str:
        ended, shown = await relay(self.settings, self.folder, *words)
        assert ended == code, shown
        assert "[1]" not in shown, "the shell shows no buttons"
        return shown

    async def given(self, text: str, *words: str, code: int = 0) -> str:
        """The same with a text as standard input."""
        terminal: Terminal = await start(self.settings, self.folder, *words)
        assert terminal.process.stdin is not None
        terminal.process.stdin.write(text.encode())
        terminal.process.stdin.close()
        ended, shown = await terminal.ended()
        assert ended == code, shown
        return searched(shown, self.settings)

    async def json(self, *words: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(await self(*words))
        return found


def found(folder: Path, pattern: str) -> list[Path]:
    """Returns the files that match."""
    return list(folder.glob(pattern))


@pytest.fixture
def shell(world: World, tmp_path: Path) -> Shell:
    return Shell(world.relay.environment, tmp_path)


@pytest_asyncio.fixture(loop_scope="session")
async def shared_shell(shared_world: World, tmp_path: Path) -> Shell:
    """The shell of a new admin of the shared bot."""
    offline = Path(shared_world.relay.environment["RELAY_DATA_DIR"]) / "offline"
    if not offline.exists():
        await furnish(offline)
    return Shell(shared_world.shell_settings, tmp_path)


@pytest.mark.slow("test_command_surfaces.py and test_shell_output.py")
async def test_people_are_admitted_and_revoked_with_arguments(tmp_path: Path) -> None:
    async with open_relay(RELAY_USERS="") as own_relay:
        shell = Shell(own_relay.relay.environment, tmp_path)
        for number, name in ((3331, "Bob"), (3332, "Eve")):
            await own_relay.tg.say(own_relay.tg.dm(own_relay.tg.user(number, name)), None, "/start")
        await own_relay.until("select count(*) = 2 from relay.person where role = 'asking'")
        made = await shell.json("invite", "Olga", "--json")
        assert made["link"] == f"https://t.me/{own_relay.tg.bot.username}?start={made['nonce']}"
        assert "Bob (id 3331)" in await shell("users")
        waits = await shell("users", "admit", "3331", code=1)
        assert "Bob (id 3331) is still waiting for your answer: relay users approve 3331" in waits
        assert "can use me now" in await shell("users", "approve", "3331")
        assert "can use me now" in await shell("users", "approve", "3331")
        await shell("users", "deny", "3331", code=1)
        assert "blocked" in await shell("users", "block", "3332")
        assert "can use me now" in await shell("users", "admit", "3332")
        assert "know anyone" in await shell("users", "approve", "99", code=1)
        assert "Nothing was done. Add --yes to confirm." in await shell("revoke", "3331", code=1)
        roles = {one["user_id"]: one["role"] for one in (await shell.json("users", "--json"))["people"]}
        assert roles == {OWNER: "admin", 3331: "user", 3332: "user"}
        assert "can't use me any more" in await shell("revoke", "3331", "--yes")
        for code, words in ((2, ("revoke",)), (1, ("revoke", "99", "--yes"))):
            shown = await shell(*words, code=code)
            assert "relay revoke and their id or @name. relay users lists everyone." in shown
            assert "reply" not in shown
        again = await shell("revoke", "3331", "--yes", code=1)
        assert "Bob (id 3331) has no access. relay users lists everyone." in again


async def test_settings_and_the_soul_are_changed_with_arguments(world: World, shell: Shell) -> None:
    assert "silent" in await shell("settings", "sound", "off")
    assert (await shell.json("settings", "learning", "ask", "--json"))["learning"] == "ask"
    assert "Europe/Rome" in await shell("settings", "zone", "rome")
    assert (await shell.json("settings", "zone", "house", "--json"))["zone"] == ""
    assert "relay settings sound off" in await shell("settings", "sound", "loud", code=2)
    assert "Nothing was done" in await shell("soul", "edit", code=1)
    soul = "You are Nemo.\n\nBe brief."
    assert "[-" in await shell.given(soul, "soul", "edit", code=1)
    assert "Nemo" not in await shell("soul")
    assert "Version 2 is active" in await shell.given(soul, "soul", "edit", "--yes")
    assert (await shell.json("soul", "--json"))["text"] == soul
    await shell("soul", "restore", "99", code=1)


@pytest.mark.slow("test_command_surfaces.py and test_shell_output.py")
async def test_chat_commands_in_a_persons_own_text_are_shown_unchanged(world: World, shell: Shell) -> None:
    """Only Relay's own texts name the shell's commands instead of the chat's."""
    await shell("remember", "I", "look at", "/status", "every morning")
    for words in ("memory", "memory show", "memory show 1", "memory changes", "search morning"):
        shown = await shell(*words.split())
        assert "I look at /status every morning" in shown, words
    assert "(nothing matches): /status twice" in await shell("forget", "/status twice", code=1)
    await shell("soul", "set", "Say /help to nobody.", "--yes")
    assert "Say /help to nobody." in await shell("soul")
    assert "relay settings" in await shell("settings", "sound", "loud", code=2)


@pytest.mark.slow("test_command_surfaces.py and test_shell_output.py")
async def test_listed_memories_and_changes_can_be_named_by_number(shell: Shell) -> None:
    await shell("remember", "I", "play", "chess")
    await shell("remember", "I", "play", "the", "cello")
    assert (await shell.json("memory", "--json", "show", "chess"))["matching"] == 1
    listed = await shell("memory")
    assert "#1 I play chess" in listed
    assert "#2 I play the cello" in listed
    assert "'*words*' --yes" in await shell("forget", "I", "play", code=1)
    assert (await shell.json("memory", "waiting", "--json"))["changes"] == []
    assert "1 2" in await shell("memory", "changes")
    await shell("memory", "undo", "1")
    assert "memory #1 is discarded" in await shell("memory", "pin", "1", code=1)
    assert "Add --yes" in await shell("forget", "*cello*", code=1)
    await shell("forget", "*cello*", "--yes")
    assert "I don't know anything yet" in await shell("memory")
    assert "relay usage 30" in await shell("usage", "999", code=2)


@SESSION
@pytest.mark.slow("test_command_surfaces.py and test_shell_output.py")
async def test_offline_chat_says_which_actions_need_a_model(shared_shell: Shell) -> None:
    made = await shared_shell.given("I like plums\n/compress\n/press 1\n/press 1\n\n", "chat", "--offline")
    assert "has to wait: This needs a model, and offline there is none." in made
    assert "✅ v001" in made, "a version can be made without a model"


@SESSION
@pytest.mark.slow("test_command_surfaces.py and test_shell_output.py")
async def test_offline_chat_says_what_a_digest_and_an_invitation_need(shared_shell: Shell) -> None:
    asked = "I like plums\nand pears\n/digest now\n/invite Olga\n/remind in 1 day at 9:00 tea\n\n"
    made = await shared_shell.given(asked, "chat", "--offline")
    assert "tomorrow 9:00\nNothing reminds you yet: that needs the Telegram bot" in made
    assert (
        "I can't write a digest right now. This needs a model, and offline there is none. Set ANTHROPIC_API_KEY "
        "(relay setup asks for it), then start relay chat without --offline." in made
    )
    assert "requested form" not in made
    assert (
        "An invitation is a link to the Telegram bot, and there is none here. Set TELEGRAM_BOT_TOKEN (relay setup asks "
        "for it), then invite people in the chat with the bot, or in relay chat without --offline." in made
    )
    assert "t.me/" not in made, "the bot would not know an invitation from this memory"


@SESSION
async def test_offline_chat_has_its_own_memory(shared_shell: Shell, tmp_path: Path) -> None:
    await shared_shell("remember", "I", "play", "chess")
    assert "Learned: I like plums" in await shared_shell.given("I like plums\n/memory\n\n", "chat", "--offline")
    listed = await shared_shell("memory")
    assert "chess" in listed
    assert "plums" not in listed
    again = await shared_shell.given("/memory\n\n", "chat", "--offline")
    assert "plums" in again
    assert "chess" not in again


@AUTO
async def test_capture_in_the_terminal_names_the_person_and_prints_its_line(world: World, tmp_path: Path) -> None:
    await says(world, "my first words here", "Hello!")
    finds(world, "Lisbon", "Ada lives in Lisbon.")
    world.model.rule(lambda request: "I have moved" in request.user_turn()[0], "A long answer about Lisbon.", times=1)
    talk = await start(world.relay.environment, tmp_path, "chat")
    await talk.until("you ›")
    talk.type("I have moved to Lisbon this week")
    await talk.until("Lisbon.")
    since = await talk.until("Learned")
    assert "A long answer" not in since
    typed = [one for one in judged(world) if "this week" in one.last_text]
    assert 'by="Ada"' in typed[-1].last_text
    assert "somebody" not in typed[-1].last_text


@SESSION
async def test_files_are_written_to_the_current_directory(
    shared_world: World, shared_shell: Shell, tmp_path: Path
) -> None:
    await says(shared_world, "what is tea?", "A drink.")
    shown = await shared_shell("usage")
    (picture,) = found(tmp_path, "usage*.png")
    assert str(picture) in shown
    assert picture.read_bytes().startswith(b"\x89PNG")
    await shared_shell.given("I like plums\n/export\n/export\n\n", "chat", "--offline")
    assert len(found(tmp_path, "relay-export-*.zip")) == 2, "the second export has another name"
