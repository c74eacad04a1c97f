"""The `SpeechToText` port: Whisper in a separate process, one recording at a time."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any, Self

import structlog

from relay.clients.processes.model_process import ModelNotLoaded, ModelProcess, ProcessEnded
from relay.clients.processes.process import program
from relay.clients.speech.installed import DEAF, NOT_HEARD, choose_engine
from relay.core.errors import MediaRefused
from relay.core.models import Transcript
from relay.core.program import RELAY

log = structlog.get_logger()

PROGRAM = program("relay.media.speech")
LINE = 2**24
"""The longest line in bytes, far more than a transcript of four hours."""
PIECE = 2**18
"""How many bytes of a recording are sent at once."""
MEMORY = 3 * 1024**3
"""The most memory for the process in bytes, with a model up to `small`."""
LARGE_MEMORY = 12 * 1024**3
"""The same with a larger model."""
MEMORY_A_MINUTE = 32 * 1024**2
THREADS = max(1, min(2, (os.cpu_count() or 1) - 1))
"""The number of threads, which leaves one processor for text answers."""
SMALL = ("tiny", "base", "small")
LOADING_SECONDS = 900.0
"""How many seconds a model may take to load, including its first download."""
DECODING_SECONDS = 60.0
SLOWEST = 4
"""The time limit as a multiple of a recording's length, plus `DECODING_SECONDS`."""
MOST_SECONDS = 7200.0
IDLE_SECONDS = 600.0
"""After this many seconds without a recording, the process ends and frees its memory."""

OFF = "Speech to text is switched off here (RELAY_STT=off)."
NOT_LOADED = f"The speech model can't be loaded. Run `{RELAY} doctor` where Relay runs to find out why."
BROKEN = "I can't listen to it right now. Please type it, or send it again later."
TOO_LONG = "This machine takes too long to transcribe it."
DIED = "The speech engine failed on it twice. This machine may have too little memory."


class SpeechProcess(ModelProcess):
    """A process with a loaded model, which transcribes recordings: see `relay.media.speech.__main__`."""

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


class Whisper:
    """Transcribes with the configured engine, if it is installed."""

    def __init__(self, engine: str, model: str, language: str, minutes: int, cache: Path) -> None:
        """`engine`: RELAY_STT. `language`: RELAY_STT_LANGUAGE; empty: detected. `minutes`: how much of a recording is
        transcribed. `cache`: the folder for downloaded models."""
        self._setting = engine
        self._model = os.path.expanduser(model) if "/" in model else model
        self._language = _code(language)
        self._minutes = minutes
        self._cache = cache
        self._turn = asyncio.Lock()
        self._listener: SpeechProcess | None = None
        self._resting: asyncio.TimerHandle | None = None
        self._stays = False
        self._tasks: set[asyncio.Task[None]] = set()

    async def hear(self, recording: bytes) -> Transcript:
        engine = self._engine()
        async with self._turn:  # the number of concurrent turns, and the room for their bytes, limit how many wait
            self._schedule_rest(cancel=True)
            try:
                return await self._transcribe_twice(engine, recording)
            finally:
                self._schedule_rest()

    async def preload(self) -> None:
        """Loads the model now and keeps it loaded."""
        self._stays = True
        if (engine := choose_engine(self._setting)) is None:
            return
        async with self._turn:
            try:
                await self._ready(engine)
            except (MediaRefused, ProcessEnded):
                log.warning("the speech model could not be loaded at the start; retrying with the first recording")

    async def close(self) -> None:
        """Ends the process and its work."""
        self._schedule_rest(cancel=True)
        await self._end()

    @property
    def pid(self) -> int | None:
        """The process id while the process runs; None otherwise."""
        return self._listener.pid if self._listener and self._listener.is_alive else None

    def _engine(self) -> str:
        if (engine := choose_engine(self._setting)) is not None:
            return engine
        raise MediaRefused(OFF if self._setting == "off" else DEAF, NOT_HEARD)

    async def _transcribe_twice(self, engine: str, recording: bytes) -> Transcript:
        for _ in range(2):
            try:
                return await self._transcribe(engine, recording)
            except ProcessEnded:
                log.warning("the speech engine exited while transcribing a recording", bytes=len(recording))
                await self._end()
            except MediaRefused:
                raise
            except BaseException:  # any further output belongs to a recording that nobody waits for
                await self._end()
                raise
        raise MediaRefused(DIED, BROKEN)

    async def _transcribe(self, engine: str, recording: bytes) -> Transcript:
        listener = await self._ready(engine)
        found = await self._ask_within(DECODING_SECONDS, listener.ask(recording, self._language, self._minutes))
        bound = min(MOST_SECONDS, DECODING_SECONDS + SLOWEST * min(found["seconds"], self._minutes * 60))
        said = await self._ask_within(bound, listener.answer())
        name = f"{engine} {Path(self._model).name}"
        return Transcript(said["text"], said["language"], name, found["seconds"], found["cut"])

    async def _ask_within(self, seconds: float, work: Any) -> dict[str, Any]:
        """Returns an answer of the process within a time limit. Raises `MediaRefused` and `ProcessEnded`."""
        try:
            async with asyncio.timeout(seconds):
                told: dict[str, Any] = await work
        except TimeoutError:
            await self._end()
            raise MediaRefused(TOO_LONG) from None
        if "refused" in told:
            raise MediaRefused(told["refused"])
        return told

    async def _ready(self, engine: str) -> SpeechProcess:
        """Returns the process with its model loaded, started if necessary. Raises `MediaRefused` and `ProcessEnded`."""
        if self._listener is not None and self._listener.is_alive:
            return self._listener
        await self._end()
        large = not Path(self._model).name.startswith(SMALL)
        memory = (LARGE_MEMORY if large else MEMORY) + self._minutes * MEMORY_A_MINUTE
        self._listener = listener = await SpeechProcess.start(
            self._cache, engine=engine, model=self._model, threads=THREADS, memory=memory
        )
        try:
            async with asyncio.timeout(LOADING_SECONDS):
                await listener.wait_until_loaded()
        except (ModelNotLoaded, TimeoutError) as error:
            log.warning("speech model not loaded", engine=engine, model=self._model, error=str(error) or "too slow")
            await self._end()
            raise MediaRefused(NOT_LOADED, BROKEN) from None
        log.info("speech model loaded", engine=engine, model=self._model)
        return listener

    async def _end(self) -> None:
        if (listener := self._listener) is not None:
            self._listener = None
            await listener.end()

    def _schedule_rest(self, cancel: bool = False) -> None:
        """Ends the process after some time without recordings. `cancel`: only cancels that."""
        if self._resting is not None:
            self._resting.cancel()
            self._resting = None
        if not cancel and not self._stays:
            self._resting = asyncio.get_running_loop().call_later(IDLE_SECONDS, self._rest)

    def _rest(self) -> None:
        task = asyncio.create_task(self._end(), name="rest")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _code(language: str) -> str:
    """Returns `de` for `de-DE`."""
    return language.lower().replace("_", "-").partition("-")[0]
