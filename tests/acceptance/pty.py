"""A person at a terminal of 80 columns."""

from __future__ import annotations

import asyncio
import io
import os
import re
import signal
import sys
from pathlib import Path

import pexpect

RELAY = (sys.executable, "-m", "relay")
OURS = ("RELAY_", "TELEGRAM_", "ANTHROPIC_", "DATABASE_", "SUPABASE_", "PYTHONDONTWRITEBYTECODE")


def without_settings() -> dict[str, str]:
    """Returns the environment without Relay's settings."""
    return {key: value for key, value in os.environ.items() if not key.startswith(OURS)}


def hear_hangups() -> None:
    """Restores SIGHUP, which `nohup` ignores for all that it starts."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


class Person:
    """Types a command (`relay …` by default) and reads its output.

    pexpect waits in a thread, because the stand-ins run in this one.
    """

    def __init__(self, folder: Path, *words: str, command: tuple[str, ...] = RELAY, **settings: str) -> None:
        self.shown = io.StringIO()
        self.child = pexpect.spawn(
            command[0], [*command[1:], *words], cwd=str(folder), env=without_settings() | settings,
            encoding="utf-8", timeout=60, dimensions=(40, 80), preexec_fn=hear_hangups,
        )  # fmt: skip
        self.child.logfile_read = self.shown

    async def sees(self, text: str) -> None:
        """Waits until this text appears, wherever its lines break."""
        await asyncio.to_thread(self.child.expect, r"\s+".join(map(re.escape, text.split(" "))))

    async def answers(self, *pairs: tuple[str, str]) -> None:
        """Types each answer when its question appears."""
        for question, answer in pairs:
            await self.sees(question)
            self.child.sendline(answer)

    async def ends(self) -> int:
        """Waits for the end and returns the exit code."""
        await asyncio.to_thread(self.child.expect, pexpect.EOF)
        await asyncio.to_thread(self.child.close)
        return int(self.child.exitstatus if self.child.exitstatus is not None else -self.child.signalstatus)

    @property
    def screen(self) -> str:
        """Returns everything that was shown."""
        return self.shown.getvalue().replace("\r\n", "\n")
