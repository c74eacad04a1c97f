"""Process hardening: a process that opens people's files cannot read the bot's environment, which holds its keys."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="its /proc")

NOBODY = 65534
PR_GET_DUMPABLE, PR_SET_DUMPABLE = 3, 4
BOT = f"""
import ctypes, os, subprocess
from prometheus_client import CollectorRegistry, ProcessCollector
from relay.surfaces.server.process_hardening import seal

if os.geteuid() == 0:
    os.setresuid({NOBODY}, {NOBODY}, {NOBODY})
    ctypes.CDLL(None).prctl({PR_SET_DUMPABLE}, 1, 0, 0, 0)

def seen():
    return b"SECRET=word" in subprocess.run(["cat", f"/proc/{{os.getpid()}}/environ"], capture_output=True).stdout

before = seen()
seal()
metrics = CollectorRegistry()
ProcessCollector(registry=metrics)
told = [metrics.get_sample_value(f"process_{{name}}") for name in ("resident_memory_bytes", "open_fds", "max_fds")]
print(before, seen(), all(told))
"""


def test_a_child_process_cannot_read_the_bots_environment() -> None:
    """Root may inspect every process, so it becomes nobody for this test."""
    run = subprocess.run(
        [sys.executable, "-c", BOT], env={**os.environ, "SECRET": "word"}, capture_output=True, text=True, check=False
    )
    assert run.stdout.split() == ["True", "False", "True"], run.stderr


def test_the_bot_is_hardened_before_anything_else(tmp_path: Path) -> None:
    program = (
        "import asyncio, ctypes; from relay.surfaces.server import serve; from relay.core.errors import SettingsError\n"
        "from relay.core.settings import load\n"
        f"dumpable = lambda: print(ctypes.CDLL(None).prctl({PR_GET_DUMPABLE}, 0, 0, 0, 0))\n"
        "dumpable()\n"
        "try: asyncio.run(serve.run(load()))\n"
        "except SettingsError: dumpable()"
    )
    (tmp_path / "file").touch()
    unusable = {"RELAY_BACKUP_DIR": str(tmp_path / "file" / "backups"), "RELAY_BACKUP_DAYS": "1"}
    run = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, **unusable}, cwd=tmp_path, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert run.stdout.split() == ["1", "0"], run.stderr or "hardened by the import"
