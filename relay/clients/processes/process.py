"""Child processes that handle people's files: how they start and end, and their environment."""

import asyncio
import contextlib
import os
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import Sequence
from pathlib import Path

KEPT = ("PATH", "SYSTEMROOT", "TMPDIR", "TEMP", "LD_LIBRARY_PATH")
"""The environment variables that each child gets: no settings, no keys."""


def program(module: str) -> tuple[str, ...]:
    """Returns the command that runs one of Relay's modules, and never one from the working directory."""
    return (sys.executable, "-P", "-m", module)


async def start_process(
    command: Sequence[str], stderr: int, limit: int, kept: Sequence[str] = (), **more: str
) -> Process:
    """Starts a process with pipes. `limit`: the longest line that is read from it, in bytes. Its environment has `KEPT`
    and `kept` from this process, overridden by `more`."""
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
        start_new_session=True,  # Ctrl-C at the terminal is for the bot only, which ends its turns in order
    )


def kill(process: Process) -> None:
    """Kills a process and its children, unless it has ended. (`Process.kill` polls the exit status first, and then
    nobody else receives it.)"""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
