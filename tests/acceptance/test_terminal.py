"""`relay chat` and `relay <command>` use the same path and the same memory in the terminal."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from pathlib import Path

import pytest

from tests.acceptance.harness import OWNER
from tests.acceptance.shared_bot import SESSION, SharedBot
from tests.acceptance.shared_relay import SharedRelay
from tests.acceptance.test_reminder_trouble import copies
from tests.leaks import searched
from tests.standins.anthropic import Reply

pytestmark = SESSION


class Terminal:
    """A `relay …` with its standard input and output."""

    def __init__(self, process: asyncio.subprocess.Process, settings: dict[str, str]) -> None:
        self.process = process
        self.settings = settings
        self.seen = ""

    async def until(self, text: str, seconds: float = 60) -> str:
        """Reads until the text appears. Returns what came since the last call."""
        assert self.process.stdout is not None
        since = ""
        async with asyncio.timeout(seconds):
            while text not in since:
                piece = await self.process.stdout.read(4096)
                if not piece:
                    raise AssertionError(f"ended without {text!r}: {self.seen}")
                since += piece.decode()
                self.seen += piece.decode()
        return since

    def type(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n".encode())

    async def ended(self, seconds: float = 60) -> tuple[int, str]:
        """Returns the exit code and everything printed."""
        assert self.process.stdout is not None
        async with asyncio.timeout(seconds):
            self.seen += (await self.process.stdout.read()).decode()
            return await self.process.wait(), searched(self.seen, self.settings)


async def start(settings: dict[str, str], folder: Path, *words: str) -> Terminal:
    return Terminal(
        await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "relay",
            *words,
            env=settings,
            cwd=folder,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        ),
        settings,
    )


async def relay(settings: dict[str, str], folder: Path, *words: str) -> tuple[int, str]:
    """Runs one command to its end."""
    terminal = await start(settings, folder, *words)
    assert terminal.process.stdin is not None
    terminal.process.stdin.close()
    return await terminal.ended()


async def test_the_terminal_shares_the_owners_memory_with_the_running_bot(bot: SharedBot, tmp_path: Path) -> None:
    olga = bot.tg.user(OWNER)
    dm = bot.tg.dm(olga)
    await bot.ask(dm, olga, "my boat is called Swallow", "Fine [LEARN: Olga's boat is called Swallow]")
    settings = bot.relay.environment
    code, shown = await relay(settings, tmp_path, "memory")
    assert code == 0
    assert "Olga's boat is called Swallow" in shown
    code, shown = await relay(settings, tmp_path, "remember", "Olga", "has", "a", "parrot")
    assert "Learned: Olga has a parrot" in shown
    code, shown = await relay(settings, tmp_path, "soul")
    assert "You are Relay" in shown
    talk = await start(settings, tmp_path, "chat")
    await talk.until("you ›")
    bot.says("who is my bird?", Reply("It is **Polly** the parrot. [LEARN: Olga's parrot is Polly]", spread=0.5))
    talk.type("who is my bird?")
    shown = await talk.until("[1] ↩ Undo / Edit…")
    assert "It is Polly the parrot." in shown
    assert "Learned: Olga's parrot is Polly" in shown
    assert "[LEARN" not in shown
    assert "- Olga has a parrot" in bot.prompt("who is my bird?").system_text
    assert "boat is called" not in str(bot.prompt("who is my bird?").messages), "the terminal has its own thread"
    talk.type("/press 1")
    assert "Undo: Olga's parrot is Polly" in await talk.until("‹ Close")
    talk.type("/press 1")
    await talk.until("Undone.")
    talk.type("and my boat?")
    await talk.until("You said: and my boat?")
    assert "It is **Polly** the parrot." in str(bot.prompt("and my boat?").messages[:-1])
    assert "parrot is Polly" not in bot.prompt("and my boat?").system_text
    for command, expected in (
        ("/new", "A new conversation"),
        ("/memory", "Olga has a parrot"),
        ("/help", "/retry"),
        ("/nonsense", "I don't know"),
        ("/press 99", "That button doesn't exist"),
    ):
        talk.type(command)
        await talk.until(expected)
    assert [one.user_turn()[0] for one in bot.model.requests if "sonnet" in one.model][-1] == "and my boat?"
    talk.type("")
    code, shown = await talk.ended()
    assert code == 0
    assert "Traceback" not in shown
    assert "boat" in (await bot.ask(dm, olga, "/memory")).text
    assert "parrot" in (await bot.ask(dm, olga, "/memory")).text
    code, shown = await relay(settings, tmp_path, "forget", "parrot")
    assert "Forgot: Olga has a parrot" in shown
    assert "parrot" not in (await bot.ask(dm, olga, "/memory")).text


async def test_a_line_as_long_as_a_part_of_a_split_message_is_answered_at_once(bot: SharedBot, tmp_path: Path) -> None:
    bot.tg.user(OWNER)
    talk = await start(bot.relay.environment, tmp_path, "chat")
    await talk.until("you ›")
    talk.type("sail " * 1000 + "home")
    await talk.until("you ›")
    assert "sail home" in talk.seen, "the answer comes before the next line is read"
    talk.type("")
    assert (await talk.ended())[0] == 0


async def test_a_line_after_a_kill_is_answered_after_what_was_left_unanswered(bot: SharedBot, tmp_path: Path) -> None:
    bot.tg.user(OWNER)
    talk = await start(bot.relay.environment, tmp_path, "chat")
    await talk.until("you ›")
    bot.says("the slow one", Reply("Never shown.", first_delay=30))
    talk.type("the slow one")
    await bot.tg.wait_for(lambda: bot.prompts("the slow one"))
    talk.process.kill()
    shared_relay = SharedRelay(bot.tg, bot.model, bot.relay, bot.data)
    shared_relay.sql("update relay.turn set lease_until = now() where bot_id = 0 and status = 'working'")
    talk = await start(bot.relay.environment, tmp_path, "chat")
    await talk.until("you ›")
    talk.type("the next one")
    await talk.until("You said: the slow one")
    await talk.until("You said: the next one")
    talk.type("")
    assert (await talk.ended())[0] == 0


async def test_offline_chat_needs_no_key_and_says_that_no_model_answers(tmp_path: Path, bot: SharedBot) -> None:
    settings = {
        key: value for key, value in bot.relay.environment.items() if not key.startswith(("ANTHROPIC", "TELEGRAM"))
    }
    settings |= {"RELAY_DATA_DIR": str(tmp_path / "data"), "RELAY_ADMINS": "", "RELAY_USERS": "", "RELAY_TTS": ""}
    talk = await start(settings, tmp_path, "chat", "--offline")
    await talk.until("OFFLINE")
    talk.type("I like sailing boats")
    shown = await talk.until("Undo")
    assert "no model is answering" in shown
    assert "Learned: I like sailing boats" in shown
    talk.type("/status")
    assert "offline: a stand-in answers" in await talk.until("search by")
    talk.type("hello again")
    assert "3 messages and 1 memory." in await talk.until("This prompt has 3 messages")
    talk.type("/press 1")
    assert "<untrusted" not in await talk.until("Skip")
    talk.type("/say")
    await talk.until("I can't speak in the terminal. In Telegram, I can read an answer aloud.")
    talk.type("/forget --erase hello")
    await talk.until("✖ Keep")
    talk.type("/press 1")
    assert "in Telegram" not in await talk.until("Erased for good", 10) + await talk.until("[1] 🧹")
    talk.type("I like hills")
    await talk.until("Learned: I like hills")
    assert talk.process.stdin is not None
    talk.process.stdin.close()
    code, shown = await talk.ended()
    assert code == 0
    assert "Traceback" not in shown
    code, shown = await relay(settings, tmp_path, "status")
    assert "0 memories" in shown, "offline chat has its own memory"
    assert code == 0
    settings["RELAY_DATA_DIR"] += "/offline"
    code, shown = await relay(settings, tmp_path, "memory", "index", "--status")
    assert int(re.search(r'"entries": (\d+)', shown)[1]) >= 3, "the memory and the messages"  # type: ignore[index]
    code, shown = await relay(settings, tmp_path, "memory", "index", "--json")
    assert (code, json.loads(shown)["status"]["entries"] >= 3) == (0, True), shown


@pytest.mark.parametrize(
    ("change", "words", "named"),
    [
        ({"TELEGRAM_BOT_TOKEN": ""}, ("run",), "TELEGRAM_BOT_TOKEN"),
        ({"TELEGRAM_BOT_TOKEN": "nonsense"}, ("run",), "TELEGRAM_BOT_TOKEN"),
        ({"RELAY_ADMINS": "@olga"}, ("chat",), "RELAY_ADMINS"),
        ({"ANTHROPIC_API_KEY": "", "ANTHROPIC_BASE_URL": ""}, ("chat",), "ANTHROPIC_API_KEY"),
        ({"RELAY_TIMEZONE": "Mars/Olympus"}, ("memory",), "RELAY_TIMEZONE"),
    ],
)
async def test_a_wrong_setting_is_named_in_one_sentence(
    bot: SharedBot, tmp_path: Path, change: dict[str, str], words: tuple[str, ...], named: str
) -> None:
    code, shown = await relay(bot.relay.environment | change, tmp_path, *words)
    assert code == 2
    assert named in shown
    assert "Traceback" not in shown
    assert len(shown.strip().splitlines()) == 1


async def test_a_question_in_the_terminal_is_answered_by_the_next_line(bot: SharedBot, tmp_path: Path) -> None:
    settings = bot.relay.environment | {"RELAY_ADMINS": "1777"}
    talk = await start(settings, tmp_path, "chat", "--offline")
    await talk.until("you ›")
    talk.type("/remember I play the cello")
    await talk.until("[1] ↩ Undo / Edit…")
    talk.type("/press 1")
    await talk.until("[2] ✎ Edit")
    talk.type("/press 2")
    await talk.until("reply to this message")
    talk.type("I play the viola")
    assert "Updated: I play the viola" in await talk.until("(was: I play the cello)")
    talk.type("")
    assert (await talk.ended())[0] == 0


async def test_a_reminder_made_in_a_shell_says_where_it_will_come_and_all_are_listed(
    bot: SharedBot, tmp_path: Path
) -> None:
    code, shown = await relay(bot.relay.environment, tmp_path, "remind", "2031-01-01 9:00 shell bins")
    assert code == 0
    copies(SharedRelay(bot.tg, bot.model, bot.relay, bot.data), "shell bins", 7)
    _, listed = await relay(bot.relay.environment, tmp_path, "reminders")
    assert all(f"shell bins {number}.\n" in listed for number in range(1, 8))
    assert "⏰ shell bins\n1 Jan 2031 9:00\nThe bot reminds you in Telegram, as long as relay run is running." in shown


async def test_a_program_that_stops_reading_the_output_breaks_nothing(bot: SharedBot, tmp_path: Path) -> None:
    settings = bot.relay.environment | {"RELAY_ADMINS": "1778"}
    chat = f"printf 'I like sailing\\nhello\\n' | {sys.executable} -m relay chat --offline"
    words = ("bash", "-o", "pipefail", "-c", f"{chat} | head -n 1")
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*words, env=settings, cwd=tmp_path, stdout=pipe, stderr=pipe)
    shown, said = await process.communicate()
    assert (process.returncode, said.decode()) == (0, "")
    assert shown.decode().count("\n") == 1
