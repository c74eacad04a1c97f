"""The wall clock that the bot and its database share and the driver moves. Monotonic time isn't affected."""

from __future__ import annotations

import importlib
import os
import shutil
import struct
import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path

CHANGE = datetime(2027, 3, 28, 1, tzinfo=UTC).timestamp()
"""When summer time begins in Europe/Berlin (Unix seconds)."""
HERE = Path(__file__).parent
SITE = HERE / "site"


class Clock:
    """Moves the wall clock of every process started while it is in use, by a small preloaded library.

    (libfaketime won't do: its absolute sleeps fail on Python 3.11 if monotonic time isn't changed.)
    """

    def __init__(self, folder: Path, seconds: float, moves: bool = True) -> None:
        """Sets the clock so that summer time begins in the middle of the next `seconds`. Without a C compiler it can't
        move."""
        compiler = shutil.which("cc") if moves and os.name == "posix" else None
        self.moves = compiler is not None
        self.ahead = 0.0
        """Seconds that it is ahead of the real clock, without jumps."""
        self._file = folder / "clock"
        if compiler is None:
            return
        library = folder / "clock.so"
        command = [compiler, "-shared", "-fPIC", "-O2", "-o", str(library), str(HERE / "clock.c"), "-ldl"]
        subprocess.run(command, check=True, timeout=60)
        self.ahead = CHANGE - time.time() - seconds / 2
        self._file.write_bytes(bytes(8))
        self.jump(0)
        for file in (library, self._file):  # the server runs as another user
            file.chmod(0o755)
        os.environ |= {"LD_PRELOAD": str(library), "CHAOS_CLOCK": str(self._file)}
        importlib.import_module("tests.chaos.site.sitecustomize")

    @property
    def paths(self) -> list[str]:
        """The Python path that Relay needs to pass the clock on to its database."""
        return [str(SITE)] if self.moves else []

    def jump(self, seconds: float) -> None:
        """Sets the clock this many seconds off its own time."""
        if self.moves:
            with self._file.open("r+b") as file:
                file.write(struct.pack("=q", round(self.ahead + seconds)))

    def close(self) -> None:
        """Gives processes started from now on the machine's clock."""
        for name in ("LD_PRELOAD", "CHAOS_CLOCK"):
            os.environ.pop(name, None)
