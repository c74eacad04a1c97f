"""What the running bot is made of: what takes updates, its jobs, its pages, the link that makes an owner."""

from __future__ import annotations

import asyncio
import gc
import importlib
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import structlog

from relay.core.ports import Messenger
from relay.core.program import read_version
from relay.core.settings import Settings
from relay.memory.indexing import DISTANT_SECONDS, LOOK_SECONDS, EmbedderRouter, Indexer, keep_fresh
from relay.memory.people import People
from relay.memory.store import Store
from relay.runtime.runtime import Runtime

if TYPE_CHECKING:
    from relay.jobs.clock.scheduler import Schedule, Scheduler
    from relay.surfaces.telegram.groups.connection import Connection
    from relay.surfaces.telegram.incoming.intake import Intake
    from relay.surfaces.telegram.incoming.webhook import Registration
    from relay.surfaces.telegram.parsing.updates import Bot
    from relay.surfaces.telegram.turns.worker import Worker

log = structlog.get_logger()

FIRST_POLL_SECONDS = 0.05
"""What is slow to import waits so long, until the first poll is on its way."""


@dataclass(frozen=True, slots=True)
class Signs:
    """What the parts of a bot wait for."""

    stored: asyncio.Event = field(default_factory=asyncio.Event)
    """A turn has stored something."""
    listening: asyncio.Event = field(default_factory=asyncio.Event)
    """Whatever has to listen for updates does."""
    shown: asyncio.Event = field(default_factory=asyncio.Event)
    """The pages are shown, or there are none."""


@dataclass(frozen=True, slots=True)
class UpdateSource:
    """Where updates come from: polls, or where Telegram delivers them."""

    run: Callable[[], Coroutine[Any, Any, None]]
    """Takes updates until it is cancelled."""
    silence: Callable[[], float]
    """For how many seconds Telegram was not heard of."""
    lost_polls: Callable[[], int]
    """How many polls another program has ended lately."""


def make_source(runtime: Runtime, messenger: Messenger, worker: Worker, listening: asyncio.Event) -> UpdateSource:
    """Where updates come from. `listening` is set once whatever has to listen for them does."""
    from relay.surfaces.telegram.incoming.intake import Intake

    settings = runtime.settings
    store = Store(runtime.database, runtime.worker_name)
    intake = Intake(store, messenger, worker, runtime.people)
    begun = time.monotonic()
    if settings.webhook_url:
        from relay.surfaces.telegram.incoming.webhook import Registration

        registration = Registration(messenger, settings.webhook_url, settings.webhook_token)
        return UpdateSource(
            lambda: _listen(settings, intake, registration, listening),
            lambda: time.monotonic() - max(begun, registration.heard_at),
            lambda: 0,
        )
    from relay.surfaces.telegram.incoming.polling import Polling

    listening.set()
    polling = Polling(intake, messenger, store, runtime.retrying, worker.bot.id, worker.poll_lease)
    return UpdateSource(polling.run, lambda: time.monotonic() - max(begun, polling.polled_at), polling.lost)


async def _listen(settings: Settings, intake: Intake, registration: Registration, stands: asyncio.Event) -> None:
    """Takes what Telegram delivers, and looks after its delivering it."""
    from relay.surfaces.http.webhook import Webhook

    webhook = Webhook(settings.webhook_url, settings.webhook_token, registration.hearing(intake.take))
    async with webhook.listening(settings.webhook_host, settings.webhook_port) as port:
        log.info("listening for Telegram", host=settings.webhook_host, port=port)
        stands.set()
        await registration.run()


def make_alerts_job(runtime: Runtime, connection: Connection, source: UpdateSource, scheduler: Scheduler) -> Schedule:
    """The job that tells admins when something is wrong."""
    from relay.jobs.alerts import Sentinel
    from relay.jobs.clock.scheduler import Schedule

    settings = runtime.settings
    sentinel = Sentinel(
        store=Store(runtime.database, runtime.worker_name),
        people=runtime.people,
        messenger=connection.messenger,
        bot_id=connection.bot.id,
        budget=runtime.budget,
        folders=[settings.data_dir, settings.backups],
        silence=source.silence,
        lost_polls=source.lost_polls,
        outcomes=scheduler.outcomes,
    )
    return Schedule("sentinel", sentinel.look, minutes=1)


async def settle_in(messenger: Messenger, scheduler: Scheduler, people: People) -> None:
    """What may happen after the first poll: the jobs, the command menu."""
    from relay.surfaces.telegram.outgoing.menu import register

    await asyncio.sleep(FIRST_POLL_SECONDS)
    # What was imported stays: the garbage collector, which would hold the loop up, looks through it no more. It doesn't
    # do so once before either: that would take 70 ms and free twenty objects.
    gc.freeze()
    scheduler.start()
    await register(messenger, people.admins, people.allowed - people.admins)


def make_waker(scheduler: Scheduler, stored: asyncio.Event) -> Callable[[Sequence[str]], None]:
    """What a turn calls with the names of the jobs that have something to do since."""

    def soon(owed: Sequence[str]) -> None:
        scheduler.run_soon(owed)
        stored.set()

    return soon


async def run_indexer(runtime: Runtime, embedder: EmbedderRouter, woken: asyncio.Event, worker: Worker) -> None:
    """Keeps the index that finds by meaning fresh while the worker has nothing to answer, until cancelled. `woken`: a
    turn has stored something."""
    await asyncio.sleep(FIRST_POLL_SECONDS)
    await embedder.preload()
    indexer = Indexer(runtime.store, embedder, answering=lambda: worker.answering)
    await keep_fresh(indexer, woken, DISTANT_SECONDS if runtime.settings.supabase_url else LOOK_SECONDS)


async def run_http(runtime: Runtime, bot: Bot, source: UpdateSource, worker: Worker, shown: asyncio.Event) -> None:
    """Tells over HTTP how this process is, until cancelled. Sets `shown` once it does. Raises `SettingsError`."""
    await asyncio.sleep(FIRST_POLL_SECONDS)
    await asyncio.to_thread(importlib.import_module, "relay.surfaces.http.show")
    from relay.surfaces.http.health import Health, Process
    from relay.surfaces.http.show import show

    process = Process(
        silence=source.silence,
        free=lambda: worker.free,
        running=lambda: len(worker.running),
        stopping=lambda: worker.closing,
    )
    health = Health(process, Store(runtime.database, runtime.worker_name), bot.id)
    await show(runtime.settings, health, read_version(), shown)


async def offer_claim(runtime: Runtime, bot: Bot, *stand: asyncio.Event) -> None:
    """Offers the bot to whoever comes first, while nobody runs it; not before everything stands that might not."""
    people = runtime.people
    if people.admins:
        return
    for one in stand:
        await one.wait()
    from relay.surfaces.telegram.groups import claim

    if await claim.offer(runtime.store, people, bot):
        await claim.expire(runtime.store, people)
