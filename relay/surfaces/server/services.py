"""Parts of the running bot: the source of updates, alerts, the indexer and the claim link."""

from __future__ import annotations

import asyncio
import gc
import importlib
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any

import structlog

from relay.core.frozen import frozen
from relay.core.ports import Messenger
from relay.core.settings import Settings
from relay.memory.index import DISTANT_SECONDS, LOOK_SECONDS, EmbedderRouter, Indexer, keep_fresh
from relay.memory.people import People
from relay.memory.store import Store
from relay.runtime.runtime import Runtime

if TYPE_CHECKING:
    from relay.jobs.clock.scheduler import Schedule, Scheduler
    from relay.surfaces.telegram.groups.groups import Connection
    from relay.surfaces.telegram.incoming.intake import Intake
    from relay.surfaces.telegram.incoming.webhook import Registration
    from relay.surfaces.telegram.parsing.updates import Bot
    from relay.surfaces.telegram.turns.worker import Worker

log = structlog.get_logger()

FIRST_POLL_SECONDS = 0.05
"""How long slow imports wait, so that the first poll is sent before them."""


@frozen
class ServerEvents:
    """Events that parts of the bot wait for."""

    stored: asyncio.Event = field(default_factory=asyncio.Event)
    """A turn has stored something."""
    listening: asyncio.Event = field(default_factory=asyncio.Event)
    """Updates can arrive: the webhook listens, or the bot polls."""
    shown: asyncio.Event = field(default_factory=asyncio.Event)
    """The pages are served, or there are none."""


@frozen
class UpdateSource:
    """The source of updates: polling or the webhook."""

    run: Callable[[], Coroutine[Any, Any, None]]
    """Takes updates until cancelled."""
    silence: Callable[[], float]
    """Returns the seconds since Telegram last answered or delivered."""
    lost_polls: Callable[[], int]
    """Returns how many polls were recently lost to another program."""


def make_source(runtime: Runtime, messenger: Messenger, worker: Worker, listening: asyncio.Event) -> UpdateSource:
    """Makes the source of updates. `listening` is set once updates can arrive."""
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
    return UpdateSource(polling.run, lambda: time.monotonic() - max(begun, polling.polled_at), polling.count_lost)


async def _listen(settings: Settings, intake: Intake, registration: Registration, listening: asyncio.Event) -> None:
    """Receives Telegram's deliveries, and keeps the webhook registered. Sets `listening` once it does."""
    await asyncio.to_thread(importlib.import_module, "relay.surfaces.http.webhook")
    from relay.surfaces.http.webhook import Webhook

    webhook = Webhook(settings.webhook_url, settings.webhook_token, registration.wrap(intake.take))
    async with webhook.listen(settings.webhook_host, settings.webhook_port) as port:
        log.info("listening for Telegram", host=settings.webhook_host, port=port)
        listening.set()
        await registration.run()


def make_alerts_job(runtime: Runtime, connection: Connection, source: UpdateSource, scheduler: Scheduler) -> Schedule:
    """Returns the job that alerts admins when something is wrong."""
    from relay.jobs.clock.scheduler import Schedule
    from relay.jobs.watch.alerts import AlertMonitor

    settings = runtime.settings
    monitor = AlertMonitor(
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
    return Schedule("alerts", monitor.look, minutes=1)


async def settle_in(messenger: Messenger, scheduler: Scheduler, people: People, web_url: str) -> None:
    """Does what can wait until after the first poll: starts the jobs and registers the command menu."""
    from relay.surfaces.telegram.outgoing.menu import register

    await asyncio.sleep(FIRST_POLL_SECONDS)
    # Imported objects stay, so the garbage collector, which blocks the event loop, need not check them again. No
    # collection runs before that either: it would take 70 ms and free twenty objects.
    gc.freeze()
    scheduler.start()
    await register(messenger, people.admins, people.allowed - people.admins, web_url)


def make_waker(scheduler: Scheduler, stored: asyncio.Event) -> Callable[[Sequence[str]], None]:
    """Returns the function that turns call with the names of the jobs that they have made due."""

    def soon(owed: Sequence[str]) -> None:
        scheduler.run_soon(owed)
        stored.set()

    return soon


async def run_indexer(runtime: Runtime, embedder: EmbedderRouter, woken: asyncio.Event, worker: Worker) -> None:
    """Keeps the vector index up to date while the worker has nothing to answer, until cancelled. `woken` is set when a
    turn has stored something."""
    await asyncio.sleep(FIRST_POLL_SECONDS)
    await embedder.preload()
    indexer = Indexer(runtime.store, embedder, answering=lambda: worker.answering)
    await keep_fresh(indexer, woken, DISTANT_SECONDS if runtime.settings.supabase_url else LOOK_SECONDS)


async def offer_claim(runtime: Runtime, bot: Bot, *ready: asyncio.Event) -> None:
    """Offers a claim link if the bot has no admin. First waits for the events in `ready`, so that the bot works."""
    people = runtime.people
    if people.admins:
        return
    for one in ready:
        await one.wait()
    from relay.surfaces.telegram.groups import claim

    if await claim.offer(runtime.store, people, bot):
        await claim.expire(runtime.store, people)
