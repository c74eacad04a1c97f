"""The bot while it runs: its source of updates, its worker, its jobs and its web server."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

import structlog

from relay.core.errors import RelayError
from relay.core.tasks import cancel
from relay.jobs.clock.scheduler import Scheduler
from relay.runtime.embedder_router import explain_missing_embedder
from relay.runtime.runtime import Runtime
from relay.runtime.services import make_services
from relay.surfaces.server.job_list import jobs
from relay.surfaces.server.services import (
    ServerEvents,
    make_alerts_job,
    make_source,
    make_waker,
    offer_claim,
    run_indexer,
    settle_in,
)
from relay.surfaces.server.web import run_http
from relay.surfaces.telegram.assembly import make_worker
from relay.surfaces.telegram.groups.groups import Connection, make_connection

if TYPE_CHECKING:
    from relay.clients.telegram.client import Telegram
    from relay.surfaces.telegram.parsing.updates import Bot
    from relay.surfaces.telegram.turns.worker import Worker

log = structlog.get_logger()

DRAIN_SECONDS = 20.0
"""How long running turns may take to end after SIGTERM."""
NOTE_SECONDS = 2.0
"""How long storing the stop in the database may take."""


async def run_bot(runtime: Runtime, telegram: Telegram, bot: Bot, stopping: asyncio.Event) -> None:
    """Takes updates, runs turns and jobs until `stopping` is set; then lets running turns end."""
    connection = make_connection(telegram, bot)
    messenger = connection.messenger
    await runtime.people.refresh(runtime.store)
    if lack := explain_missing_embedder(runtime.settings):
        log.warning("search uses words only", why=lack)
    scheduler, signs = Scheduler([], runtime.budget.zone), ServerEvents()
    services = make_services(runtime, messenger, bot.id)
    on_owed = make_waker(scheduler, signs.stored)
    worker = make_worker(runtime, services, connection, on_owed, speech=True)
    for job in jobs(runtime, messenger, bot.id, worker.claim):
        scheduler.add(job)
    freed = await runtime.store.start()
    log.info("relay is running", bot=bot.username, storage=runtime.storage.label, taken_over=freed)
    source = make_source(runtime, messenger, worker, signs.listening)
    scheduler.add(make_alerts_job(runtime, connection, source, scheduler))
    running = [asyncio.create_task(source.run(), name="intake"), asyncio.create_task(worker.run(), name="worker")]
    beside = _start_beside(runtime, connection, worker, scheduler, signs)
    if runtime.settings.web:
        http = run_http(runtime, services, connection, source, worker, on_owed, signs.shown)
        running.append(asyncio.create_task(http, name="web"))
    else:
        signs.shown.set()
    try:
        await _first_of(running, stopping)
    finally:
        log.info("relay is stopping")
        # A server that already runs goes on, and its pages say that Relay is stopping. One that doesn't is cancelled.
        for task in [running[0], *beside, *([] if signs.shown.is_set() else running[2:])]:
            task.cancel()
        scheduler.stop()
        await worker.close(DRAIN_SECONDS)
        await cancel(*running, *beside)
        with contextlib.suppress(RelayError, TimeoutError):
            async with asyncio.timeout(NOTE_SECONDS):
                await runtime.store.note_run("stopped", bot.id)


def _start_beside(
    runtime: Runtime, connection: Connection, worker: Worker, scheduler: Scheduler, signs: ServerEvents
) -> list[asyncio.Task[None]]:
    """Starts the background tasks, which may end."""
    work: dict[str, Coroutine[Any, Any, None]] = {
        "started": runtime.store.note_run("started", connection.bot.id),
        "settle": settle_in(connection.messenger, scheduler, runtime.people, runtime.settings.app_url),
        "claim": offer_claim(runtime, connection.bot, signs.listening, signs.shown),
    }
    if runtime.clients.embedder:
        work["index"] = run_indexer(runtime, runtime.clients.embedder, signs.stored, worker)
    if runtime.settings.speech_preload:
        work["preload"] = runtime.clients.speech_to_text.preload()
    tasks = [asyncio.create_task(one, name=name) for name, one in work.items()]
    for task in tasks:
        task.add_done_callback(_log_failure)
    return tasks


async def _first_of(running: list[asyncio.Task[None]], stopping: asyncio.Event) -> None:
    """Waits for the signal to stop, or for a task that should never end; raises that task's error."""
    ended = asyncio.create_task(stopping.wait(), name="stopping")
    await asyncio.wait({*running, ended}, return_when=asyncio.FIRST_COMPLETED)
    ended.cancel()
    for task in running:
        if task.done():
            task.result()


def _log_failure(task: asyncio.Task[None]) -> None:
    """Logs a background task's error, which no one waits for."""
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("background task failed", task=task.get_name(), exc_info=error)
