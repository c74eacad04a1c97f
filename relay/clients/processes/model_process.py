"""A process of ours that holds a loaded model: started, spoken to in lines of JSON, and ended."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import structlog

from relay.clients.processes.process import kill, started

log = structlog.get_logger()

KEPT = (
    *("HOME", "USERPROFILE"),
    *("XDG_CACHE_HOME", "HF_HOME", "HF_HUB_CACHE", "HF_HUB_OFFLINE", "HF_ENDPOINT"),
    *("HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"),
)
"""What of our environment it sees beside what each such process does: what downloading a model needs."""


class Ended(Exception):
    """The process is not there any more."""


class NotLoaded(Exception):
    """The model cannot be loaded; the text is the engine's."""


class ModelProcess:
    """One process with a loaded model."""

    NAME: ClassVar[str]
    """What the log calls it."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        if process.stdin is None or process.stdout is None:
            raise AssertionError("both are pipes")
        self._process = process
        self._given = process.stdin
        self._output = process.stdout

    @classmethod
    async def launch(cls, program: Sequence[str], line: int, options: dict[str, Any], **more: str) -> Self:
        """Starts it. `line`: bytes of the longest line from it; `options`: engine, model, threads, memory; `more`: what
        it sees besides in its environment."""
        more |= {"OMP_NUM_THREADS": str(options["threads"])}
        more |= {"HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
        own = cls(await started(program, asyncio.subprocess.DEVNULL, line, KEPT, **more))
        with contextlib.suppress(ConnectionError):
            await own._say(options)
        return own

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.returncode is None

    async def loaded(self) -> dict[str, Any]:
        """Waits until the model is loaded, and returns what is told of it. Raises `NotLoaded` or `Ended`."""
        answer = await self._told()
        if "failed" in answer:
            raise NotLoaded(answer["failed"])
        return answer

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
                log.info(self.NAME, says=sentence)
            if told:
                return told

    async def _say(self, what: dict[str, Any]) -> None:
        await self._write(json.dumps(what).encode() + b"\n")

    async def _write(self, content: bytes) -> None:
        self._given.write(content)
        await self._given.drain()
