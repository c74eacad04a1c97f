"""The running bot: what it starts, and how it stops."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from typing import TYPE_CHECKING

import structlog

from relay.clients.embedded.account import make_directory
from relay.clients.speech.text_to_speech import make_voices
from relay.conversation.cancellation import wait_or_cancel
from relay.core.errors import MessengerError, RelayError, TokenRefused
from relay.core.retry import RetryPolicy
from relay.core.settings import Settings
from relay.memory.people import People
from relay.runtime.app import Relay, make_ears, make_gate, make_model, make_opener, open_relay
from relay.runtime.embedder_router import explain_missing_embedder, make_embedder
from relay.surfaces.server.process_hardening import seal
from relay.surfaces.server.services import (
    make_alerts_job,
    make_waker,
    offer_claim,
    run_http,
    run_indexer,
    settle_in,
    start_intake,
)
from relay.surfaces.telegram.assembly import make_worker

if TYPE_CHECKING:
    from relay.clients.telegram.client import Telegram
    from relay.surfaces.telegram.parsing.updates import Bot

log = structlog.get_logger()

DRAIN_SECONDS = 20.0
"""How long running turns may take to end after SIGTERM."""
NOTE_SECONDS = 2.0
"""How long it may take to note that it has stopped."""


async def identify(telegram: Telegram) -> Bot:
    """Who the bot is. Waits for a Telegram that is away; raises `TokenRefused` for a wrong token."""
    from relay.surfaces.telegram.parsing.updates import Bot

    async def note(error: BaseException) -> None:
        log.warning("Telegram cannot be reached yet", error=str(error))

    await telegram.open()
    retries = RetryPolicy(first=1.0)
    me = await retries.run(lambda: telegram.call("getMe"), (MessengerError,), but=(TokenRefused,), note=note)
    return Bot(me["id"], me.get("username") or "")


async def run(settings: Settings) -> None:
    """Runs the bot until SIGTERM or SIGINT; a second one ends at once. Raises `SettingsError`, among others."""
    seal()
    if settings.backup_days and settings.backup_dir:
        make_directory(settings.backup_dir, "RELAY_BACKUP_DIR")
    stopping = asyncio.Event()
    _on_signals(stopping)
    async with contextlib.AsyncExitStack() as stack:
        opening = asyncio.create_task(stack.enter_async_context(open_relay(settings, wait=True)), name="open")
        meeting = asyncio.create_task(_meet(settings, stack), name="meet")
        try:
            started = await wait_or_cancel(stopping, asyncio.gather(opening, meeting))
        except BaseException:
            opening.cancel()
            meeting.cancel()
            await asyncio.gather(opening, meeting, return_exceptions=True)
            raise
        if started is not None:
            relay, (telegram, bot) = started
            await _serve(relay, telegram, bot, stopping)


async def _meet(settings: Settings, stack: contextlib.AsyncExitStack) -> tuple[Telegram, Bot]:
    """Telegram, and who the bot is there. The stack closes its connections."""
    telegram = (await asyncio.to_thread(_import_telegram))(settings.telegram_bot_token, settings.telegram_api_url)
    stack.push_async_callback(telegram.close_pools)
    return telegram, await identify(telegram)


def _import_telegram() -> type[Telegram]:
    """Imports the client as if `cryptography` were not installed: python-telegram-bot would take 8 MB of it into memory
    for Telegram Passport, which is not used here, and does without where it is missing."""
    absent = "cryptography" not in sys.modules
    if absent:
        sys.modules["cryptography"] = None  # type: ignore[assignment]
    try:
        from relay.clients.telegram.client import Telegram
    finally:
        if absent:
            del sys.modules["cryptography"]
    return Telegram


async def _serve(relay: Relay, telegram: Telegram, bot: Bot, stopping: asyncio.Event) -> None:
    """Takes updates, works and schedules until `stopping` is set; then lets running turns end."""
    from relay.jobs.scheduler import Scheduler
    from relay.surfaces.server.job_list import jobs

    settings, model, ears = relay.settings, make_model(relay.settings), make_ears(relay.settings)
    people = People(settings.admins, settings.users, settings.pairing)
    await people.refresh(relay.store)
    gate, embedder = make_gate(relay, model), make_embedder(settings)
    if lack := explain_missing_embedder(settings):
        log.warning("found by words alone", why=lack)
    scheduler = Scheduler([], relay.budget.zone)
    stored, opener = asyncio.Event(), make_opener()
    voice, soon = make_voices(settings, opener), make_waker(scheduler, stored)
    worker = make_worker(relay, gate, telegram, bot, people, soon, ears, voice, opener, embedder)
    for job in jobs(relay, gate, telegram, bot, people, embedder, worker.claim):
        scheduler.add(job)
    freed = await relay.store.release()
    log.info("relay is running", bot=bot.username, storage=relay.storage, taken_over=freed)
    hears, shows = asyncio.Event(), asyncio.Event()
    taking, silence, lost_polls = start_intake(relay, telegram, worker, people, hears)
    scheduler.add(make_alerts_job(relay, telegram, bot, people, silence, lost_polls, scheduler))
    intake = asyncio.create_task(taking, name="intake")
    running = [intake, asyncio.create_task(worker.run(), name="worker")]
    beside = [
        asyncio.create_task(relay.store.note_run("started", bot.id), name="started"),
        asyncio.create_task(settle_in(telegram, scheduler, people), name="settle"),
        asyncio.create_task(offer_claim(relay, people, bot, hears, shows), name="claim"),
    ]
    if embedder:
        beside.append(asyncio.create_task(run_indexer(relay, embedder, stored, worker), name="index"))
    if settings.speech_preload:
        beside.append(asyncio.create_task(ears.preload(), name="preload"))
    if settings.web:
        running.append(asyncio.create_task(run_http(relay, bot, silence, worker, shows), name="web"))
    else:
        shows.set()
    for task in beside:
        task.add_done_callback(_told)
    try:
        await _first_of(running, stopping)
    finally:
        log.info("relay is stopping")
        # A page that is not shown yet will not be; one that is tells that Relay is stopping.
        for task in [intake, *beside, *([] if shows.is_set() else running[2:])]:
            task.cancel()
        scheduler.stop()
        await worker.close(DRAIN_SECONDS)
        await _ended(*running, *beside)
        with contextlib.suppress(RelayError, TimeoutError):
            async with asyncio.timeout(NOTE_SECONDS):
                await relay.store.note_run("stopped", bot.id)
        await ears.close()
        if embedder:
            await embedder.close()
        await model.close()


async def _first_of(running: list[asyncio.Task[None]], stopping: asyncio.Event) -> None:
    """Waits until Relay is told to stop, or something ends that never should; raises what that raised."""
    ended = asyncio.create_task(stopping.wait(), name="stopping")
    await asyncio.wait({*running, ended}, return_when=asyncio.FIRST_COMPLETED)
    ended.cancel()
    for task in running:
        if task.done():
            task.result()


def _told(task: asyncio.Task[None]) -> None:
    """Whatever ended beside answering by an error stands in the log: nobody waits for it."""
    if not task.cancelled() and (error := task.exception()) is not None:
        log.error("something beside answering ended", task=task.get_name(), exc_info=error)


async def _ended(*tasks: asyncio.Task[None]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _on_signals(stopping: asyncio.Event) -> None:
    """The first SIGTERM or SIGINT asks to stop, the second ends at once."""
    loop = asyncio.get_running_loop()

    def heard(number: int) -> None:
        if stopping.is_set():
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        stopping.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        with contextlib.suppress(NotImplementedError):
            loop.add_signal_handler(number, heard, number)
