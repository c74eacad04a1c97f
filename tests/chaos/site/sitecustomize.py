"""Passes the clock on to every program that a Python process starts: Relay gives its database a bare environment."""

from __future__ import annotations

import os
import subprocess
from typing import Any

NAMES = ("LD_PRELOAD", "CHAOS_CLOCK")


class Popen(subprocess.Popen):  # type: ignore[type-arg]
    """`subprocess.Popen`, with the clock in the environment."""

    def __init__(self, *arguments: Any, env: Any = None, **more: Any) -> None:
        clock = {name: os.environ[name] for name in NAMES if name in os.environ}
        super().__init__(*arguments, env=None if env is None else {**env, **clock}, **more)


subprocess.Popen = Popen  # type: ignore[misc]
