"""`relay` with standard streams that are closed, or whose encoding lacks characters."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest


def run(folder: Path, words: str, **more: str) -> tuple[int, str]:
    """Runs `relay …` by a shell, which can close streams. Returns the exit code and all output."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("RELAY_", "TELEGRAM_"))}
    done = subprocess.run(
        ["/bin/sh", "-c", f'exec "{sys.executable}" -m relay {words}'],
        cwd=folder, env=environment | more, capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    return done.returncode, (done.stdout + done.stderr).decode("ascii", "replace")


@pytest.mark.skipif(sys.platform == "win32", reason="a shell closes the streams")
def test_a_closed_stream_is_an_empty_one(tmp_path: Path) -> None:
    code, said = run(tmp_path, "setup <&-")
    assert (code, "it needs a terminal" in said) == (2, True), said
    code, said = run(tmp_path, "setup <&- >&-")
    assert (code, "it needs a terminal" in said) == (2, True), said
    assert run(tmp_path, "version >&-") == (0, "")


def test_characters_that_the_encoding_lacks_are_replaced(tmp_path: Path) -> None:
    code, said = run(tmp_path, "sessions --help", PYTHONIOENCODING="latin-1")
    assert (code, "?]" in said) == (0, True), said


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a full disk that Linux has")
@pytest.mark.parametrize("words", ["version", "--help"])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_is_one_sentence(tmp_path: Path, words: str, unbuffered: str) -> None:
    code, said = run(tmp_path, f"{words} >/dev/full", PYTHONUNBUFFERED=unbuffered)
    assert (code, said) == (1, "relay: The output can't be written: No space left on device.\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a full disk that Linux has")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_does_not_hide_another_error(tmp_path: Path, unbuffered: str) -> None:
    script = """
import sys
from relay import __main__ as program
from relay.core.errors import SettingsError
from relay.surfaces.cli import cli

def fail():
    try:
        print("Some output.")
    finally:
        raise error

cli.cli = fail
error = SettingsError("RELAY_WEB is wrong.")
if "other" in sys.argv:
    error = OSError(28, "No space left on device")
program.main()
"""
    shell = ["/bin/sh", "-c", 'exec "$@" >/dev/full', "sh", sys.executable, "-c", script]
    environment = os.environ | {"PYTHONUNBUFFERED": unbuffered}
    done = subprocess.run(shell, cwd=tmp_path, env=environment, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (2, b"relay: RELAY_WEB is wrong.\n")
    done = subprocess.run(
        [*shell, "other"], cwd=tmp_path, env=environment, capture_output=True, timeout=60, check=False
    )
    assert done.returncode == 1
    assert b"The output" not in done.stderr, "another file could not be written"
    assert done.stderr.endswith(b"OSError: [Errno 28] No space left on device\n")


@pytest.mark.parametrize("words", [["version"], ["--help"], ["db", "sql"]])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_has_ended_is_no_error(words: list[str], unbuffered: str) -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "relay", *words], env=os.environ | {"PYTHONUNBUFFERED": unbuffered},
        stdout=write, stderr=subprocess.PIPE, timeout=60, check=False,
    )  # fmt: skip
    os.close(write)
    assert (done.returncode, done.stderr) == (0, b"")
