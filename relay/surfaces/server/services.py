"""What the running bot is made of: what takes updates, its jobs, its pages, the link that makes an owner."""

from __future__ import annotations

import asyncio
import gc
import importlib
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import TYPE_CHECKING, Any

import structlog

from relay.core.settings import Settings
from relay.memory.indexing import DISTANT_SECONDS, LOOK_SECONDS, EmbedderRouter, Indexer, keep_fresh
from relay.memory.people import People
from relay.memory.store import Store
from relay.runtime.app import Relay, read_version

if TYPE_CHECKING:
    from relay.clients.telegram.client import Telegram
    from relay.jobs.scheduler import Schedule, Scheduler
    from relay.surfaces.telegram.incoming.intake import Intake
    from relay.surfaces.telegram.incoming.webhook import Registration
    from relay.surfaces.telegram.parsing.updates import Bot
    from relay.surfaces.telegram.turns.worker import Worker

log = structlog.get_logger()

FIRST_POLL_SECONDS = 0.05
"""What is slow to import waits so long, until the first poll is on its way."""


def start_intake(
    relay: Relay, telegram: Telegram, worker: Worker, people: People, stands: asyncio.Event
) -> tuple[Coroutine[Any, Any, None], Callable[[], float], Callable[[], int]]:
    """What takes updates until it is cancelled, by polls or where Telegram delivers them; what tells for how many
    seconds Telegram was not heard of; and what tells how many polls another program has ended lately. `stands` is set
    once whatever has to listen for that does."""
    from relay.surfaces.telegram.incoming.intake import Intake

    settings = relay.settings
    store = Store(relay.database, relay.worker_name)
    intake = Intake(store, telegram, worker, people)
    begun = time.monotonic()
    if settings.webhook_url:
        from relay.surfaces.telegram.incoming.webhook import Registration

        registration = Registration(telegram, settings.webhook_url, settings.webhook_token)
        taking = _listen(settings, intake, registration, stands)
        return taking, lambda: time.monotonic() - max(begun, registration.heard_at), lambda: 0
    from relay.surfaces.telegram.incoming.polling import Polling

    stands.set()
    polling = Polling(intake, telegram, store, relay.patient, worker.bot.id, worker.poll_lease)
    return polling.run(), lambda: time.monotonic() - max(begun, polling.polled_at), polling.lost


async def _listen(settings: Settings, intake: Intake, registration: Registration, stands: asyncio.Event) -> None:
    """Takes what Telegram delivers, and looks after its delivering it."""
    from relay.surfaces.http.webhook import Webhook

    webhook = Webhook(settings.webhook_url, settings.webhook_token, registration.hearing(intake.take))
    async with webhook.listening(settings.webhook_host, settings.webhook_port) as port:
        log.info("listening for Telegram", host=settings.webhook_host, port=port)
        stands.set()
        await registration.run()


def make_alerts_job(
    relay: Relay,
    telegram: Telegram,
    bot: Bot,
    people: People,
    silence: Callable[[], float],
    lost_polls: Callable[[], int],
    scheduler: Scheduler,
) -> Schedule:
    """The job that tells admins when something is wrong."""
    from relay.jobs.alerts import Sentinel
    from relay.jobs.scheduler import Schedule

    settings = relay.settings
    sentinel = Sentinel(
        store=Store(relay.database, relay.worker_name),
        people=people,
        messenger=telegram,
        bot_id=bot.id,
        budget=relay.budget,
        folders=[settings.data_dir, settings.backups],
        silence=silence,
        lost_polls=lost_polls,
        outcomes=scheduler.outcomes,
    )
    return Schedule("sentinel", sentinel.look, minutes=1)


async def settle_in(telegram: Telegram, scheduler: Scheduler, people: People) -> None:
    """What may happen after the first poll: the jobs, the command menu."""
    from relay.surfaces.telegram.outgoing.menu import register

    await asyncio.sleep(FIRST_POLL_SECONDS)
    # What was imported stays: the garbage collector, which would hold the loop up, looks through it no more. It doesn't
    # do so once before either: that would take 70 ms and free twenty objects.
    gc.freeze()
    scheduler.start()
    await register(telegram, people.admins, people.allowed - people.admins)


def make_waker(scheduler: Scheduler, stored: asyncio.Event) -> Callable[[Sequence[str]], None]:
    """What a turn calls with the names of the jobs that have something to do since."""

    def soon(owed: Sequence[str]) -> None:
        scheduler.run_soon(owed)
        stored.set()

    return soon


async def run_indexer(relay: Relay, embedder: EmbedderRouter, woken: asyncio.Event, worker: Worker) -> None:
    """Keeps the index that finds by meaning fresh while the worker has nothing to answer, until cancelled. `woken`: a
    turn has stored something."""
    await asyncio.sleep(FIRST_POLL_SECONDS)
    await embedder.preload()
    indexer = Indexer(relay.store, embedder, answering=lambda: worker.answering)
    await keep_fresh(indexer, woken, DISTANT_SECONDS if relay.settings.supabase_url else LOOK_SECONDS)


async def run_http(relay: Relay, bot: Bot, silence: Callable[[], float], worker: Worker, stands: asyncio.Event) -> None:
    """Tells over HTTP how this process is, until cancelled. Sets `stands` once it does. Raises `SettingsError`."""
    await asyncio.sleep(FIRST_POLL_SECONDS)
    await asyncio.to_thread(importlib.import_module, "relay.surfaces.http.show")
    from relay.surfaces.http.health import Health, Process
    from relay.surfaces.http.show import show

    process = Process(
        silence=silence,
        free=lambda: worker.free,
        running=lambda: len(worker.running),
        stopping=lambda: worker.closing,
    )
    health = Health(process, Store(relay.database, relay.worker_name), bot.id)
    await show(relay.settings, health, read_version(), stands)


async def offer_claim(relay: Relay, people: People, bot: Bot, *stand: asyncio.Event) -> None:
    """Offers the bot to whoever comes first, while nobody runs it; not before everything stands that might not."""
    if people.admins:
        return
    for one in stand:
        await one.wait()
    from relay.surfaces.telegram.groups import claim

    if await claim.offer(relay.store, people, bot):
        await claim.expire(relay.store, people)
