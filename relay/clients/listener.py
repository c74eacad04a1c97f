"""A process that hears: started, asked, and ended. See `relay.hearing.__main__` for what is said between."""

from __future__ import annotations

import asyncio
import contextlib
import json
from pathlib import Path
from typing import Any

import structlog

from relay.clients.processes import kill, program, started

log = structlog.get_logger()

KEPT = (
    *("HOME", "USERPROFILE"),
    *("XDG_CACHE_HOME", "HF_HOME", "HF_HUB_CACHE", "HF_HUB_OFFLINE", "HF_ENDPOINT"),
    *("HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"),
)
"""What of our environment it sees beside what each such process does: what downloading a model needs."""
PROGRAM = program("relay.hearing")
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
        process = await started(
            PROGRAM,
            asyncio.subprocess.DEVNULL,
            LINE,
            KEPT,
            XDG_CACHE_HOME=str(cache),
            OMP_NUM_THREADS=str(options["threads"]),
            HF_HUB_DISABLE_TELEMETRY="1",
            HF_HUB_DISABLE_PROGRESS_BARS="1",
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
        kill(self._process)
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
