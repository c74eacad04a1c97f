"""Reads lines from the keyboard without blocking the event loop."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading


def is_attended() -> bool:
    """Whether a person at this terminal sees the output and can answer."""
    return sys.stdin.isatty() and sys.stdout.isatty()


async def read_line(prompt: str) -> str:
    """Returns a line from the keyboard without surrounding white space; empty at the end of input (Ctrl-D). Ctrl-C ends
    the wait at once."""
    print(prompt, end="", flush=True)
    loop = asyncio.get_running_loop()
    line: asyncio.Future[str] = loop.create_future()

    def tell(text: str) -> None:
        if not line.done():
            line.set_result(text)

    def read() -> None:
        text = _line()
        with contextlib.suppress(RuntimeError):  # the loop is closed, so nothing waits for the line
            loop.call_soon_threadsafe(tell, text)

    # Not asyncio.to_thread: closing the loop, and ending Python, would wait for that thread and so for Enter.
    threading.Thread(target=read, name="keyboard", daemon=True).start()
    try:
        return await line
    except asyncio.CancelledError:
        print()
        raise


def _line() -> str:
    # Unbuffered: a read through `sys.stdin` holds a lock that Python needs to exit.
    try:
        with open(sys.stdin.fileno(), "rb", buffering=0, closefd=False) as keyboard:
            return keyboard.readline().decode(sys.stdin.encoding, "replace").strip()
    except OSError:
        return ""
