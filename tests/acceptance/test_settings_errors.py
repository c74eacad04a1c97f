"""A wrong setting yields one sentence that names it and exit code 2, without a traceback or a secret."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.acceptance.harness import OWNER
from tests.acceptance.pty import Person
from tests.acceptance.shared_relay import SharedRelay, open_relay
from tests.forks import read_at_start
from tests.leaks import searched
from tests.places import furnish
from tests.standins.anthropic import AnthropicStandIn
from tests.standins.telegram import TelegramStandIn
from tests.standins.telegram.values import TEST_TOKEN

GOOD = {"TELEGRAM_BOT_TOKEN": TEST_TOKEN, "ANTHROPIC_API_KEY": "sk-ant-test", "RELAY_ADMINS": "1001"}
WRONG: dict[str, dict[str, str]] = {
    "TELEGRAM_BOT_TOKEN is not set": {"TELEGRAM_BOT_TOKEN": ""},
    "@BotFather": {"TELEGRAM_BOT_TOKEN": ""},
    "TELEGRAM_BOT_TOKEN does not look like": {"TELEGRAM_BOT_TOKEN": "my secret token"},
    "ANTHROPIC_API_KEY is not set": {"ANTHROPIC_API_KEY": ""},
    "TELEGRAM_API_URL must": {"TELEGRAM_API_URL": "api.telegram.org"},
    "ANTHROPIC_BASE_URL must": {"ANTHROPIC_BASE_URL": "ftp://x"},
    "RELAY_ADMINS must": {"RELAY_ADMINS": "@ada"},
    "RELAY_USERS must": {"RELAY_USERS": "12;13"},
    "RELAY_MAX_TOKENS": {"RELAY_MAX_TOKENS": "many"},
    "RELAY_MODEL_TIMEOUT": {"RELAY_MODEL_TIMEOUT": "-1"},
    "RELAY_CONCURRENCY must be a whole number from 1 to 1000.": {"RELAY_CONCURRENCY": "0"},
    "RELAY_TIMEZONE must": {"RELAY_TIMEZONE": "Mars/Olympus"},
    "RELAY_LOG_LEVEL must be DEBUG, INFO, WARNING or ERROR.": {"RELAY_LOG_LEVEL": "LOUD"},
    "RELAY_LOG_FORMAT": {"RELAY_LOG_FORMAT": "xml"},
    "RELAY_WEB_SEARCH must be on or off.": {"RELAY_WEB_SEARCH": "perhaps"},
    "RELAY_DATA_DIR: Relay cannot write in /dev/null/x": {"RELAY_DATA_DIR": "/dev/null/x"},
    "RELAY_BACKUP_DIR: Relay cannot write in /dev/null:": {"RELAY_BACKUP_DIR": "/dev/null"},
    "DATABASE_URL must": {"DATABASE_URL": "mysql://root:hunter2@db/x"},
    "%5B": {"DATABASE_URL": "postgresql://postgres:[hunter2]@db.example.com:5432/postgres"},
}
SECRET = ("my secret token", "hunter2", "sk-ant-test", TEST_TOKEN)


async def run(folder: Path, settings: dict[str, str], command: str = "run") -> tuple[int, str]:
    """Runs `relay run` or another command with these settings. Returns its exit code and all its output."""
    # Without the variables that Python reads at its start, Relay would not be forked but really started.
    system = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "RELAY_DATA_DIR": str(folder / "data")}
    system |= read_at_start(dict(os.environ))
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "relay", *command.split(),
        env={**system, **settings}, cwd=folder, stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    async with asyncio.timeout(40):
        said, _ = await process.communicate()
    assert process.returncode is not None
    return process.returncode, searched(said.decode(), settings)


async def test_each_wrong_setting_is_named_in_one_sentence(tmp_path: Path) -> None:
    limit = asyncio.Semaphore(3)

    async def wrong(settings: dict[str, str]) -> tuple[int, str]:
        async with limit:
            return await run(tmp_path, {**GOOD, **settings})

    results = await asyncio.gather(*(wrong(settings) for settings in WRONG.values()))
    for named, (code, said) in zip(WRONG, results, strict=True):
        assert code == 2, (named, said)
        assert named in said
        assert len(said.strip().splitlines()) == 1, said
        assert said.startswith("relay: ")
        assert not any(secret in said for secret in SECRET), said


async def test_every_command_reports_an_unusable_data_directory(tmp_path: Path) -> None:
    for command in ("status", "chat --offline", "db status", "db migrate"):
        code, said = await run(tmp_path, {**GOOD, "RELAY_DATA_DIR": "/dev/null"}, command)
        assert (code, len(said.splitlines())) == (2, 1), said
        assert said.startswith("relay: RELAY_DATA_DIR: Relay cannot write in /dev/null: ")


async def test_without_backups_an_unusable_backup_directory_is_no_error(tmp_path: Path) -> None:
    async with TelegramStandIn(token="999:OTHER") as tg:
        settings = {"TELEGRAM_API_URL": tg.url, "RELAY_BACKUP_DIR": "/dev/null", "RELAY_BACKUP_DAYS": "0"}
        _, said = await run(tmp_path, {**GOOD, **settings})
    assert "RELAY_BACKUP_DIR" not in said


async def test_the_environment_overrides_settings_from_the_file(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(f"TELEGRAM_BOT_TOKEN={TEST_TOKEN}\nANTHROPIC_API_KEY=x\nRELAY_TIMEZONE=Nowhere\n")
    code, said = await run(tmp_path, {})
    assert code == 2
    assert "RELAY_TIMEZONE" in said
    code, said = await run(tmp_path, {"RELAY_TIMEZONE": "Europe/Berlin", "RELAY_LOG_LEVEL": "LOUD"})
    assert code == 2
    assert "RELAY_LOG_LEVEL" in said


async def test_a_token_unknown_to_telegram_is_reported(tmp_path: Path) -> None:
    async with TelegramStandIn(token="999:OTHER") as tg:
        code, said = await run(tmp_path, {**GOOD, "TELEGRAM_API_URL": tg.url})
    assert code == 2
    assert "TELEGRAM_BOT_TOKEN" in said
    assert "Traceback" not in said


@pytest.mark.parametrize(("key", "refused"), [("sk-ant-wrong", True), ("sk-ant-test", False)])
async def test_a_key_unknown_to_the_model_is_reported_at_a_terminal(tmp_path: Path, key: str, refused: bool) -> None:
    said = "The model's server does not accept the key. Check ANTHROPIC_API_KEY."
    await furnish(tmp_path / "data")
    async with TelegramStandIn() as tg, AnthropicStandIn() as model:
        urls = {"TELEGRAM_API_URL": tg.url, "ANTHROPIC_BASE_URL": model.url, "RELAY_DATA_DIR": str(tmp_path / "data")}
        more = {"ANTHROPIC_API_KEY": key, "RELAY_WEB": "off", "RELAY_EMBEDDER": "off"}
        person = Person(tmp_path, "run", **{**GOOD, **urls, **more})
        try:
            await person.sees(said if refused else "relay is running")
            await model.wait_requests(1, finished=True)
            person.child.sendintr()
            assert await person.ends() == 0
        finally:
            person.child.close(force=True)
    assert (said in " ".join(person.screen.split())) is refused
    assert [one.body["max_tokens"] for one in model.requests] == [1]


@pytest.fixture
async def closed() -> AsyncIterator[SharedRelay]:
    async with open_relay(RELAY_ADMINS="", RELAY_USERS="") as shared_relay:
        yield shared_relay


async def test_without_configured_people_nobody_is_answered_before_a_claim(closed: SharedRelay) -> None:
    chat = closed.tg.dm(closed.tg.user(OWNER, "Ada"))
    await closed.tg.say(chat, None, "hello?")
    await closed.tg.say(chat, None, "/start")
    await closed.tg.wait_for(lambda: not closed.tg.pending_updates)
    await asyncio.sleep(0.5)
    assert closed.said(chat) == []
    assert closed.model.requests == []
    assert "becomes its admin" in closed.relay.output()


async def test_unknown_settings_are_reported_at_startup_with_a_suggestion(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("RELAY_MODLE=x\nhello there\n")
    code, said = await run(tmp_path, {"RELAY_ADMIN": "1001"})
    assert code == 2
    assert "RELAY_ADMIN in the environment is not a setting of this version. Did you mean RELAY_ADMINS?" in said
    assert "RELAY_MODLE in .env is not a setting of this version. Did you mean RELAY_MODEL?" in said
    assert "line 2 of .env is not a setting. A line is NAME=value, or a comment that starts with #." in said
    assert "python-dotenv" not in said


def test_a_deleted_folder_is_named_in_one_sentence(tmp_path: Path) -> None:
    command = 'mkdir gone && cd gone && rmdir "$PWD" && "$0" -m relay status'
    done = subprocess.run(
        ["sh", "-c", command, sys.executable], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    said = done.stderr.splitlines()
    assert (done.returncode, said) == (1, ["relay: the current folder has been deleted. Change to another one."])
