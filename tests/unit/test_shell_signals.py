"""A command that is told to end stops what it has started, as at Ctrl-C."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

WORK = """
import asyncio
from relay.surfaces.cli.shell import run_work

async def work():
    print("begun", flush=True)
    try:
        await asyncio.sleep(30)
    finally:
        await asyncio.sleep(0)
        print("stopped", flush=True)

run_work(work())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_command_that_is_told_to_end_cleans_up(name: str) -> None:
    number = signal.Signals[name]
    with subprocess.Popen([sys.executable, "-c", WORK], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "begun\n"
        process.send_signal(number)
        assert process.communicate(timeout=20)[0] == "stopped\n"
    assert process.returncode == 128 + number
