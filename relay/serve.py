"""The running bot: what it starts, and how it stops."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Awaitable
from typing import TYPE_CHECKING, TypeVar

import structlog

from relay.app import Relay, make_model, make_worker, opened
from relay.errors import MessengerError, TokenRefused
from relay.memory.people import People
from relay.memory.store import Store
from relay.ports import Model
from relay.settings import Settings

if TYPE_CHECKING:
    from relay.bot.updates import Bot
    from relay.clients.telegram import Telegram
    from relay.scheduler import Job, Scheduler

log = structlog.get_logger()
T = TypeVar("T")

DRAIN_SECONDS = 20.0
"""How long running turns may take to end after SIGTERM."""


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
    from relay.scheduler import Scheduler

    settings = relay.settings
    model = make_model(settings)
    people = People(settings.admins, settings.users, settings.pairing)
    await people.refresh(relay.memory)
    scheduler = Scheduler(jobs(relay, model, telegram, bot))
    worker = make_worker(relay, model, telegram, bot, people, scheduler.write_soon)
    intake = Intake(Store(relay.database, relay.worker_name), relay.patient, telegram, worker, people)
    freed = await relay.memory.release()
    log.info("relay is running", bot=bot.username, storage=relay.storage, taken_over=freed)
    running = [
        asyncio.create_task(intake.run(), name="intake"),
        asyncio.create_task(worker.run(), name="worker"),
    ]
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
        polling, *_ = running
        polling.cancel()
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


def jobs(relay: Relay, model: Model, telegram: Telegram, bot: Bot) -> list[Job]:
    """What is done beside answering."""
    from relay.jobs import Summariser, summarise_due, tidy
    from relay.scheduler import Job
    from relay.titles import Titler, title_due

    small_model = relay.settings.small_model
    summariser = Summariser(relay.memory, model, small_model)
    titler = Titler(relay.memory, model, small_model, telegram, bot.id)
    return [
        Job("summaries", lambda: summarise_due(summariser), minutes=3, soon=True),
        Job("titles", lambda: title_due(titler), minutes=3, soon=True),
        Job("tidy", lambda: tidy(relay.memory), at=(3, 10)),
    ]


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

    await asyncio.sleep(0.05)
    warm = getattr(model, "warm", None)
    if warm is not None:
        await warm()
    scheduler.start()
    await register(telegram, people.admins, people.allowed - people.admins)


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
