"""`make run` on a fresh copy of the checkout: sets up, reports or asks for missing settings, and runs the bot."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.acceptance.harness import OWNER, RelayProcess, environment
from tests.acceptance.pty import Person
from tests.places import DISK
from tests.standins.anthropic import AnthropicStandIn
from tests.standins.telegram import TelegramStandIn

ROOT = Path(__file__).parents[2]
NEEDED = ("relay", "migrations", "scripts", "Makefile", "pyproject.toml", "README.md", "LICENSE", ".env.example")
SENTENCE = "relay: TELEGRAM_BOT_TOKEN is not set. Open @BotFather"
pytestmark = [
    pytest.mark.timeout(400),  # the setup installs 70 packages, over the network on a first run
    pytest.mark.slow("make test, which is set up by the same script, and test_setup.py"),
]


@dataclass
class Made(RelayProcess):
    """`make run` and its child processes."""

    own_group: bool = True

    @property
    def command(self) -> tuple[str | Path, ...]:
        return ("make", "run")


@pytest.fixture(autouse=True)
def no_make_around(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hides the arguments of `make test ARGS=…` from the `make` of a test."""
    for name in ("ARGS", "MAKEFLAGS", "MAKELEVEL", "MFLAGS", "MAKEOVERRIDES"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def checkout() -> Iterator[Path]:
    """A copy of what a clone holds, not set up."""
    folder = Path(tempfile.mkdtemp(prefix="relay-make-", dir=DISK))
    folder.chmod(0o711)
    for source in (*(ROOT / name for name in NEEDED), *ROOT.glob("requirements*.txt")):
        if source.is_dir():
            shutil.copytree(source, folder / source.name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def make(checkout: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Runs `make …` without Relay's settings in the environment."""
    hidden = ("RELAY_", "TELEGRAM_", "ANTHROPIC_", "DATABASE_", "SUPABASE_", "COV", "PYTHON")
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(hidden)}
    return subprocess.run(
        ["make", *arguments],
        cwd=checkout,
        env=inherited | {"PIP_NO_COMPILE": "1"} | more,  # the tests run few of the packages
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def test_an_unsupported_python_is_reported(checkout: Path) -> None:
    old = checkout / "old-python"
    old.write_text("#!/bin/sh\nexit 1\n")
    old.chmod(0o755)
    result = make(checkout, "run", f"PYTHON={old}")
    assert result.returncode == 2
    assert result.stderr.startswith(f"relay: PYTHON={old} is not Python 3.11, 3.12 or 3.13.\nmake: ")
    assert not (checkout / ".venv").exists()


def test_make_run_sets_up_once_and_names_missing_settings(checkout: Path) -> None:
    shutil.rmtree(checkout / ".venv", ignore_errors=True)
    first, second = make(checkout, "run", PYTHON=sys.executable), make(checkout, "run")
    assert (first.returncode, second.returncode) == (2, 2)
    set_up, *warnings, sentence, code = first.stderr.splitlines()
    assert all(line.startswith("WARNING: ") for line in warnings), "warnings of pip about a slow network"
    assert set_up.startswith("Setting up Relay in .venv with Python 3.1")
    assert sentence.startswith(SENTENCE)
    assert code.endswith("Error 2")
    assert second.stderr.splitlines() == [sentence, code]
    assert first.stdout + second.stdout == ""
    assert not (checkout / ".env").exists(), "without a terminal no file is written"


async def test_make_run_at_a_terminal_asks_for_missing_settings(checkout: Path) -> None:
    person = Person(checkout, "run", command=("make",))
    await person.sees("1 of 5 · Your bot")
    await person.sees("Paste it here (hidden): ")
    person.child.sendintr()
    await person.sees("Stopped. Nothing was written")
    assert await person.ends() != 0
    assert ".env" not in os.listdir(checkout)


def test_make_run_sets_up_again_after_a_change_of_pyproject(checkout: Path) -> None:
    with (checkout / "pyproject.toml").open("a") as file:
        file.write("\n# changed\n")
    assert make(checkout, "run").stderr.startswith("Setting up Relay")
    assert make(checkout, "run").stderr.startswith(SENTENCE)


async def test_make_run_runs_the_bot_across_restarts_and_kills(checkout: Path) -> None:
    async with TelegramStandIn() as tg, AnthropicStandIn() as model:
        settings = environment(tg, model, checkout / "data")
        relay = Made(settings, checkout / "relay.log")
        dm = tg.dm(tg.user(OWNER, "Ada"))
        for words, end in (("hello", signal.SIGKILL), ("again", signal.SIGTERM), ("and now", signal.SIGINT)):
            await relay.start()
            try:
                message = await tg.say(dm, tg.person(OWNER), words)
                reply = await tg.wait_reply(dm, after=message.message_id, timeout=60)
                assert reply.text == f"You said: {words}"
            finally:
                await relay.end(end)
        assert "Traceback" not in relay.output()
        assert len(model.requests[-1].body["messages"]) == 5
