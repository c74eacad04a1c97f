"""A process that hears: started, asked, and ended. See `relay.media.speech.__main__` for what is said between."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

from relay.clients.processes.model_process import Ended, ModelProcess
from relay.clients.processes.process import program

PROGRAM = program("relay.media.speech")
LINE = 2**24
"""Bytes of a line from it: far more than is said in four hours."""
PIECE = 2**18
"""Bytes of a recording that are handed over at once."""


class Listener(ModelProcess):
    """One process with a loaded model."""

    NAME = "speech engine"

    @classmethod
    async def start(cls, cache: Path, **options: Any) -> Self:
        """Starts it. `cache`: where models are downloaded to; `options`: engine, model, threads, memory."""
        return await cls.launch(PROGRAM, LINE, options, XDG_CACHE_HOME=str(cache))

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
