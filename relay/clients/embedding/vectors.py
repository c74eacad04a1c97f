"""A process that embeds texts, with several requests at a time. It runs `relay.media.embedding.__main__`."""

from __future__ import annotations

import asyncio
import base64
import itertools
from array import array
from collections.abc import Sequence
from typing import Any, Self

from relay.clients.processes.model_process import ModelProcess, ProcessEnded
from relay.clients.processes.process import kill, program

PROGRAM = program("relay.media.embedding")
LINE = 2**20
"""The longest line in bytes. It holds some 150 vectors of 1,024 numbers."""

Vector = list[float] | None


class Vectors(ModelProcess):
    """A process with a loaded model. `dimensions`: the length of its vectors, once loaded."""

    NAME = "embedder"

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        super().__init__(process)
        self._numbers = itertools.count(1)
        self._asked: dict[int, asyncio.Future[list[Vector]]] = {}
        self._hearing: asyncio.Task[None] | None = None
        self.dimensions = 0

    @classmethod
    async def start(cls, **options: Any) -> Self:
        """Starts the process. `options`: engine, model, threads, memory, cache."""
        more = {"OPENBLAS_NUM_THREADS": str(options["threads"]), "MALLOC_ARENA_MAX": "2"}
        return await cls.launch(PROGRAM, LINE, options, **more)

    @property
    def waiting(self) -> int:
        """Returns the number of unanswered requests, including those whose caller gave up."""
        return len(self._asked)

    async def wait_until_loaded(self) -> dict[str, Any]:
        answer = await super().wait_until_loaded()
        self.dimensions = answer["dimensions"]
        self._hearing = asyncio.create_task(self._hear(), name="vectors")
        return answer

    async def ask(self, texts: Sequence[str], query: bool) -> list[Vector]:
        """Returns a vector per text, or None for one that can't be embedded. Raises `ProcessEnded`."""
        number = next(self._numbers)
        answer: asyncio.Future[list[Vector]] = asyncio.get_running_loop().create_future()
        if self._hearing is None or self._hearing.done():
            raise ProcessEnded
        self._asked[number] = answer
        try:
            await self._say({"id": number, "query": query, "texts": list(texts)})
        except ConnectionError:
            self._asked.pop(number, None)
            raise ProcessEnded from None
        return await answer

    async def end(self) -> None:
        """Ends the process at once."""
        await super().end()
        if self._hearing is not None:
            await asyncio.gather(self._hearing, return_exceptions=True)

    async def _hear(self) -> None:
        """Passes the process's answers to the callers until it ends."""
        try:
            while True:
                told = await self._read_line()
                answer = self._asked.pop(told["id"], None)
                if answer is not None and not answer.done():
                    answer.set_result([_numbers(one) for one in told["vectors"]])
        except (ProcessEnded, ValueError, KeyError):
            kill(self._process)
        finally:
            for answer in self._asked.values():
                if not answer.done():
                    answer.set_exception(ProcessEnded())
            self._asked.clear()


def _numbers(encoded: str | None) -> Vector:
    """Decodes a vector written on this machine, in its byte order."""
    return None if encoded is None else array("f", base64.b64decode(encoded)).tolist()
