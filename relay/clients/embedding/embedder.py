"""The `Embedder` port: a model in a separate process."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Sequence
from pathlib import Path

import structlog

from relay.clients.embedding.installed import NANO, QUERY, EmbedderName
from relay.clients.embedding.vectors import Vectors
from relay.clients.processes.model_process import ModelNotLoaded, ProcessEnded
from relay.core.errors import EmbedderUnavailable
from relay.core.program import RELAY
from relay.core.retry import RetryPolicy
from relay.core.tasks import cancel

log = structlog.get_logger()

MEMORY = {NANO: 512 * 1024**2}
"""The most memory for the process in bytes, besides the weights that it maps."""
MOST_MEMORY = 4 * 1024**3
"""The same for the largest models."""
THREADS = 1
"""The number of threads. More would slow queries down when other work runs, and overheat a Raspberry Pi."""
LOADING_SECONDS = {NANO: 60.0}
DOWNLOADING_SECONDS = 900.0
"""How many seconds a model may take to load, including its download."""
QUERY_SECONDS = 10.0
SECONDS_A_TEXT = 5.0
"""How many seconds the slowest machine may take for one text of `PASSAGE` characters."""
WAITING = 16
"""How many requests may wait. More are refused at once."""
PASSAGE = 1000
"""How many characters are embedded at once. Models of this size gain nothing from longer texts."""
PIECES = 8
"""How many pieces of a text are embedded. The rest of a longer text is found by its words."""
RETRIES = RetryPolicy(first=1.0, longest=300.0)
"""The pauses before a process that failed at once is restarted."""

NOT_THERE = "The embedder isn't running; it's being restarted."
NOT_LOADED = f"The embedder can't be loaded. Run `{RELAY} doctor` where Relay runs to find out why."
TOO_SLOW = "The embedder is too slow on this machine."
TOO_MANY = "Too many texts are waiting to be embedded."


class ChildEmbedder:
    """Embeds with an installed model. The process starts at first use, and again if it dies."""

    def __init__(self, what: EmbedderName, cache: Path) -> None:
        """`cache`: the folder for downloaded models."""
        self._what = what
        self._cache = cache
        self._vectors: Vectors | None = None
        self._starting: asyncio.Task[Vectors] | None = None
        self._failures = 0
        self._not_before = 0.0
        self._closed = False

    @property
    def model(self) -> str:
        return self._what.vectors

    @property
    def pid(self) -> int | None:
        """The process id while the process runs; None otherwise."""
        return self._vectors.pid if self._vectors and self._vectors.is_alive else None

    async def embed(self, texts: Sequence[str], query: bool = False) -> list[list[float]]:
        """See `ports.Embedder.embed`. Only the beginning of a query is embedded; a long text is embedded in pieces."""
        vectors = await self._ready()
        if vectors.waiting >= WAITING:
            raise EmbedderUnavailable(TOO_MANY)
        parts = [[cut(text, QUERY)] if query else pieces(text, PASSAGE, PIECES) for text in texts]
        every = [part for own in parts for part in own]
        seconds = QUERY_SECONDS if query else SECONDS_A_TEXT * len(every)
        try:
            async with asyncio.timeout(seconds):
                found = await vectors.ask(every, query)
        except ProcessEnded:
            await self._end_dead(vectors)
            raise EmbedderUnavailable(NOT_THERE) from None
        except TimeoutError:
            await self._end_dead(vectors)
            raise EmbedderUnavailable(TOO_SLOW) from None
        self._failures = 0
        whole = iter([one for one in found if one is not None])
        if None in found:
            raise EmbedderUnavailable("A text cannot be embedded.")
        return [combine(own, [next(whole) for _ in own]) for own in parts]

    async def preload(self) -> None:
        """Loads the model now, if possible."""
        try:
            await self._ready()
        except EmbedderUnavailable:
            log.warning("the embedder could not be loaded at the start; retrying")

    async def close(self) -> None:
        """Ends the process and its work."""
        self._closed = True
        if self._starting is not None:
            await cancel(self._starting)
        if self._vectors is not None:
            await self._vectors.end()
            self._vectors = None

    async def _ready(self) -> Vectors:
        """Returns the process with its model loaded. A caller that gives up doesn't stop the start. Raises
        `EmbedderUnavailable`."""
        if self._vectors is not None and self._vectors.is_alive:
            return self._vectors
        if self._starting is None:
            if self._closed or time.monotonic() < self._not_before:
                raise EmbedderUnavailable(NOT_THERE)
            self._starting = asyncio.create_task(self._start(), name="embedder")
            self._starting.add_done_callback(self._note_start)
        return await asyncio.shield(self._starting)

    def _note_start(self, starting: asyncio.Task[Vectors]) -> None:
        self._starting = None
        if not starting.cancelled():
            starting.exception()  # callers who wait receive the error

    async def _start(self) -> Vectors:
        engine, model = self._what
        memory, seconds = MEMORY.get(engine, MOST_MEMORY), LOADING_SECONDS.get(engine, DOWNLOADING_SECONDS)
        try:
            vectors = await Vectors.start(
                engine=engine, model=model, threads=THREADS, memory=memory, cache=str(self._cache)
            )
        except OSError as error:  # no process can be started now
            log.warning("embedder not started", model=self.model, error=str(error))
            self._pause()
            raise EmbedderUnavailable(NOT_THERE) from None
        try:
            async with asyncio.timeout(seconds):
                await vectors.wait_until_loaded()
        except (ModelNotLoaded, ProcessEnded, TimeoutError) as error:
            log.warning("embedder not loaded", model=self.model, error=str(error) or type(error).__name__)
            self._pause()
            await vectors.end()
            raise EmbedderUnavailable(NOT_LOADED) from None
        except BaseException:
            await vectors.end()
            raise
        self._vectors = vectors
        log.info("embedder loaded", model=self.model, dimensions=vectors.dimensions)
        return vectors

    async def _end_dead(self, vectors: Vectors) -> None:
        """Ends a dead process, once for all callers that waited for it."""
        if self._vectors is vectors:
            self._vectors = None
            log.warning("the embedder exited; restarting it", model=self.model)
            self._pause()
        await vectors.end()

    def _pause(self) -> None:
        """Sets the pause before the next start: none at first, longer with each failure since the last answer."""
        pause = RETRIES.pause(self._failures) if self._failures else 0.0
        self._failures = min(self._failures + 1, 10)
        self._not_before = time.monotonic() + pause


def cut(text: str, most: int) -> str:
    """Returns the beginning of a text, at most `most` characters: whole words, single spaces."""
    text = " ".join(text[: most * 2].split())
    if len(text) <= most:
        return text
    return text[: most + 1].rpartition(" ")[0] or text[:most]


def pieces(text: str, most: int, many: int) -> list[str]:
    """Splits a text, with single spaces, into at most `many` pieces of at most `most` characters."""
    text = " ".join(text[: most * many * 2].split())
    found: list[str] = []
    while len(found) < many:
        found.append(cut(text, most))
        text = text[len(found[-1]) :].strip()
        if not text:
            break
    return found


def combine(texts: Sequence[str], vectors: Sequence[Sequence[float]]) -> list[float]:
    """Combines the vectors of a text's pieces into one of length 1: their mean, weighted by length. See OpenAI's
    cookbook, "Embedding texts that are longer than the model's maximum context length"."""
    if len(vectors) == 1:
        return list(vectors[0])
    summed = [
        sum(len(text) * number for text, number in zip(texts, numbers, strict=True))
        for numbers in zip(*vectors, strict=True)
    ]
    length = math.hypot(*summed) or 1.0
    return [number / length for number in summed]
