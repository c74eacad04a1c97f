"""A process that transcribes recordings. See `relay.media.speech.__main__` for the protocol."""

from pathlib import Path
from typing import Any, Self

from relay.clients.processes.model_process import ModelProcess, ProcessEnded
from relay.clients.processes.process import program

PROGRAM = program("relay.media.speech")
LINE = 2**24
"""The longest line in bytes, far more than a transcript of four hours."""
PIECE = 2**18
"""How many bytes of a recording are sent at once."""


class SpeechProcess(ModelProcess):
    """One process with a loaded model."""

    NAME = "speech engine"

    @classmethod
    async def start(cls, cache: Path, **options: Any) -> Self:
        """Starts the process. `cache`: the folder for downloaded models; `options`: engine, model, threads, memory."""
        return await cls.launch(PROGRAM, LINE, options, XDG_CACHE_HOME=str(cache))

    async def ask(self, recording: bytes, language: str, minutes: int) -> dict[str, Any]:
        """Sends a recording. Returns its `{seconds, cut}`, or `{refused}`. Raises `ProcessEnded`."""
        try:
            await self._say({"size": len(recording), "language": language, "minutes": minutes})
            for start in range(0, len(recording), PIECE):
                await self._write(recording[start : start + PIECE])
        except ConnectionError:
            raise ProcessEnded from None
        return await self._read_line()

    async def answer(self) -> dict[str, Any]:
        """Returns the transcript: `{text, language}`, or `{refused}`. Raises `ProcessEnded`."""
        return await self._read_line()
