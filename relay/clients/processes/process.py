"""Processes of our own that work on what somebody sent: how they are started, what they see, and how they end."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import Sequence
from pathlib import Path

KEPT = ("PATH", "SYSTEMROOT", "TMPDIR", "TEMP", "LD_LIBRARY_PATH")
"""What of our environment each of them sees: no setting, no key."""


def program(module: str) -> tuple[str, ...]:
    """The command that runs a module of ours, and no other that lies in the working directory."""
    return (sys.executable, "-P", "-m", module)


async def started(command: Sequence[str], stderr: int, limit: int, kept: Sequence[str] = (), **more: str) -> Process:
    """Starts one with pipes. `limit`: bytes of the longest line that is read of it. It sees `KEPT` and `kept` of our
    environment, and `more` where that says nothing else."""
    ours = {name: os.environ[name] for name in (*KEPT, *kept) if name in os.environ}
    paths = (str(Path(__file__).parents[3]), os.environ.get("PYTHONPATH", ""))
    path = os.pathsep.join(filter(None, paths))
    return await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=stderr,
        limit=limit,
        env={**more, **ours, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
        start_new_session=True,  # Ctrl-C at the terminal is for the bot, which ends its turns in order
    )


def kill(process: Process) -> None:
    """Ends it and all that it started, unless it has ended. (`Process.kill` first asks how it ended, and then nobody
    else hears of it.)"""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
