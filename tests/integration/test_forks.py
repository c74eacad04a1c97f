"""A forked `relay` does what a really started one does (`tests/forks.py`)."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.acceptance.pty import without_settings
from tests.forks import FRESH, RELAY

HOW = [pytest.param({}, id="forked"), pytest.param({FRESH: "yes"}, id="started")]


@pytest.mark.parametrize("how", HOW)
def test_arguments_directory_environment_and_output(tmp_path: Path, how: dict[str, str]) -> None:
    """The directory's .env and the environment each hold a wrong setting."""
    (tmp_path / ".env").write_text("RELAY_TIMEZONE=Mars/Olympus\n", "utf-8")
    env = without_settings() | how | {"RELAY_WEB_SEARCH": "perhaps"}
    ended = subprocess.run([*RELAY, "doctor", "--json"], env=env, cwd=tmp_path, capture_output=True, text=True)
    assert ended.returncode == 2
    assert ended.stderr == ""
    assert "RELAY_TIMEZONE must" in ended.stdout
    assert "RELAY_WEB_SEARCH must" in ended.stdout


@pytest.mark.parametrize("how", HOW)
def test_errors_go_to_standard_error(how: dict[str, str]) -> None:
    ended = subprocess.run([*RELAY, "nonsense"], env=without_settings() | how, capture_output=True, text=True)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.startswith("Usage: python -m relay [OPTIONS]")
    assert "No such command 'nonsense'" in ended.stderr


@pytest.mark.parametrize("how", HOW)
@pytest.mark.skipif(sys.platform != "linux", reason="nothing is forked here")
async def test_a_process_is_a_child_that_signals_reach(tmp_path: Path, how: dict[str, str]) -> None:
    env = without_settings() | how | {"RELAY_DATA_DIR": str(tmp_path / "data")}
    process = await asyncio.create_subprocess_exec(
        *RELAY, "chat", "--offline", env=env, cwd=tmp_path, start_new_session=True,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    seen = psutil.Process(process.pid)
    assert seen.ppid() == os.getpid()
    assert ("tests.forks" in seen.cmdline()) == (how == {})
    assert os.getsid(process.pid) == process.pid
    process.send_signal(signal.SIGKILL)
    await process.communicate()
    assert process.returncode == -signal.SIGKILL


@pytest.mark.parametrize("how", HOW)
def test_a_crash_is_told_with_its_exit_code(how: dict[str, str]) -> None:
    worker = [*RELAY[:2], "tests.integration.job_worker"]  # needs arguments
    ended = subprocess.run(
        worker, env=without_settings() | how, cwd=Path(__file__).parents[2], capture_output=True, text=True
    )
    assert (ended.returncode, ended.stdout) == (1, "")
    assert "TypeError: work() missing 2 required" in ended.stderr


def test_python_can_be_started_without_a_module() -> None:
    ended = subprocess.run(RELAY[:2], capture_output=True, text=True)
    assert ended.returncode == 2
    assert "-m" in ended.stderr
