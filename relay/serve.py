"""The running bot: what it starts, and how it stops."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

import structlog

from relay import migrate
from relay.app import Relay, make_model, make_worker, opened, version
from relay.clients.account import make_directory
from relay.errors import MessengerError, TokenRefused
from relay.memory.people import People
from relay.memory.store import Store
from relay.ports import Model
from relay.settings import Settings

if TYPE_CHECKING:
    from relay.bot.intake import Intake
    from relay.bot.updates import Bot
    from relay.bot.webhook import Registration
    from relay.bot.worker import Worker
    from relay.clients.telegram import Telegram
    from relay.scheduler import Job, Scheduler

log = structlog.get_logger()
T = TypeVar("T")

DRAIN_SECONDS = 20.0
"""How long running turns may take to end after SIGTERM."""
DAILY_SECONDS = 20 * 3600
"""What is done once a day is not done again sooner than this, by whichever process."""
FIRST_POLL_SECONDS = 0.05
"""What is slow to import waits so long, until the first poll is on its way."""


async def identify(telegram: Telegram) -> Bot:
    """Who the bot is. Waits for a Telegram that is away; raises `TokenRefused` for a wrong token."""
    from relay.bot.updates import Bot

    await telegram.open()
    pause = 1.0
    while True:
        try:
            me = await telegram.call("getMe")
            return Bot(me["id"], me.get("username") or "")
        except TokenRefused:
            raise
        except MessengerError as error:
            log.warning("Telegram cannot be reached yet", error=str(error))
        await asyncio.sleep(pause)
        pause = min(30.0, pause * 2)


async def run(settings: Settings) -> None:
    """Runs the bot until SIGTERM or SIGINT; a second one ends at once. Raises `SettingsError`, among others."""
    if settings.backup_days and settings.backup_dir:
        make_directory(settings.backup_dir, "RELAY_BACKUP_DIR")
    stopping = asyncio.Event()
    _on_signals(stopping)
    async with contextlib.AsyncExitStack() as stack:
        opening = asyncio.create_task(stack.enter_async_context(opened(settings, wait=True)), name="open")
        meeting = asyncio.create_task(_meet(settings, stack), name="meet")
        try:
            started = await _unless(stopping, asyncio.gather(opening, meeting))
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
        from relay.clients.telegram import Telegram
    finally:
        if absent:
            del sys.modules["cryptography"]
    return Telegram


async def _serve(relay: Relay, telegram: Telegram, bot: Bot, stopping: asyncio.Event) -> None:
    """Takes updates, works and schedules until `stopping` is set; then lets running turns end."""
    from relay.scheduler import Scheduler

    settings, model = relay.settings, make_model(relay.settings)
    people = People(settings.admins, settings.users, settings.pairing)
    await people.refresh(relay.memory)
    scheduler = Scheduler(jobs(relay, model, telegram, bot))
    worker = make_worker(relay, model, telegram, bot, people, scheduler.write_soon)
    freed = await relay.memory.release()
    log.info("relay is running", bot=bot.username, storage=relay.storage, taken_over=freed)
    taking, heard_at = taking_updates(relay, telegram, worker, people)
    begun = time.monotonic()

    def silence() -> float:
        return time.monotonic() - max(begun, heard_at())

    scheduler.add(watching(relay, telegram, bot, people, silence, scheduler))
    running = [
        asyncio.create_task(taking, name="intake"),
        asyncio.create_task(worker.run(), name="worker"),
    ]
    if settings.web:
        running.append(asyncio.create_task(_show(relay, bot, silence, worker), name="web"))
    settling = asyncio.create_task(_settle(model, telegram, scheduler, people), name="settle")
    claiming = asyncio.create_task(_claim(relay, people, bot), name="claim")
    ended = asyncio.create_task(stopping.wait(), name="stopping")
    try:
        await asyncio.wait({*running, ended}, return_when=asyncio.FIRST_COMPLETED)
        for task in running:
            if task.done():
                task.result()
    finally:
        log.info("relay is stopping")
        running[0].cancel()
        settling.cancel()
        claiming.cancel()
        scheduler.stop()
        await worker.close(DRAIN_SECONDS)
        ended.cancel()
        for task in running:
            task.cancel()
        await asyncio.gather(*running, settling, claiming, ended, return_exceptions=True)
        close = getattr(model, "close", None)
        if close is not None:
            await close()


def taking_updates(
    relay: Relay, telegram: Telegram, worker: Worker, people: People
) -> tuple[Coroutine[Any, Any, None], Callable[[], float]]:
    """What takes updates until it is cancelled, by polls or where Telegram delivers them; and what tells when Telegram
    was heard of last (monotonic seconds; 0: not yet)."""
    from relay.bot.intake import Intake

    settings = relay.settings
    store = Store(relay.database, relay.worker_name)
    intake = Intake(store, telegram, worker, people)
    if settings.webhook_url:
        from relay.bot.webhook import Registration

        registration = Registration(telegram, settings.webhook_url, settings.webhook_token)
        return _listen(settings, intake, registration), lambda: registration.checked_at
    from relay.bot.polling import Polling

    polling = Polling(intake, telegram, store, relay.patient, worker.bot.id, worker.poll_lease)
    return polling.run(), lambda: polling.polled_at


async def _listen(settings: Settings, intake: Intake, registration: Registration) -> None:
    """Takes what Telegram delivers, and looks after its delivering it."""
    from relay.web.webhook import Webhook

    webhook = Webhook(settings.webhook_url, settings.webhook_token, intake.take)
    async with webhook.listening(settings.webhook_host, settings.webhook_port) as port:
        log.info("listening for Telegram", host=settings.webhook_host, port=port)
        await registration.run()


def jobs(relay: Relay, model: Model, telegram: Telegram, bot: Bot) -> list[Job]:
    """What is done beside answering."""
    from relay.archive.backup import Backup
    from relay.archive.nightly import Quiet, nightly
    from relay.jobs import Summariser, alone, summarise_due, tidy
    from relay.scheduler import Job
    from relay.titles import Titler, title_due

    settings, small_model = relay.settings, relay.settings.small_model
    summariser = Summariser(relay.memory, model, small_model, budget=relay.budget)
    titler = Titler(relay.memory, model, small_model, telegram, bot.id, relay.budget)
    backup = Backup(relay.database, Quiet(), version(), migrate.load().version, relay.storage)

    def once(name: str, work: Callable[[], Awaitable[object]]) -> Callable[[], Awaitable[object]]:
        """What one of several processes does a day."""
        return lambda: alone(relay.memory, name, work, DAILY_SECONDS)

    back_up = once("backup", lambda: nightly(backup, settings.backups, settings.backup_days))
    return [
        Job("summaries", lambda: summarise_due(summariser), minutes=3, soon=True),
        Job("titles", lambda: title_due(titler), minutes=3, soon=True),
        Job("tidy", once("tidy", lambda: tidy(relay.memory)), at=(3, 10)),
        *([Job("backup", back_up, at=(3, 30))] if settings.backup_days else []),
    ]


def watching(
    relay: Relay,
    telegram: Telegram,
    bot: Bot,
    people: People,
    silence: Callable[[], float],
    scheduler: Scheduler,
) -> Job:
    """The job that tells admins when something is wrong."""
    from relay.scheduler import Job
    from relay.sentinel import Sentinel

    settings = relay.settings
    sentinel = Sentinel(
        store=Store(relay.database, relay.worker_name),
        people=people,
        messenger=telegram,
        bot_id=bot.id,
        budget=relay.budget,
        folders=[settings.data_dir, settings.backups],
        silence=silence,
        outcomes=scheduler.outcomes,
    )
    return Job("sentinel", sentinel.look, minutes=1)


async def _claim(relay: Relay, people: People, bot: Bot) -> None:
    """Offers the bot to whoever comes first, while nobody runs it."""
    if people.admins:
        return
    from relay.bot import claim

    if await claim.offer(relay.memory, people, bot):
        await claim.expire(relay.memory, people)


async def _settle(model: Model, telegram: Telegram, scheduler: Scheduler, people: People) -> None:
    """What may happen after the first poll: the model's package, the jobs, the command menu."""
    from relay.bot.menu import register

    await asyncio.sleep(FIRST_POLL_SECONDS)
    warm = getattr(model, "warm", None)
    if warm is not None:
        await warm()
    scheduler.start()
    await register(telegram, people.admins, people.allowed - people.admins)


async def _show(relay: Relay, bot: Bot, silence: Callable[[], float], worker: Worker) -> None:
    """Tells over HTTP how this process is, until cancelled. Raises `SettingsError`."""
    await asyncio.sleep(FIRST_POLL_SECONDS)
    await asyncio.to_thread(importlib.import_module, "relay.web.show")
    from relay.web.health import Health, Process
    from relay.web.show import show

    process = Process(
        since_poll=silence,
        free=lambda: worker.free,
        running=lambda: len(worker.running),
        stopping=lambda: worker.closing,
    )
    health = Health(process, Store(relay.database, relay.worker_name), bot.id)
    await show(relay.settings, health, version())


async def _unless(stopping: asyncio.Event, work: Awaitable[T]) -> T | None:
    """What the work gives, or None when Relay was told to stop before it was done."""
    task = asyncio.ensure_future(work)
    ended = asyncio.ensure_future(stopping.wait())
    await asyncio.wait({task, ended}, return_when=asyncio.FIRST_COMPLETED)
    ended.cancel()
    if task.done():
        return task.result()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    return None


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
