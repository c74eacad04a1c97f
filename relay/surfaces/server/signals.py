"""The signals that end a process."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable


def hear_signals(heard: Callable[[int], None], *names: str) -> None:
    """Calls `heard` with each of these signals. After SIGHUP, when the terminal was closed, output goes nowhere, as
    writing to it would fail. With nohup, SIGHUP stays ignored."""
    loop = asyncio.get_running_loop()
    terminal = [descriptor for descriptor in (1, 2) if os.isatty(descriptor)]

    def hear(number: int) -> None:
        if number not in (signal.SIGTERM, signal.SIGINT):
            for descriptor in terminal:
                os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
        heard(number)

    for name in names:
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            with contextlib.suppress(NotImplementedError):
                loop.add_signal_handler(number, hear, number)
