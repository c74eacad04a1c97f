"""The clock on the wall, which the bot and its database share and the driver moves. Monotonic time is left alone."""

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
    """Moves the wall clock of every process started while it is in use: a small library gives them their time.

    (libfaketime would do, but its absolute sleeps fail on Python 3.11 when monotonic time is left alone.)
    """

    def __init__(self, folder: Path, seconds: float, moves: bool = True) -> None:
        """Without a C compiler it cannot move. In the middle of the next `seconds` summer time begins."""
        compiler = shutil.which("cc") if moves and os.name == "posix" else None
        self.moves = compiler is not None
        self.ahead = 0.0
        """Seconds that it is ahead of ours, jumps apart."""
        self._file = folder / "clock"
        if compiler is None:
            return
        library = folder / "clock.so"
        command = [compiler, "-shared", "-fPIC", "-O2", "-o", str(library), str(HERE / "clock.c"), "-ldl"]
        subprocess.run(command, check=True, timeout=60)
        self.ahead = CHANGE - time.time() - seconds / 2
        self._file.write_bytes(bytes(8))
        self.jump(0)
        for file in (library, self._file):  # the server's user is another
            file.chmod(0o755)
        os.environ |= {"LD_PRELOAD": str(library), "CHAOS_CLOCK": str(self._file)}
        importlib.import_module("tests.chaos.site.sitecustomize")

    @property
    def paths(self) -> list[str]:
        """What a Relay needs on its Python path to hand the clock on to its database."""
        return [str(SITE)] if self.moves else []

    def jump(self, seconds: float) -> None:
        """From now on it is so many seconds off its own time."""
        if self.moves:
            with self._file.open("r+b") as file:
                file.write(struct.pack("=q", round(self.ahead + seconds)))

    def close(self) -> None:
        """What is started from now on has the machine's clock."""
        for name in ("LD_PRELOAD", "CHAOS_CLOCK"):
            os.environ.pop(name, None)
