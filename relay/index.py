"""`relay memory index`: the index that finds by meaning, brought up to date while somebody watches."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from typing import Any

from relay.app import Relay, make_embedder, opened
from relay.embedding.installed import named
from relay.errors import EmbedderUnavailable
from relay.indexing import LEASE_SECONDS, LOOK_SECONDS, STEP, Asked, Indexer
from relay.progress import plain, watching
from relay.settings import Settings

OFF = "Nothing is found by meaning here: RELAY_EMBEDDER is off."


@contextlib.asynccontextmanager
async def _opened(settings: Settings) -> AsyncIterator[tuple[Relay, Asked]]:
    """An open Relay and its embedder. Raises `EmbedderUnavailable` where there is none."""
    what, embedder = named(settings.embedder), make_embedder(settings)
    if what is None:
        raise EmbedderUnavailable(OFF)
    if embedder is None:
        raise EmbedderUnavailable(f"{what.engine} is not installed: {what.how}")
    try:
        async with opened(settings) as relay:
            yield relay, embedder
    finally:
        await embedder.close()


async def status(settings: Settings) -> dict[str, Any]:
    """How the index stands: `{model, entries, embedded, due, of_other_models, serves, rebuilding}`."""
    async with _opened(settings) as (relay, embedder):
        return {"model": embedder.own.model, **await relay.memory.embedding_status(embedder.own.model)}


async def index(settings: Settings, rebuild: bool = False) -> None:
    """Makes what is missing; with `rebuild` everything anew, or what an earlier one that was broken off left."""
    console = plain()
    async with _opened(settings) as (relay, embedder):
        store, model = relay.memory, embedder.own.model
        with watching(console) as watcher:
            entered = 0
            while put := await store.index_missing(STEP):
                entered += put
                watcher.at("Entering", "messages", entered, entered)
            start = rebuild
            while await store.embed_everything(STEP, start):
                start = False
            due = (await store.embedding_status(model))["due"]

            def at(made: int) -> None:
                watcher.at("Embedding", "entries", made, max(made, due))

            indexer = Indexer(store, embedder, at)
            made = await indexer.run()
            until = time.monotonic() + LEASE_SECONDS + LOOK_SECONDS
            # What another process has taken, which may be dead, is waited for.
            while (await store.embedding_status(model))["due"] and time.monotonic() < until:
                await asyncio.sleep(LOOK_SECONDS)
                made += await indexer.run()
        now = await store.embedding_status(model)
        left = f", {now['due']:,} still due" if now["due"] else ""
        console.print(f"{made:,} made: {now['embedded']:,} of {now['entries']:,} are found by meaning{left}.")
