"""The wheel holds everything Relay needs but other packages: it starts and answers outside of the checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.acceptance.harness import OWNER, RelayProcess, environment
from tests.pictures import picture
from tests.places import DISK
from tests.standins.anthropic import AnthropicStandIn
from tests.standins.telegram import TelegramStandIn

ROOT = Path(__file__).parents[2]


@dataclass
class Installed(RelayProcess):
    """A `relay run` from the environment with the installed wheel."""

    program: Path = field(default_factory=Path)

    @property
    def command(self) -> tuple[str | Path, ...]:
        return (self.program, "run")


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A directory with a short name, as Unix sockets need, that other users may pass through."""
    path = Path(tempfile.mkdtemp(prefix="relay-wheel-", dir=DISK))
    path.chmod(0o711)
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture(scope="module")
def relay(folder: Path) -> Path:
    """The command `relay` in an environment of its own, which holds the wheel and sees the packages of this one: what
    `scripts/setup` installs is tested in test_make.py, and what Relay imports in test_dependencies.py."""
    python, wheels = folder / "venv/bin/python", folder / "wheels"
    clean = {key: value for key, value in os.environ.items() if not key.startswith("COV")}
    for command in (
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", wheels],
        [sys.executable, "-m", "venv", "--without-pip", folder / "venv"],
    ):
        subprocess.run(command, cwd=ROOT, env=clean, check=True, stdin=subprocess.DEVNULL, timeout=300)
    (wheel,) = wheels.iterdir()
    install = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", wheel]
    subprocess.run(install, cwd=folder, check=True, timeout=120)
    (packages,) = folder.glob("venv/lib/python*/site-packages")
    (packages / "others.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    return folder / "venv/bin/relay"


def said(relay: Path, *arguments: str, typed: str = "", **settings: str) -> str:
    """Returns the output of a command that sees neither the checkout nor any settings but these."""
    result = subprocess.run(
        [relay, *arguments],
        input=typed,
        capture_output=True,
        text=True,
        timeout=60,
        cwd=relay.parent,
        env={"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "LANG": "C.UTF-8", **settings},
        check=False,
    )
    assert "Traceback" not in result.stderr, result.stderr
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_the_wheel_prints_its_version(relay: Path) -> None:
    assert said(relay, "version") == "0.1.0\n"
    assert Path(said(relay.parent / "python", "-c", "import relay; print(relay.__file__)")).is_relative_to(
        relay.parents[1]
    )


def test_the_wheel_contains_all_sql_files(relay: Path) -> None:
    printed = statements(said(relay, "db", "sql"))
    for file in (ROOT / "migrations").rglob("*.sql"):
        assert statements(file.read_text("utf-8")) in printed, file.name


def statements(sql: str) -> str:
    """Returns the lines of a script that are neither empty nor comments, without their indentation, most of which isn't
    printed."""
    lines = (line.strip() for line in sql.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("--"))


def test_the_wheel_writes_the_settings_file(relay: Path, folder: Path) -> None:
    given = {"TELEGRAM_BOT_TOKEN": "12345:TEST", "ANTHROPIC_API_KEY": "sk-ant-test"}
    said(relay, "setup", "--non-interactive", "--no-check", **given)
    written = relay.parent / ".env"
    example = (ROOT / ".env.example").read_text("utf-8")
    for name, value in given.items():
        example = example.replace(f"{name}=\n", f"{name}={value}\n")
    assert written.read_text("utf-8") == example
    written.unlink()


@pytest.mark.slow("test_the_wheel_answers_in_telegram and test_terminal.py")
def test_the_wheel_chats_in_the_terminal_without_a_key(relay: Path, folder: Path) -> None:
    printed = said(relay, "chat", "--offline", typed="good morning\n/status\n", RELAY_DATA_DIR=str(folder / "chat"))
    assert "OFFLINE" in printed
    assert "You said: good morning" in printed
    assert "1 answer" in printed


async def test_the_wheel_answers_in_telegram(relay: Path, folder: Path) -> None:
    async with TelegramStandIn() as tg, AnthropicStandIn() as model:
        settings = environment(tg, model, folder / "data")
        bot = Installed(settings, folder / "relay.log", program=relay)
        await bot.start()
        try:
            await tg.wait_polling(timeout=60)
            dm = tg.dm(tg.user(OWNER, "Ada"))
            message = await tg.say(dm, tg.person(OWNER), "hello")
            reply = await tg.wait_reply(dm, after=message.message_id, timeout=60)
            assert reply.text == "You said: hello"
            message = await tg.say(dm, tg.person(OWNER), "what is on it?", photo=picture())
            reply = await tg.wait_reply(dm, after=message.message_id, timeout=60)
            shown = [block["type"] for asked in model.requests for block in asked.messages[-1]["content"]]
            assert "image" in shown
            assert await bot.stop() == 0
        finally:
            await bot.kill()
            if "Traceback" in bot.output():
                print(bot.output()[-8000:])
