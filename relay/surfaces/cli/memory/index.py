"""`relay memory index`: judges waiting messages and brings the search index up to date, with progress."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict

from relay.archive.transfer import Watcher
from relay.clients.embedding.installed import parse_embedder
from relay.core.frozen import frozen
from relay.core.settings import Settings, find_missing
from relay.core.text import pluralize
from relay.jobs.learning import judging_kind
from relay.jobs.runner import Runner
from relay.memory.index import LEASE_SECONDS, LOOK_SECONDS, STEP, EmbedderRouter, Indexer, enter
from relay.memory.rows.upkeep.embedding import EmbeddingStatus
from relay.memory.store import Store
from relay.runtime.runtime import Runtime, open_runtime
from relay.surfaces.cli.output import print_json
from relay.surfaces.cli.progress import plain, show_progress

PATIENCE = 300.0
"""How long to wait for an unavailable model, in seconds."""
OFF = "Search uses words only: RELAY_EMBEDDER is off."


@frozen
class IndexStatus(EmbeddingStatus):
    """The state of the vector index, and how many messages wait to be judged."""

    model: str
    """The configured model; empty: there is no embedder."""
    unjudged: int
    """Messages that wait to be judged."""


@frozen
class IndexResult:
    """What was done, and the state after it."""

    entered: int
    """Entries added."""
    made: int
    """Vectors made."""
    status: IndexStatus


async def status(settings: Settings) -> IndexStatus:
    """Returns how many entries have a vector."""
    async with open_runtime(settings) as relay:
        return await _status(relay)


async def _status(relay: Runtime) -> IndexStatus:
    model = relay.clients.embedder.own.model if relay.clients.embedder else ""
    made = await relay.store.embedding_status(model)
    return IndexStatus(**asdict(made), model=model, unjudged=await relay.store.count_unjudged())


async def index(settings: Settings, rebuild: bool = False, as_json: bool = False) -> None:
    """Judges waiting messages, and makes missing entries and vectors; with `rebuild` all vectors again. Continues where
    an interrupted run stopped. `as_json`: prints the result as JSON, and everything else to standard error."""
    console, what = plain(as_json), parse_embedder(settings.embedder)
    async with open_runtime(settings) as relay:
        store, embedder = relay.store, relay.clients.embedder
        with show_progress(console) as watcher:
            entered = await enter(store, lambda many: watcher.report("Entering", "new entries", many, many))
            unjudged = await _judge(relay, watcher)
            entered += await enter(store)
            made = await _embed(store, embedder, watcher, rebuild) if embedder else 0
        if unjudged:
            console.print(unjudged)
        now = await _status(relay)
        if as_json:
            print_json(IndexResult(entered, made, now))
        elif embedder is None:
            added = pluralize(entered, "entry", "entries")
            console.print(f"{added} added. {f'{what.engine} {what.missing}. {what.how}' if what else OFF}")
        else:
            left = f", {now.due:,} still due" if now.due else ""
            console.print(
                f"{pluralize(made, 'vector')} made. Entries with one: {now.embedded:,} of {now.entries:,}{left}."
            )


async def _judge(relay: Runtime, watcher: Watcher) -> str:
    """Judges waiting messages, as the bot does. Returns a line about those still waiting."""
    settings, store = relay.settings, relay.store
    waiting = await store.count_unjudged()
    if settings.capture not in ("auto", "ask") or not waiting:
        return ""
    if find_missing(settings, "ANTHROPIC_API_KEY"):
        return f"Waiting to be judged: {pluralize(waiting, 'message')}. ANTHROPIC_API_KEY is not set."

    async def told() -> None:
        watcher.report("Judging", "messages", waiting - await store.count_unjudged(), waiting)

    kind = judging_kind(relay.make_judge(relay.gate, relay.clients.embedder, told))
    await Runner(store, [kind]).run_due(kind.name, PATIENCE)
    left = await store.count_unjudged()
    why = "The model is unavailable, the day's budget is used up, or another process is working on them"
    return f"Still waiting to be judged: {pluralize(left, 'message')}. {why}." if left else ""


async def _embed(store: Store, embedder: EmbedderRouter, watcher: Watcher, rebuild: bool) -> int:
    """Makes the missing vectors. Returns how many."""
    start, model = rebuild, embedder.own.model
    while await store.embed_everything(STEP, start):
        start = False
    due = (await store.embedding_status(model)).due
    indexer = Indexer(store, embedder, lambda made: watcher.report("Embedding", "texts", made, max(made, due)))

    async def waits() -> bool:
        return bool((await store.embedding_status(model)).due)

    return await _run_to_end(indexer.run, waits)


async def _run_to_end(work: Callable[[], Awaitable[int]], waits: Callable[[], Awaitable[bool]]) -> int:
    """Works until nothing waits, or until nothing was done for as long as a lease lasts: another process, which may be
    dead, may hold the rest. Returns how much was done."""
    done, until = 0, time.monotonic() + LEASE_SECONDS + LOOK_SECONDS
    while True:
        if more := await work():
            done += more
            until = time.monotonic() + LEASE_SECONDS + LOOK_SECONDS
        if not await waits() or time.monotonic() > until:
            return done
        await asyncio.sleep(LOOK_SECONDS)
