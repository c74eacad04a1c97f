"""The running bot: what it starts, and how it stops."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

import structlog

from relay.clients.embedded.account import make_directory
from relay.conversation.cancellation import wait_or_cancel
from relay.core.errors import MessengerError, RelayError, TokenRefused
from relay.core.retry import RetryPolicy
from relay.core.settings import Settings
from relay.runtime.clients import import_telegram
from relay.runtime.embedder_router import explain_missing_embedder
from relay.runtime.runtime import Runtime, open_runtime
from relay.runtime.services import make_services
from relay.surfaces.server.process_hardening import seal
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
from relay.surfaces.telegram.groups.connection import Connection, make_connection

if TYPE_CHECKING:
    from relay.clients.telegram.client import Telegram
    from relay.jobs.clock.scheduler import Scheduler
    from relay.surfaces.telegram.parsing.updates import Bot
    from relay.surfaces.telegram.turns.worker import Worker

log = structlog.get_logger()

DRAIN_SECONDS = 20.0
"""How long running turns may take to end after SIGTERM."""
NOTE_SECONDS = 2.0
"""How long storing the stop in the database may take."""


async def identify(telegram: Telegram) -> Bot:
    """Returns the bot's id and username. Waits while Telegram is unreachable; raises `TokenRefused` for a bad token."""
    from relay.surfaces.telegram.parsing.updates import Bot

    async def note(error: BaseException) -> None:
        log.warning("Telegram cannot be reached yet", error=str(error))

    await telegram.open()
    retries = RetryPolicy(first=1.0)
    me = await retries.run(lambda: telegram.call("getMe"), (MessengerError,), but=(TokenRefused,), note=note)
    return Bot(me["id"], me.get("username") or "")


async def run(settings: Settings) -> None:
    """Runs the bot until SIGTERM or SIGINT; a second signal ends it at once. Raises `SettingsError`, among others."""
    seal()
    if settings.backup_days and settings.backup_dir:
        make_directory(settings.backup_dir, "RELAY_BACKUP_DIR")
    stopping = asyncio.Event()
    _handle_signals(stopping)
    async with contextlib.AsyncExitStack() as stack:
        opening = asyncio.create_task(stack.enter_async_context(open_runtime(settings, wait=True)), name="open")
        meeting = asyncio.create_task(_connect_telegram(settings, stack), name="meet")
        try:
            started = await wait_or_cancel(stopping, asyncio.gather(opening, meeting))
        except BaseException:
            opening.cancel()
            meeting.cancel()
            await asyncio.gather(opening, meeting, return_exceptions=True)
            raise
        if started is not None:
            runtime, (telegram, bot) = started
            await _serve(runtime, make_connection(telegram, bot), stopping)


async def _connect_telegram(settings: Settings, stack: contextlib.AsyncExitStack) -> tuple[Telegram, Bot]:
    """Returns the Telegram client and the bot. The stack closes the client's connections."""
    telegram = (await asyncio.to_thread(import_telegram))(settings.telegram_bot_token, settings.telegram_api_url)
    stack.push_async_callback(telegram.close_pools)
    return telegram, await identify(telegram)


async def _serve(runtime: Runtime, connection: Connection, stopping: asyncio.Event) -> None:
    """Takes updates, runs turns and jobs until `stopping` is set; then lets running turns end."""
    from relay.jobs.clock.scheduler import Scheduler
    from relay.surfaces.server.job_list import jobs

    messenger, bot = connection.messenger, connection.bot
    await runtime.people.refresh(runtime.store)
    if lack := explain_missing_embedder(runtime.settings):
        log.warning("search uses words only", why=lack)
    scheduler, signs = Scheduler([], runtime.budget.zone), ServerEvents()
    services = make_services(runtime, messenger, bot.id)
    on_owed = make_waker(scheduler, signs.stored)
    worker = make_worker(runtime, services, connection, on_owed, speech=True)
    for job in jobs(runtime, messenger, bot.id, worker.claim):
        scheduler.add(job)
    freed = await runtime.store.release()
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
        await _cancel_all(*running, *beside)
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


async def _cancel_all(*tasks: asyncio.Task[None]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _handle_signals(stopping: asyncio.Event) -> None:
    """Makes the first SIGTERM or SIGINT set `stopping`, and the second end the process."""
    loop = asyncio.get_running_loop()

    def heard(number: int) -> None:
        if stopping.is_set():
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        stopping.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        with contextlib.suppress(NotImplementedError):
            loop.add_signal_handler(number, heard, number)
