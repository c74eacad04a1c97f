"""Progress of work: a bar on a terminal, lines elsewhere."""

from __future__ import annotations

import re
import subprocess
import sys

import pexpect

MOVING = """
from relay.surfaces.cli.progress import plain, show_progress
with show_progress(plain()) as watcher:
    for rows in (2, 5):
        watcher.report("Copying", "message", rows, 5)
    watcher.say("One row was changed meanwhile.")
    watcher.report("Comparing", "message", 5, 5)
"""


def test_a_terminal_shows_a_progress_bar() -> None:
    child = pexpect.spawn(sys.executable, ["-c", MOVING], encoding="utf-8", dimensions=(40, 80), timeout=60)
    shown = child.read()
    child.close()
    assert child.exitstatus == 0, shown
    assert re.search(r"Comparing message[^\n]*━[^\n]*5/5", shown)
    assert "One row was changed meanwhile." in shown


def test_other_outputs_get_one_line_per_step() -> None:
    done = subprocess.run([sys.executable, "-c", MOVING], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines() == ["Copying message: 5 of 5 rows", "One row was changed meanwhile."]
