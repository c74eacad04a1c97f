"""The first run of a new user at a terminal, from nothing to a bot that answers."""

from __future__ import annotations

import asyncio
import shutil
import signal
import socket
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pexpect
import pytest
from dotenv import dotenv_values

from relay.clients.speech.installed import MODULES, is_installed
from tests.acceptance.harness import OWNER
from tests.acceptance.pty import Person, without_settings
from tests.places import furnish
from tests.standins.anthropic import AnthropicStandIn
from tests.standins.supabase import SupabaseProject
from tests.standins.telegram import TelegramStandIn
from tests.standins.telegram.values import TEST_TOKEN

TOKEN, KEY = TEST_TOKEN, "sk-ant-test"
PASTE = "Paste it here (hidden): "
KEEP = "(hidden): "
KEY_OF_SERVER = "Its key (hidden; press Enter if it needs none): "
KEY_OR_ADDRESS = "The key or address (hidden): "
MODEL = "Which of its models should answer? [claude-sonnet-5-5] "
CITY = "or a big city in it ["
PLACE = "1, 2 or 3 [1]: "
VOICE = "Transcribe them? 1, 2 or 3 ["
UNHEARD = {"RELAY_STT": "off"} if any(map(is_installed, MODULES)) else {}
"""What answering no to transcription writes. If no engine is installed, there is nothing to switch off."""
WRITTEN = "Saved, readable only by you: "
POSTGRES = "postgresql://user:password@host/database (hidden): "
Start = Callable[..., Person]


@pytest.fixture
async def tg() -> AsyncIterator[TelegramStandIn]:
    async with TelegramStandIn() as tg:
        yield tg


@pytest.fixture
async def model() -> AsyncIterator[AnthropicStandIn]:
    async with AnthropicStandIn() as model:
        yield model


@pytest.fixture
def folder() -> Iterator[Path]:
    path = Path(tempfile.mkdtemp(prefix="relay-setup-"))
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def start(tg: TelegramStandIn, folder: Path) -> Iterator[Start]:
    """Runs `relay …` in the folder with the stand-in's Telegram. The process ends with the test."""
    people: list[Person] = []

    def run(*words: str, **settings: str) -> Person:
        basis = {"TELEGRAM_API_URL": tg.url, "RELAY_DATA_DIR": str(folder / "data"), "RELAY_WEB": "off"}
        people.append(Person(folder, *words, **{**basis, **settings}))
        return people[-1]

    yield run
    for person in people:
        person.child.close(force=True)


