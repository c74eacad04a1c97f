"""The `Opener` port: each file in a process of its own, a few at a time."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from pathlib import Path
from typing import Any

import structlog

import relay
from relay.errors import MediaRefused

log = structlog.get_logger()

MEMORY = 1024**3
"""Bytes that such a process may take."""
SECONDS = 60
"""How long it may work on a file."""
AT_ONCE = 2
SURROUNDINGS = ("PATH", "SYSTEMROOT", "TMPDIR", "TEMP", "LD_LIBRARY_PATH")
"""What of our environment such a process sees: no setting, no key."""
TOO_LONG = "It takes too long to open."
NOT_OPENED = "It cannot be opened: it is damaged, or too large for this machine."


class Opener:
    """Opens files that somebody sent."""

    def __init__(self, memory: int = MEMORY, seconds: float = SECONDS) -> None:
        self._memory = memory
        self._seconds = seconds
        self._places = asyncio.Semaphore(AT_ONCE)

    async def open(self, work: str, content: bytes, **options: Any) -> tuple[dict[str, Any], list[bytes]]:
        """See `ports.Opener.open`."""
        asked = {"work": work, "options": options, "memory": self._memory, "seconds": int(self._seconds) + 1}
        given = json.dumps(asked).encode() + b"\n" + content
        async with self._places:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                *("-m", "relay.opening"),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=_surroundings(),
            )
            try:
                async with asyncio.timeout(self._seconds):
                    output, trouble = await process.communicate(given)
            except TimeoutError:
                raise MediaRefused(TOO_LONG) from None
            finally:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
        line, _, rest = output.partition(b"\n")
        if process.returncode or not line:
            log.warning("file not opened", work=work, code=process.returncode)
            raise MediaRefused(NOT_OPENED)
        answer = json.loads(line)
        if "refused" in answer:
            log.info("file refused", work=work, error=trouble.decode("utf-8", "replace").strip()[-200:])
            raise MediaRefused(answer["refused"])
        made, start = [], 0
        for size in answer["sizes"]:
            made.append(rest[start : start + size])
            start += size
        return answer["told"], made


def _surroundings() -> dict[str, str]:
    kept = {name: os.environ[name] for name in SURROUNDINGS if name in os.environ}
    return {**kept, "PYTHONPATH": str(Path(relay.__file__).parent.parent), "PYTHONDONTWRITEBYTECODE": "1"}
