"""`relay memory index`: judges waiting messages and brings the search index up to date, with progress."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass

from relay.archive.transfer import Watcher
from relay.clients.embedding.installed import named
from relay.core.settings import Settings, find_missing
from relay.jobs.judging import judging_kind
from relay.jobs.runner import Runner
from relay.memory.indexing import LEASE_SECONDS, LOOK_SECONDS, STEP, EmbedderRouter, Indexer, enter
from relay.memory.rows.upkeep.embedding import EmbeddingStatus
from relay.memory.store import Store
from relay.runtime.runtime import Runtime, open_runtime
from relay.surfaces.cli.progress import plain, watching

PATIENCE = 300.0
"""How long to wait for an unavailable model, in seconds."""
OFF = "Found by words alone: RELAY_EMBEDDER is off."


@dataclass(frozen=True, slots=True)
class IndexStatus(EmbeddingStatus):
    """How much can be found by meaning, and how much waits."""

    model: str
    """The model of the settings; empty: there is no embedder."""
    unjudged: int
    """Messages that wait to be judged."""


async def status(settings: Settings) -> IndexStatus:
    """How much of what can be found has a vector."""
    async with open_runtime(settings) as relay:
        model = relay.clients.embedder.own.model if relay.clients.embedder else ""
        made = await relay.store.embedding_status(model)
        return IndexStatus(**asdict(made), model=model, unjudged=await relay.store.unjudged())


async def index(settings: Settings, rebuild: bool = False) -> None:
    """Judges what waits, and makes what is missing; with `rebuild` all vectors anew, or those that one which was broken
    off left. Each of it goes on where a kill left it."""
    console, what = plain(), named(settings.embedder)
    async with open_runtime(settings) as relay:
        store, embedder = relay.store, relay.clients.embedder
        with watching(console) as watcher:
            entered = await enter(store, lambda many: watcher.at("Entering", "what is new", many, many))
            unjudged = await _judged(relay, watcher)
            entered += await enter(store)
            made = await _embedded(store, embedder, watcher, rebuild) if embedder else 0
        if unjudged:
            console.print(unjudged)
        if embedder is None:
            console.print(f"{entered:,} entered. {f'{what.engine} {what.missing}: {what.how}' if what else OFF}")
            return
        now = await store.embedding_status(embedder.own.model)
        left = f", {now.due:,} still due" if now.due else ""
        console.print(f"{made:,} made: {now.embedded:,} of {now.entries:,} are found by meaning{left}.")


async def _judged(relay: Runtime, watcher: Watcher) -> str:
    """Judges waiting messages, as the bot does. Returns a line about those still waiting."""
    settings, store = relay.settings, relay.store
    waiting = await store.unjudged()
    if settings.capture not in ("auto", "ask") or not waiting:
        return ""
    if find_missing(settings, "ANTHROPIC_API_KEY"):
        return f"{waiting:,} messages are waiting to be judged: ANTHROPIC_API_KEY is not set."

    async def told() -> None:
        watcher.at("Judging", "messages", waiting - await store.unjudged(), waiting)

    kind = judging_kind(relay.make_judge(relay.gate, relay.clients.embedder, told))
    await Runner(store, [kind]).run_due(kind.name, PATIENCE)
    left = await store.unjudged()
    why = "the model is unavailable, the day's budget is used up, or another process is working on them"
    return f"{left:,} messages are still waiting to be judged: {why}." if left else ""


async def _embedded(store: Store, embedder: EmbedderRouter, watcher: Watcher, rebuild: bool) -> int:
    """Makes the missing vectors. Returns how many."""
    start, model = rebuild, embedder.own.model
    while await store.embed_everything(STEP, start):
        start = False
    due = (await store.embedding_status(model)).due
    indexer = Indexer(store, embedder, lambda made: watcher.at("Embedding", "texts", made, max(made, due)))

    async def waits() -> bool:
        return bool((await store.embedding_status(model)).due)

    return await _to_the_end(indexer.run, waits)


async def _to_the_end(work: Callable[[], Awaitable[int]], waits: Callable[[], Awaitable[bool]]) -> int:
    """Works until nothing waits any more, or nothing was done for as long as a lease lasts: what another process has
    taken, which may be dead, is waited for. Returns how much was done."""
    done, until = 0, time.monotonic() + LEASE_SECONDS + LOOK_SECONDS
    while True:
        if more := await work():
            done += more
            until = time.monotonic() + LEASE_SECONDS + LOOK_SECONDS
        if not await waits() or time.monotonic() > until:
            return done
        await asyncio.sleep(LOOK_SECONDS)
