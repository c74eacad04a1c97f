"""A process that makes vectors: started, asked several things at a time, and ended. See `relay.embedding.__main__` for
what is said between."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import itertools
import json
from array import array
from collections.abc import Sequence
from typing import Any

import structlog

from relay.clients.listener import Ended, NotLoaded
from relay.clients.processes import kill, program, started

log = structlog.get_logger()

KEPT = (
    *("HOME", "USERPROFILE", "XDG_CACHE_HOME", "HF_HOME", "HF_HUB_CACHE", "HF_HUB_OFFLINE", "HF_ENDPOINT"),
    *("HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE"),
)
"""What of our environment it sees beside what each such process does: what downloading a model needs."""
PROGRAM = program("relay.embedding")
LINE = 2**20
"""Bytes of a line from it: some 150 vectors of 1,024 numbers."""

Vector = list[float] | None


class Vectors:
    """One process with a loaded model. `dimensions`: of its vectors, once it is loaded."""

    def __init__(
        self, process: asyncio.subprocess.Process, given: asyncio.StreamWriter, told: asyncio.StreamReader
    ) -> None:
        self._process = process
        self._given = given
        self._output = told
        self._numbers = itertools.count(1)
        self._asked: dict[int, asyncio.Future[list[Vector]]] = {}
        self._hearing: asyncio.Task[None] | None = None
        self.dimensions = 0

    @classmethod
    async def start(cls, **options: Any) -> Vectors:
        """Starts it. `options`: engine, model, threads, memory, cache."""
        threads = str(options["threads"])
        process = await started(
            PROGRAM,
            asyncio.subprocess.DEVNULL,
            LINE,
            KEPT,
            OMP_NUM_THREADS=threads,
            OPENBLAS_NUM_THREADS=threads,
            MALLOC_ARENA_MAX="2",
            HF_HUB_DISABLE_TELEMETRY="1",
            HF_HUB_DISABLE_PROGRESS_BARS="1",
        )
        if process.stdin is None or process.stdout is None:
            raise AssertionError("both are pipes")
        vectors = cls(process, process.stdin, process.stdout)
        with contextlib.suppress(ConnectionError):
            await vectors._say(options)
        return vectors

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.returncode is None

    @property
    def waiting(self) -> int:
        """How many requests it has not answered yet, those included for whose answer nobody waits any more."""
        return len(self._asked)

    async def loaded(self) -> None:
        """Waits until the model is loaded. Raises `NotLoaded` or `Ended`."""
        answer = await self._told()
        if "failed" in answer:
            raise NotLoaded(answer["failed"])
        self.dimensions = answer["dimensions"]
        self._hearing = asyncio.create_task(self._hear(), name="vectors")

    async def ask(self, texts: Sequence[str], query: bool) -> list[Vector]:
        """A vector for each text, or None for one that cannot be embedded. Raises `Ended`."""
        number = next(self._numbers)
        answer: asyncio.Future[list[Vector]] = asyncio.get_running_loop().create_future()
        if self._hearing is None or self._hearing.done():
            raise Ended
        self._asked[number] = answer
        try:
            await self._say({"id": number, "query": query, "texts": list(texts)})
        except ConnectionError:
            self._asked.pop(number, None)
            raise Ended from None
        return await answer

    async def end(self) -> None:
        """Ends it at once."""
        kill(self._process)
        await self._process.wait()
        if self._hearing is not None:
            await asyncio.gather(self._hearing, return_exceptions=True)

    async def _hear(self) -> None:
        """Hands its answers to those who asked, until it ends."""
        try:
            while True:
                told = await self._told()
                answer = self._asked.pop(told["id"], None)
                if answer is not None and not answer.done():
                    answer.set_result([_numbers(one) for one in told["vectors"]])
        except (Ended, ValueError, KeyError):
            kill(self._process)
        finally:
            for answer in self._asked.values():
                if not answer.done():
                    answer.set_exception(Ended())
            self._asked.clear()

    async def _told(self) -> dict[str, Any]:
        """The next line from it; what is for the log goes there."""
        while True:
            line = await self._output.readline()
            if not line.endswith(b"\n"):
                raise Ended
            told: dict[str, Any] = json.loads(line)
            if sentence := told.pop("log", ""):
                log.info("embedder", says=sentence)
            if told:
                return told

    async def _say(self, what: dict[str, Any]) -> None:
        self._given.write(json.dumps(what).encode() + b"\n")
        await self._given.drain()


def _numbers(encoded: str | None) -> Vector:
    """The numbers of a vector, which this machine wrote as it has them."""
    return None if encoded is None else array("f", base64.b64decode(encoded)).tolist()