async def relay(folder: Path, *words: str, **settings: str) -> tuple[int, str]:
    """Runs `relay …` without a terminal. Returns its exit code and output."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "relay", *words, cwd=folder, env=without_settings() | settings,
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    async with asyncio.timeout(60):
        output, _ = await process.communicate()
    assert b"Traceback" not in output, output
    return process.returncode or 0, output.decode()


def written(folder: Path) -> dict[str, str]:
    """Returns what `.env` sets, except that transcription is off. Asserts that only its owner may read the file."""
    assert (folder / ".env").stat().st_mode & 0o777 == 0o600
    return {
        name: value for name, value in dotenv_values(folder / ".env").items() if value and UNHEARD.get(name) != value
    }


def is_empty(folder: Path) -> bool:
    return not list(folder.iterdir())


def reads_well(screen: str) -> None:
    """Asserts that there is no traceback and every line fits. Paths and log lines may be longer."""
    assert "Traceback" not in screen
    assert not [line for line in screen.split(WRITTEN)[0].splitlines() if len(line) > 80]


async def test_closing_the_terminal_stops_the_bot_and_its_database(
    start: Start, tg: TelegramStandIn, model: AnthropicStandIn, folder: Path
) -> None:
    await furnish(folder / "data")
    more = {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": KEY, "RELAY_ADMINS": str(OWNER)}
    person = start("run", TELEGRAM_BOT_TOKEN=TOKEN, RELAY_EMBEDDER="off", **more)
    await person.sees("relay is running")
    person.child.ptyproc.fileobj.close()
    await tg.wait_for(lambda: not person.child.isalive(), 60)
    assert person.child.exitstatus == 0
    assert "database system is shut down" in (folder / "data" / "postgres.log").read_text()


@pytest.mark.parametrize("checking", [False, True])
async def test_sigterm_leaves_a_terminal_that_shows_what_is_typed(start: Start, folder: Path, checking: bool) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        person = start("setup", TELEGRAM_API_URL=f"http://127.0.0.1:{silent.getsockname()[1]}")
        await person.sees(PASTE)
        if checking:
            person.child.sendline(TOKEN)
            await asyncio.to_thread(silent.accept)
        assert person.child.waitnoecho(10)
        person.child.kill(signal.SIGTERM)
        await asyncio.to_thread(person.child.expect, pexpect.EOF)
        assert person.child.getecho()
        assert await person.ends() == 143
    assert is_empty(folder)


async def test_setup_leads_from_nothing_to_a_conversation(
    start: Start, tg: TelegramStandIn, model: AnthropicStandIn, folder: Path
) -> None:
    person = start("run", ANTHROPIC_BASE_URL=model.url, RELAY_ADMINS=str(OWNER), RELAY_LOG_FORMAT="json")
    await person.answers((PASTE, "my token"))
    await person.sees("does not look like a bot token")
    await person.answers((PASTE, "999:WRONG"))
    await person.sees("Telegram does not accept TELEGRAM_BOT_TOKEN")
    await person.answers((PASTE, ""), (PASTE, TOKEN))
    await person.sees("this is @relay_test_bot (Relay).")
    await person.answers((KEY_OF_SERVER, "sk-ant-wrong"), (MODEL, ""))
    await person.sees("does not accept the key")
    model.fault("credit")
    await person.answers((KEY_OF_SERVER, KEY), (MODEL, ""))
    await person.sees("out of credit")
    await person.answers(("Keep it anyway? [y/N] ", ""))
    await person.answers((KEY_OF_SERVER, KEY), (MODEL, ""))
    await person.sees("claude-sonnet-5-5 works.")
    await person.answers((CITY, "Europe/Berln"))
    await person.sees("Which one do you mean: Europe/Berlin")
    await person.answers((CITY, "berlin"))
    await person.sees("Europe/Berlin, where it is ")
    assert not (folder / ".env").exists()
    await person.answers((PLACE, ""), (VOICE, "1"))
    await person.sees(WRITTEN)
    await person.sees("relay is running")
    dm = tg.dm(tg.user(OWNER, "Ada"))
    await tg.say(dm, tg.person(OWNER), "hello")
    assert (await tg.wait_reply(dm, timeout=60)).text == "You said: hello"
    person.child.sendintr()
    assert await person.ends() == 0
    assert written(folder) == {"TELEGRAM_BOT_TOKEN": TOKEN, "ANTHROPIC_API_KEY": KEY, "RELAY_TIMEZONE": "Europe/Berlin"}
    reads_well(person.screen)
    assert not [secret for secret in (TOKEN, KEY, "my token", "999:WRONG", "sk-ant-wrong") if secret in person.screen]
    await tg.wait_for(lambda: not tg.pending_updates)


async def test_repeating_setup_keeps_the_existing_settings(
    start: Start, tg: TelegramStandIn, model: AnthropicStandIn, folder: Path
) -> None:
    mine = (
        f"# mine\nTELEGRAM_BOT_TOKEN={TOKEN}\nRELAY_USERS=7\n"
        f"ANTHROPIC_API_KEY={KEY}\nANTHROPIC_BASE_URL={model.url}\nRELAY_TIMEZONE=Asia/Tokyo\n"
    )
    (folder / ".env").write_text(mine)
    (folder / ".env").chmod(0o644)
    person = start("setup")
    await person.sees("this is @relay_test_bot (Relay).")
    await person.answers(("Press Enter to keep it, or paste another token (hidden): ", ""))
    await person.sees("claude-sonnet-5-5 works.")
    await person.answers(("Press Enter to keep it, or paste another key or address (hidden): ", ""))
    await person.answers((f"{CITY}Asia/Tokyo]: ", ""), (PLACE, ""), (VOICE, "1"))
    await person.sees("Start it with `relay run`.")
    assert await person.ends() == 0
    kept = (folder / ".env").read_text()
    assert kept.startswith(mine)
    assert UNHEARD or kept == mine
    written(folder)
    reads_well(person.screen)
    assert TOKEN not in person.screen
    assert KEY not in person.screen


async def test_setup_with_another_model_server_while_telegram_is_unreachable(
    start: Start, tg: TelegramStandIn, model: AnthropicStandIn, folder: Path
) -> None:
    tg.fault("getMe", "disconnect", times=-1)
    person = start("setup")
    await person.answers((PASTE, TOKEN), ("Keep it anyway, unchecked? [y/N] ", "y"))
    await person.answers((KEY_OR_ADDRESS, f"{model.url}/v1"), (KEY_OF_SERVER, KEY), (MODEL, "llama9"))
    await person.sees("does not know this model")
    await person.answers(("unchecked? [y/N] ", ""), (MODEL, "claude-haiku-5-5"), (CITY, ""), (PLACE, ""), (VOICE, "1"))
    assert await person.ends() == 0
    named = written(folder)
    assert named.pop("RELAY_TIMEZONE")
    assert named == {
        "TELEGRAM_BOT_TOKEN": TOKEN,
        "ANTHROPIC_API_KEY": KEY,
        "ANTHROPIC_BASE_URL": model.url,
        "RELAY_MODEL": "claude-haiku-5-5",
        "RELAY_SMALL_MODEL": "claude-haiku-5-5",
    }
    reads_well(person.screen)


@pytest.mark.parametrize("command", ["run", "setup"])
async def test_aborting_setup_writes_nothing(start: Start, model: AnthropicStandIn, folder: Path, command: str) -> None:
    person = start(command, ANTHROPIC_API_KEY=KEY, ANTHROPIC_BASE_URL=model.url, RELAY_TIMEZONE="UTC")
    await person.sees(PASTE)
    if command == "run":
        person.child.sendeof()
    else:
        person.child.sendline(TOKEN)
        await person.sees("Taken from the environment: ANTHROPIC_API_KEY and ANTHROPIC_BASE_URL.")
        await person.sees("Taken from the environment: RELAY_TIMEZONE.")
        await person.sees(PLACE)
        person.child.sendintr()
    await person.sees("Stopped. Nothing was written. You can run setup again at any time.")
    assert await person.ends() == 130
    assert is_empty(folder)
    reads_well(person.screen)


async def test_a_wrong_token_in_the_environment_must_be_corrected_there(start: Start, folder: Path) -> None:
    person = start("setup", TELEGRAM_BOT_TOKEN="999:WRONG")
    await person.sees("relay: Correct TELEGRAM_BOT_TOKEN in the environment, then try again.")
    assert await person.ends() == 2
    assert is_empty(folder)


# Other storage


@pytest.fixture(scope="module")
def project() -> Iterator[SupabaseProject]:
    with SupabaseProject() as project:
        yield project


async def test_starting_with_an_invalid_token_suggests_setup(start: Start, folder: Path) -> None:
    (folder / ".env").write_text("TELEGRAM_BOT_TOKEN=nonsense\n")
    person = start("run")
    await person.sees("Or run `relay setup`.")
    assert await person.ends() == 2


@pytest.mark.slow("test_setup_leads_from_nothing_to_a_conversation and test_supabase_start.py")
async def test_setup_checks_connections_to_supabase_and_postgresql(
    start: Start, tg: TelegramStandIn, model: AnthropicStandIn, folder: Path, project: SupabaseProject
) -> None:
    fixed = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": model.url, "RELAY_TIMEZONE": "UTC"}
    person = start("setup", **fixed)
    await person.answers((PASTE, TOKEN), (PLACE, "3"))
    await person.answers(("The project's address [", project.url), ("key (hidden): ", project.anon_key))
    await person.sees("is set to the anon key")
    await person.answers(
        (PLACE, "3"), ("The project's address [", project.url), ("key (hidden): ", project.service_key)
    )
    await person.sees("are not there yet. Run `relay db migrate`")
    await person.answers(
        ("check again): ", ""), ("check again): ", "http://x"), ("check again): ", project.database_url)
    )  # fmt: skip
    await person.sees("Relay's tables exist.")
    await person.answers((VOICE, "1"))
    assert await person.ends() == 0
    named = written(folder)
    assert (named["SUPABASE_URL"], named["SUPABASE_SERVICE_ROLE_KEY"]) == (project.url, project.service_key)
    assert named["DATABASE_URL"] == project.database_url
    reads_well(person.screen)
    assert not [secret for secret in project.secrets if secret in person.screen]

    again = start("setup", **fixed)
    await again.answers((KEEP, ""), ("1, 2 or 3 [3]: ", "2"))
    await again.answers((POSTGRES, project.database_url.replace(project.database.password, "hunter22")))
    await again.sees("wrong user or password")
    await again.answers((POSTGRES, project.database_url))
    await again.sees("Relay's tables exist.")
    await again.sees("`relay move`")
    await again.answers((VOICE, "1"))
    assert await again.ends() == 0
    named = written(folder)
    assert named == {"TELEGRAM_BOT_TOKEN": TOKEN, "DATABASE_URL": project.database_url}
    reads_well(again.screen)
    assert "hunter22" not in again.screen


# Without questions


async def test_setup_without_questions_takes_flags_and_the_environment(
    tg: TelegramStandIn, model: AnthropicStandIn, folder: Path
) -> None:
    servers = {"TELEGRAM_API_URL": tg.url, "RELAY_DATA_DIR": str(folder / "data")}
    given = ("setup", "--non-interactive", "--anthropic-url", model.url, "--timezone", "Europe/Berlin")
    code, said = await relay(folder, *given, TELEGRAM_BOT_TOKEN="999:WRONG", ANTHROPIC_API_KEY=KEY, **servers)
    assert (code, said[:41]) == (2, "relay: Telegram does not accept TELEGRAM_")
    assert is_empty(folder)
    code, said = await relay(folder, *given, "--key", KEY, TELEGRAM_BOT_TOKEN=TOKEN, **servers)
    assert code == 0, said
    assert "Your bot: this is @relay_test_bot (Relay).\nClaude: claude-sonnet-5-5 works.\n" in said
    assert said.endswith(f"Written: {folder / '.env'}\n")
    assert TOKEN not in said
    assert KEY not in said
    everything = {
        "TELEGRAM_BOT_TOKEN": TOKEN,
        "ANTHROPIC_API_KEY": KEY,
        "ANTHROPIC_BASE_URL": model.url,
        "RELAY_TIMEZONE": "Europe/Berlin",
    }
    assert written(folder) == everything
    code, said = await relay(folder, "setup", "--non-interactive", "--no-check", "--model", "llama9")
    assert (code, said) == (0, f"Written, unchecked: {folder / '.env'}\n")
    assert written(folder) == {**everything, "RELAY_MODEL": "llama9", "RELAY_SMALL_MODEL": "llama9"}
    code, said = await relay(folder, "setup", "--non-interactive", "--no-check", "--timezone", "GMT+2")
    assert (code, written(folder)["RELAY_TIMEZONE"]) == (0, "Etc/GMT-2"), said
    code, said = await relay(folder, "setup", "--non-interactive", "--no-check", "--speech", "faster-whisper")
    assert code == 0, said
    assert written(folder)["RELAY_STT"] == "faster-whisper"


@pytest.mark.parametrize(
    ("words", "settings", "sentence"),
    [
        ("setup", {}, "so it needs a terminal. `relay setup --non-interactive` takes"),
        ("setup --key x", {}, "These flags need --non-interactive."),
        ("setup --non-interactive --key x", {}, "Or pass it with --token or in the environment."),
        ("setup --non-interactive --token x", {}, "TELEGRAM_BOT_TOKEN does not look like"),
        ("setup --non-interactive --token 1:abc --no-check", {}, "ANTHROPIC_API_KEY is not set."),
        ("setup --non-interactive --token 1:abc", {"TELEGRAM_BOT_TOKEN": "2:abc"}, "has another value in the"),
        ("setup --non-interactive --speech loud", {}, "RELAY_STT must be auto, openai-whisper, faster-whisper or off"),
        ("setup --non-interactive --storage cloud", {}, "--storage must be embedded, postgres or supabase."),
        ("setup --non-interactive --storage supabase", {}, "needs SUPABASE_URL and SUPABASE_SERVICE_ROLE_KEY."),
        ("setup --non-interactive --storage embedded", {"DATABASE_URL": "postgresql://x"}, "Remove it there."),
    ],
)  # fmt: skip
async def test_setup_without_a_terminal_prints_one_sentence(
    tmp_path: Path, words: str, settings: dict[str, str], sentence: str
) -> None:
    code, said = await relay(tmp_path, *words.split(), **settings)
    assert code == 2, said
    assert sentence in said
    assert said.startswith("relay: ")
    assert len(said.splitlines()) == 1
    assert is_empty(tmp_path)
