"""What a process does first that works on somebody's file."""

from __future__ import annotations

import contextlib
import os
from typing import IO

FILES = 64
"""How many files such a process may have open."""


def pipes() -> tuple[IO[bytes], IO[bytes]]:
    """Its standard input and output. What a library prints goes elsewhere: it is no part of an answer."""
    given, output = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return given, output


def bounded(**limits: int) -> None:
    """Bounds this process: `AS` and `DATA` in bytes, `CPU` in seconds, and what else `resource` has after `RLIMIT_`. It
    may open a few files, and no dump of it is kept. (How many processes it may start cannot be bounded: threads count.)
    """
    with contextlib.suppress(ImportError):  # Windows has none
        import resource

        for name, most in {"CORE": 0, "NOFILE": FILES, **limits}.items():
            hard = most + 1 if name == "CPU" else most  # at the first it is told why, at the second just ended
            with contextlib.suppress(ValueError, OSError):
                resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (most, hard))
