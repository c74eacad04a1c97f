"""`relay run` as a process between stand-ins for Telegram and the model."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from tests.leaks import search_files
from tests.standins.anthropic import AnthropicStandIn
from tests.standins.telegram import TelegramStandIn
from tests.standins.telegram.values import TEST_TOKEN

OWNER, FRIEND, STRANGER = 1001, 1002, 6666


@dataclass
class RelayProcess:
    """A `relay run` that can be killed at any moment and started again on the same data."""

    environment: dict[str, str]
    log: Path
    process: asyncio.subprocess.Process | None = None
    starts: int = 0
    kills: list[int] = field(default_factory=list)
    module: tuple[str, ...] = ("relay",)
    """The module that Python runs and its arguments. It may be another module that runs Relay."""
    own_group: bool = False
    """It and its children are a process group, and get signals together, as from a terminal."""

    @property
    def command(self) -> tuple[str | Path, ...]:
        return (sys.executable, "-m", *self.module, "run")

    async def start(self) -> None:
        self.starts += 1
        with self.log.open("ab") as log:
            self.process = await asyncio.create_subprocess_exec(
                *self.command,
                env=self.environment,
                cwd=self.log.parent,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=self.own_group,
            )

    async def kill(self) -> None:
        """Sends SIGKILL."""
        await self.end(signal.SIGKILL)

    async def stop(self) -> int:
        """Sends SIGTERM and returns the exit code."""
        return await self.end(signal.SIGTERM)

    async def end(self, number: int) -> int:
        assert self.process is not None
        if self.process.returncode is None and self.own_group:
            os.killpg(self.process.pid, number)
        elif self.process.returncode is None:
            self.process.send_signal(number)
        async with asyncio.timeout(40):
            code = await self.process.wait()
        self.search()
        return code

    def search(self) -> None:
        """Asserts that no secret is in the files that Relay and its database wrote."""
        for folder in (self.log.parent, Path(self.environment.get("RELAY_DATA_DIR", self.log.parent))):
            search_files(folder, self.environment)

    def output(self) -> str:
        return self.log.read_text("utf-8", "replace")


def find_daytime_zone() -> str:
    """Returns a time zone where it is day now. Before 4:00, Relay asks which day “tomorrow” means."""
    return "UTC" if 6 <= datetime.now(UTC).hour < 18 else "Pacific/Auckland"


def environment(tg: TelegramStandIn, model: AnthropicStandIn, data_dir: Path, **more: str) -> dict[str, str]:
    """Returns the settings of a bot that OWNER owns and FRIEND may use."""
    # Keep bytecode: without it, each start spends five seconds compiling packages.
    ours = ("RELAY_", "TELEGRAM_", "ANTHROPIC_", "DATABASE_", "SUPABASE_", "PYTHONDONTWRITEBYTECODE")
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(ours)}
    return inherited | {
        "TELEGRAM_BOT_TOKEN": TEST_TOKEN,
        "TELEGRAM_API_URL": tg.url,
        "ANTHROPIC_API_KEY": "sk-ant-test",
        "ANTHROPIC_BASE_URL": model.url,
        "RELAY_ADMINS": str(OWNER),
        "RELAY_USERS": str(FRIEND),
        "RELAY_DATA_DIR": str(data_dir),
        "RELAY_LOG_FORMAT": "json",
        "RELAY_TIMEZONE": "Europe/Berlin",
        "RELAY_WEB": "off",
        "RELAY_CAPTURE": "tags",
        "RELAY_EMBEDDER": "off",
        "RELAY_STT": "off",
        "RELAY_TTS": "off",
        **more,
    }
