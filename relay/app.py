"""The composition root: settings → clients → Relay; start, stop, signals."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, tzinfo
from importlib import metadata
from typing import TYPE_CHECKING, TypeVar
from zoneinfo import ZoneInfo

import structlog

from relay import migrate
from relay.errors import MessengerError, SchemaError, TokenRefused
from relay.memory.patience import Patient
from relay.memory.store import Store
from relay.ports import Database, Messenger, Model
from relay.settings import Settings
from relay.settings import load as load_settings
from relay.storage import made_ready, storage

if TYPE_CHECKING:
    from relay.bot.updates import Bot
    from relay.bot.worker import Worker
    from relay.clients.telegram import Telegram
    from relay.scheduler import Scheduler

log = structlog.get_logger()
T = TypeVar("T")

DRAIN_SECONDS = 20.0
"""How long running turns may take to end after SIGTERM."""


@dataclass(frozen=True, slots=True)
class Relay:
    """An open Relay: its state, and a store that waits for a database that is away."""

    settings: Settings
    database: Database
    patient: Patient
    memory: Store
    worker_name: str
    storage: str


def zone_of(settings: Settings) -> tzinfo:
    """The time zone of RELAY_TIMEZONE, else the machine's."""
    if settings.timezone:
        return ZoneInfo(settings.timezone)
    from tzlocal import get_localzone

    try:
        return get_localzone()
    except Exception:
        return UTC


def version() -> str:
    """Relay's own version."""
    try:
        return metadata.version("relay")
    except metadata.PackageNotFoundError:
        return "0"


@contextlib.asynccontextmanager
async def opened(settings: Settings, wait: bool = False) -> AsyncIterator[Relay]:
    """An open Relay with an up-to-date schema. `wait`: also for a Supabase that is away."""
    from relay.clients.instance import Instance

    instance = Instance(settings.data_dir)
    try:
        async with storage(settings) as stored:
            if await made_ready(stored, settings, wait):
                log.info("database migrated", version=migrate.load().version)
            if (await migrate.present(stored.database)).get("moving"):
                raise SchemaError(
                    "`relay move` into this database was interrupted: run it again, it goes on from there."
                )
            patient = Patient(stored.database, stored.repair)
            yield Relay(settings, stored.database, patient, Store(patient, instance.name), instance.name, stored.label)
    finally:
        instance.release()


@contextlib.asynccontextmanager
async def open(url: str = "") -> AsyncIterator[Relay]:
    """For scripts: an open Relay on a connection string, or (empty) on the settings of the environment."""
    settings = load_settings(**({"DATABASE_URL": url} if url else {}))
    async with opened(settings) as relay:
        yield relay


def make_model(settings: Settings) -> Model:
    """The model's client; it imports its package at first use."""
    from relay.clients.claude import Claude

    return Claude(settings.anthropic_api_key, settings.anthropic_base_url, settings.model_timeout)


def make_worker(
    relay: Relay,
    model: Model,
    messenger: Messenger,
    bot: Bot,
    admins: frozenset[int],
    on_summary: Callable[[], None],
) -> Worker:
    """A worker on an open Relay."""
    from relay.bot.groups import Groups
    from relay.bot.worker import Worker
    from relay.jobs import Summariser
    from relay.turn import Engine
    from relay.verbs.registry import House

    settings = relay.settings
    zone = zone_of(settings)
    house = House(
        store=relay.memory,
        messenger=messenger,
        summariser=Summariser(relay.memory, model, settings.small_model),
        zone=zone,
        version=version(),
        model=settings.model,
        small_model=settings.small_model,
        storage=relay.storage,
    )
    engine = Engine(relay.memory, model, settings.model, settings.max_tokens, zone, settings.web_search)
    return Worker(engine, messenger, bot, Groups(messenger), admins, settings.concurrency, house, on_summary)


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
    """Runs the bot until SIGTERM or SIGINT; a second one ends at once."""
    stopping = asyncio.Event()
    _on_signals(stopping)
    if not settings.allowed:
        log.warning(
            "nobody is configured: set RELAY_ADMINS to your Telegram user id (@userinfobot tells it); "
            "until then the bot answers nobody"
        )
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
    from relay.clients.telegram import Telegram

    return Telegram


async def _serve(relay: Relay, telegram: Telegram, bot: Bot, stopping: asyncio.Event) -> None:
    """Polls, works and schedules until `stopping` is set; then lets running turns end."""
    from relay.bot.intake import Intake
    from relay.jobs import Summariser
    from relay.scheduler import Scheduler
    from relay.titles import Titler

    settings = relay.settings
    model = make_model(settings)
    scheduler = Scheduler(
        Summariser(relay.memory, model, settings.small_model),
        Titler(relay.memory, model, settings.small_model, telegram, bot.id),
    )
    worker = make_worker(relay, model, telegram, bot, settings.admins, scheduler.write_soon)
    direct = Store(relay.database, relay.worker_name)
    intake = Intake(direct, relay.patient, telegram, worker, settings.allowed)
    freed = await relay.memory.release()
    log.info("relay is running", bot=bot.username, storage=relay.storage, taken_over=freed)
    polling = asyncio.create_task(intake.run(), name="intake")
    working = asyncio.create_task(worker.run(), name="worker")
    settling = asyncio.create_task(_settle(model, telegram, scheduler, settings), name="settle")
    ended = asyncio.create_task(stopping.wait(), name="stopping")
    try:
        await asyncio.wait({polling, working, ended}, return_when=asyncio.FIRST_COMPLETED)
        for task in (polling, working):
            if task.done():
                task.result()
    finally:
        log.info("relay is stopping")
        polling.cancel()
        settling.cancel()
        scheduler.stop()
        await worker.close(DRAIN_SECONDS)
        working.cancel()
        ended.cancel()
        await asyncio.gather(polling, working, settling, ended, return_exceptions=True)
        close = getattr(model, "close", None)
        if close is not None:
            await close()


async def _settle(model: Model, telegram: Telegram, scheduler: Scheduler, settings: Settings) -> None:
    """What may happen after the first poll: the model's package, the jobs, the command menu."""
    from relay.bot.menu import register

    await asyncio.sleep(0.05)
    warm = getattr(model, "warm", None)
    if warm is not None:
        await warm()
    scheduler.start()
    await register(telegram, settings.admins, settings.users - settings.admins)


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
