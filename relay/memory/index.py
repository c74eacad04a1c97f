"""Keeps the vector index current in the background: new entries get a vector within seconds, and all entries get new
ones after a change of model."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol

import structlog

from relay.clients.embedding.installed import QUERY
from relay.core import metrics
from relay.core.errors import EmbedderUnavailable, RelayError
from relay.core.ports import Embedder
from relay.core.tasks import wait_for
from relay.memory.calls.memory.search import vector_text
from relay.memory.rows.upkeep.embedding import EmbedTask, MadeVector
from relay.memory.store import Store

log = structlog.get_logger()

BATCH = 8
"""Texts per batch. There are few, so that new texts come next soon."""
LEASE_SECONDS = 60
"""How many seconds a batch is leased. If that is too short, some vectors are made twice."""
STEP = 1000
"""Entries queued at once for a rebuild."""
LOOK_SECONDS = 3.0
"""How many seconds pass between checks for new entries."""
DISTANT_SECONDS = 30.0
"""The same if every check is a request to a hosted service."""
TROUBLE_SECONDS = 30.0
COUNTED = 100
"""During a change of model, how many batches pass between checks of which model has more vectors."""
QUIET_SECONDS = 0.5
"""How many seconds nothing must have been answered before vectors are made: on a small machine they would slow
answers."""
PATIENCE_SECONDS = 10.0
"""The most seconds that a batch waits for that, so that the index keeps up with a busy chat."""
REMEMBERED = 64
"""Queries whose vectors are cached."""


class Closing(Embedder, Protocol):
    """An embedder that can be loaded and closed."""

    async def preload(self) -> None: ...

    async def close(self) -> None: ...


class EmbedderRouter:
    """The `Embedder` for questions: the configured one, or another model's while that one has most vectors and is
    installed. Stored texts always use the configured one."""

    def __init__(self, own: Closing, make: Callable[[str], Closing | None]) -> None:
        """`make`: returns the embedder of a model by its name in the database; None if unavailable."""
        self.own = own
        self._make = make
        self._now = own
        self._queries: dict[tuple[str, str], asyncio.Task[list[list[float]]]] = {}

    @property
    def model(self) -> str:
        """Returns the model that questions use now: see `ports.Embedder.model`."""
        return self._now.model

    async def embed(self, texts: Sequence[str], query: bool = False) -> list[list[float]]:
        """See `ports.Embedder.embed`. Recent queries, and those in progress, are not embedded again."""
        if not query:
            return await self.own.embed(texts)
        return [await self._query(self._now, text) for text in texts]

    async def embed_said(self, text: str) -> list[float]:
        """Embeds a person's short message with the configured model, in the way its turn did. e5's model card puts
        "query: " on both sides for symmetric tasks."""
        return await self._query(self.own, text)

    async def _query(self, embedder: Closing, text: str) -> list[float]:
        key = (embedder.model, text)
        if (work := self._queries.pop(key, None)) is None:
            work = asyncio.create_task(embedder.embed([text], query=True), name="query")
            work.add_done_callback(lambda done: self._forget_failed(key, done))
        self._queries[key] = work
        while len(self._queries) > REMEMBERED:
            del self._queries[next(iter(self._queries))]
        (vector,) = await asyncio.shield(work)
        return vector

    def _forget_failed(self, key: tuple[str, str], done: asyncio.Task[list[list[float]]]) -> None:
        if (done.cancelled() or done.exception() is not None) and self._queries.get(key) is done:
            del self._queries[key]

    async def preload(self) -> None:
        """Loads the configured model now, if possible."""
        await self.own.preload()

    async def serve(self, model: str) -> None:
        """Uses a model for questions if it is available; otherwise the configured one."""
        if model == self._now.model:
            return
        before, self._now = self._now, (self.own if model == self.own.model else self._make(model) or self.own)
        if before is not self._now:
            log.info("questions are embedded with another model", model=self._now.model)
        if before is not self.own and before is not self._now:
            await before.close()

    async def close(self) -> None:
        """Ends all processes."""
        if self._now is not self.own:
            await self._now.close()
        await self.own.close()


class Indexer:
    """Makes due vectors. `at` is called after each batch with its count. `answering`: whether an answer is in
    progress."""

    def __init__(
        self,
        store: Store,
        embedder: EmbedderRouter,
        at: Callable[[int], object] = lambda made: None,
        answering: Callable[[], bool] = lambda: False,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._at = at
        self._answering = answering
        self._made = 0
        self._changing = True

    async def choose_model(self) -> None:
        """Chooses the model for questions."""
        status = await self._store.embedding_status(self._model)
        await self._embedder.serve(status.serves)

    async def run(self) -> int:
        """Works until nothing is due. Returns how many vectors were made. Failed texts are retried later. Raises
        `EmbedderUnavailable` if the embedder fails."""
        before = self._made
        while True:
            await self._run_due()
            if not self._changing:
                return self._made - before
            put = await self._store.embed_everything(STEP) or await self._store.embed_again(self._model, STEP)
            if not put:
                await self.choose_model()
                self._changing = False

    @property
    def _model(self) -> str:
        return self._embedder.own.model

    async def _run_due(self) -> None:
        batches = 0
        while True:
            await self._wait_for_quiet()
            if not (batch := await self._store.take_embed_due(BATCH, LEASE_SECONDS)):
                return
            self._made += await self._embed(batch)
            self._at(self._made)
            batches += 1
            if self._changing and batches % COUNTED == 0:
                await self.choose_model()

    async def _wait_for_quiet(self) -> None:
        """Waits until nothing has been answered for `QUIET_SECONDS`, at most `PATIENCE_SECONDS`."""
        loop = asyncio.get_running_loop()
        began = quiet = loop.time()
        while loop.time() - began < PATIENCE_SECONDS:
            if self._answering():
                quiet = loop.time() + QUIET_SECONDS
            if loop.time() >= quiet:
                return
            await asyncio.sleep(QUIET_SECONDS / 5)

    async def _embed(self, batch: Sequence[EmbedTask]) -> int:
        """Embeds and stores a batch, one text at a time if that fails. A text that crashes the embedder doesn't block
        others, and is retried less and less often; one that was merely in progress is embedded at once."""
        blank = [row for row in batch if not row.text.strip()]
        rest = [row for row in batch if row.text.strip()]
        if blank:
            await self._keep(blank, None)
        try:
            return await self._embed_all(rest) if rest else 0
        except EmbedderUnavailable:
            await self._check(rest)
        except BaseException:
            await asyncio.shield(self._give_back(rest))
            raise
        return sum([await self._embed_one(row) for row in rest])

    async def _check(self, rows: Sequence[EmbedTask]) -> None:
        """Tests the embedder with a simple word, to see whether the text was at fault. If the embedder is, releases
        everything and raises `EmbedderUnavailable`."""
        try:
            await self._embedder.own.embed(["text"])
        except EmbedderUnavailable:
            await self._give_back(rows)
            raise
        log.warning("texts could not be embedded", many=len(rows))

    async def _embed_one(self, row: EmbedTask) -> int:
        try:
            return await self._embed_all([row])
        except EmbedderUnavailable:
            return 0

    async def _give_back(self, rows: Sequence[EmbedTask]) -> None:
        await self._store.return_embed_due([row.entry_id for row in rows])

    async def _embed_all(self, rows: Sequence[EmbedTask]) -> int:
        rest = [row.text for row in rows if not is_short(row)]
        passages = iter(await self._embedder.own.embed(rest) if rest else ())
        said = self._embedder.embed_said
        return await self._keep(rows, [await said(row.text) if is_short(row) else next(passages) for row in rows])

    async def _keep(self, rows: Sequence[EmbedTask], vectors: Sequence[Sequence[float]] | None) -> int:
        texts = [None] * len(rows) if vectors is None else [vector_text(vector) for vector in vectors]
        stored = await self._store.store_embeddings(
            self._model,
            [MadeVector(row.entry_id, row.since, row.hash, text) for row, text in zip(rows, texts, strict=True)],
        )
        metrics.VECTORS.labels("made").inc(stored if vectors is not None else 0)
        return stored


def is_short(row: EmbedTask) -> bool:
    """Tests whether the text is a person's message that is embedded whole as a query."""
    return row.said and len(row.text) <= QUERY


