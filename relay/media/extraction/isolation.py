"""The first steps of a process that handles people's files."""

import contextlib
import os
from typing import IO

FILES = 64
"""How many files the process may have open."""


def pipes() -> tuple[IO[bytes], IO[bytes]]:
    """Returns standard input and output. Redirects what libraries print, so that it doesn't mix with an answer."""
    given, output = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return given, output


def limit_resources(**limits: int) -> None:
    """Limits this process: `AS` and `DATA` in bytes, `CPU` in seconds, and other names that `resource` has after
    `RLIMIT_`. Also limits open files and disables core dumps. (The number of processes can't be limited, because
    threads count.)"""
    with contextlib.suppress(ImportError):  # Windows has none
        import resource

        for name, most in {"CORE": 0, "NOFILE": FILES, **limits}.items():
            hard = most + 1 if name == "CPU" else most  # the first limit raises an error, the second kills
            with contextlib.suppress(ValueError, OSError):
                resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (most, hard))
