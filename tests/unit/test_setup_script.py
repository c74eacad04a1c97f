"""`scripts/setup` with a stand-in for Python: it runs once at a time, and names a folder that cannot be written."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PYTHON = """#!/bin/sh
case "$*" in
    -VV) echo Python 3.12.0 ;;
    "-m venv .venv") mkdir -p .venv/bin && cp "$0" .venv/bin/python && echo made >>made ;;
    *"pip install"*) sleep 0.5 && cp .venv/bin/python .venv/bin/relay ;;
esac
"""
"""Makes an environment in half a second for each of two installations."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A checkout with only the script and a Python."""
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "setup", tmp_path / "scripts")
    (tmp_path / "python").write_text(PYTHON)
    (tmp_path / "python").chmod(0o755)
    return tmp_path


def start(folder: Path, *before: str, purpose: str = "run") -> subprocess.Popen[str]:
    """Starts the script without uv. `purpose`: its argument; empty: none."""
    environment = {"PATH": "/usr/bin:/bin", "PYTHON": str(folder / "python")}
    return subprocess.Popen(
        [*before, "sh", str(folder / "scripts" / "setup"), *purpose.split()], cwd=folder, env=environment,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
    )  # fmt: skip


@pytest.mark.skipif(shutil.which("flock") is None, reason="without flock, they run at once")
def test_two_setups_at_once_make_one_environment_also_after_a_kill(folder: Path) -> None:
    killed = start(folder)
    while not (folder / "made").exists():
        assert killed.poll() is None
    os.killpg(killed.pid, signal.SIGKILL)
    killed.communicate()
    (folder / "made").unlink()
    both = [start(folder), start(folder)]
    told = sorted(one.communicate(timeout=60)[0] for one in both)
    assert [one.returncode for one in both] == [0, 0], told
    assert told[0] == ""
    assert told[1].startswith("Setting up Relay in .venv with Python")
    assert (folder / "made").read_text() == "made\n"


def test_a_folder_that_cannot_be_written_is_named_and_stays(folder: Path) -> None:
    (folder / ".venv").mkdir()
    mount = 'mount --bind "$PWD" "$PWD" && mount -o remount,ro,bind "$PWD" && cd "$PWD" && exec "$@"'
    enter = ("unshare", "-rm", "sh", "-c", mount, "sh")
    if shutil.which("unshare") is None or subprocess.run([*enter, "true"], cwd=folder, check=False).returncode:
        pytest.skip("this user can mount nothing")
    done = start(folder, *enter)
    told = done.communicate(timeout=60)[0]
    assert (done.returncode, len(told.splitlines())) == (2, 1), told
    assert told.startswith(f"relay: {folder} cannot be written")
    assert (folder / ".venv").is_dir()


def test_without_an_argument_it_sets_up_what_running_needs(folder: Path) -> None:
    alone = start(folder, purpose="")
    assert alone.communicate(timeout=60)[0].startswith("Setting up Relay in .venv with Python")
    assert (folder / ".venv" / "relay-run").exists()
    assert not (folder / ".venv" / "relay-dev").exists()
    other = start(folder, purpose="everything")
    assert (other.communicate(timeout=60)[0], other.returncode) == ("relay: Usage: scripts/setup [run|dev]\n", 2)