async def enter_due(store: Store) -> None:
    """Indexes what turns wrote."""
    while await store.index_due(STEP):
        pass


async def enter(store: Store, at: Callable[[int], object] = lambda entered: None) -> int:
    """Indexes missing entries: after an upgrade, a move or a restore. `at` is called with progress; returns the total.
    Needed without an embedder too, for search by words."""
    entered = 0
    while put := await store.index_missing(STEP):
        entered += put
        at(entered)
    return entered


async def keep_fresh(indexer: Indexer, woken: asyncio.Event | None = None, look_seconds: float = LOOK_SECONDS) -> None:
    """Makes due vectors and looks for more every `look_seconds` or when `woken`, until cancelled."""
    woken = woken or asyncio.Event()
    begun = False
    troubled = False
    while True:
        pause = look_seconds
        woken.clear()
        try:
            if not begun:
                await indexer.choose_model()
                begun = True
            await indexer.run()
            troubled = False
        except RelayError as error:
            pause = TROUBLE_SECONDS
            metrics.ERRORS.labels("index", type(error).__name__).inc()
            if not troubled:
                log.warning("the index could not be updated; retrying", error=str(error))
            troubled = True
        except Exception as error:  # its text may quote what it failed on
            pause = TROUBLE_SECONDS
            metrics.ERRORS.labels("index", type(error).__name__).inc()
            log.error("indexing failed; retrying", error=type(error).__name__)
        await wait_for(woken, pause)
