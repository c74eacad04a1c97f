"""A process that hears: started, asked, and ended. See `relay.hearing.__main__` for what is said between."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import structlog

import relay

log = structlog.get_logger()

SURROUNDINGS = (
    *("PATH", "HOME", "USERPROFILE", "SYSTEMROOT", "TMPDIR", "TEMP", "LD_LIBRARY_PATH"),
    *("XDG_CACHE_HOME", "HF_HOME", "HF_HUB_CACHE", "HF_HUB_OFFLINE", "HF_ENDPOINT"),
    *("HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"),
)
"""What of our environment such a process sees: what downloading a model needs; no setting, no key."""
COMMAND = (sys.executable, "-m", "relay.hearing")
KILL = getattr(signal, "SIGKILL", signal.SIGTERM)
LINE = 2**24
"""Bytes of a line from it: far more than is said in four hours."""
PIECE = 2**18
"""Bytes of a recording that are handed over at once."""


class Ended(Exception):
    """The process is not there any more."""


class NotLoaded(Exception):
    """The model cannot be loaded; the text is the engine's."""


class Listener:
    """One process with a loaded model."""

    def __init__(
        self, process: asyncio.subprocess.Process, given: asyncio.StreamWriter, told: asyncio.StreamReader
    ) -> None:
        self._process = process
        self._given = given
        self._output = told

    @classmethod
    async def start(cls, cache: Path, **options: Any) -> Listener:
        """Starts it. `cache`: where models are downloaded to; `options`: engine, model, threads, memory."""
        process = await asyncio.create_subprocess_exec(
            *COMMAND,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env=_surroundings(cache, options["threads"]),
            limit=LINE,
        )
        if process.stdin is None or process.stdout is None:
            raise AssertionError("both are pipes")
        listener = cls(process, process.stdin, process.stdout)
        with contextlib.suppress(ConnectionError):
            await listener._say(options)
        return listener

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.returncode is None

    async def loaded(self) -> None:
        """Waits until the model is loaded. Raises `NotLoaded` or `Ended`."""
        answer = await self._told()
        if "failed" in answer:
            raise NotLoaded(answer["failed"])

    async def ask(self, recording: bytes, language: str, minutes: int) -> dict[str, Any]:
        """Hands over a recording. Returns its `{seconds, cut}`, or `{refused}`. Raises `Ended`."""
        try:
            await self._say({"size": len(recording), "language": language, "minutes": minutes})
            for start in range(0, len(recording), PIECE):
                await self._write(recording[start : start + PIECE])
        except ConnectionError:
            raise Ended from None
        return await self._told()

    async def answer(self) -> dict[str, Any]:
        """What was heard: `{text, language}`, or `{refused}`. Raises `Ended`."""
        return await self._told()

    async def end(self) -> None:
        """Ends it at once."""
        if self.is_alive:
            with contextlib.suppress(ProcessLookupError):
                # Not by the process's own `kill`: that would reap one that is ending, and its watcher miss it.
                os.kill(self.pid, KILL)
        await self._process.wait()

    async def _told(self) -> dict[str, Any]:
        """The next line from it; what is for the log goes there."""
        while True:
            line = await self._output.readline()
            if not line.endswith(b"\n"):
                raise Ended
            told: dict[str, Any] = json.loads(line)
            if sentence := told.pop("log", ""):
                log.info("speech engine", says=sentence)
            if told:
                return told

    async def _say(self, what: dict[str, Any]) -> None:
        await self._write(json.dumps(what).encode() + b"\n")

    async def _write(self, content: bytes) -> None:
        self._given.write(content)
        await self._given.drain()


def _surroundings(cache: Path, threads: int) -> dict[str, str]:
    kept = {name: os.environ[name] for name in SURROUNDINGS if name in os.environ}
    ours = {"PYTHONPATH": str(Path(relay.__file__).parent.parent), "PYTHONDONTWRITEBYTECODE": "1"}
    quiet = {"OMP_NUM_THREADS": str(threads), "HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
    return {"XDG_CACHE_HOME": str(cache), **kept, **ours, **quiet}
