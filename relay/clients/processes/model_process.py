"""A child process that holds a loaded model and speaks JSON lines."""

import asyncio
import contextlib
import json
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import structlog

from relay.clients.processes.process import kill, start_process

log = structlog.get_logger()

KEPT = (
    *("HOME", "USERPROFILE"),
    *("XDG_CACHE_HOME", "HF_HOME", "HF_HUB_CACHE", "HF_HUB_OFFLINE", "HF_ENDPOINT"),
    *("HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"),
)
"""Environment variables for downloading a model, besides those that every child process gets."""


class ProcessEnded(Exception):
    """The process has ended."""


class ModelNotLoaded(Exception):
    """The model can't be loaded. The text is the engine's."""


class ModelProcess:
    """A process with a loaded model."""

    NAME: ClassVar[str]
    """The process's name in the log."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        if process.stdin is None or process.stdout is None:
            raise AssertionError("both are pipes")
        self._process = process
        self._given = process.stdin
        self._output = process.stdout

    @classmethod
    async def launch(cls, program: Sequence[str], line: int, options: dict[str, Any], **more: str) -> Self:
        """Starts the process. `line`: the longest line that it may write, in bytes; `options`: engine, model, threads,
        memory; `more`: additional environment variables."""
        more |= {"OMP_NUM_THREADS": str(options["threads"])}
        more |= {"HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}
        own = cls(await start_process(program, asyncio.subprocess.DEVNULL, line, KEPT, **more))
        with contextlib.suppress(ConnectionError):
            await own._say(options)
        return own

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.returncode is None

    async def wait_until_loaded(self) -> dict[str, Any]:
        """Waits until the model is loaded, and returns its description. Raises `ModelNotLoaded` or `ProcessEnded`."""
        answer = await self._read_line()
        if "failed" in answer:
            raise ModelNotLoaded(answer["failed"])
        return answer

    async def end(self) -> None:
        """Kills the process."""
        kill(self._process)
        await self._process.wait()

    async def _read_line(self) -> dict[str, Any]:
        """Returns the process's next line, after passing log lines to the log."""
        while True:
            line = await self._output.readline()
            if not line.endswith(b"\n"):
                raise ProcessEnded
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
