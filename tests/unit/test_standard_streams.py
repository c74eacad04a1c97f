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
