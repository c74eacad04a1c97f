"""The composition root. It makes an open Relay from the settings and closes it at the end."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, tzinfo
from functools import cached_property, partial
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import structlog

from relay.core.errors import SchemaError
from relay.core.ports import Database, Embedder, Model
from relay.core.program import RELAY, read_version
from relay.core.redaction import patterns, redact
from relay.core.settings import Settings
from relay.core.settings import load as load_settings
from relay.core.spending.prices import load as load_prices
from relay.memory import migrations
from relay.memory.spending.budget import Budget
from relay.runtime.clients import Clients, open_clients
from relay.runtime.storage import Storage, open_storage, prepare_schema

if TYPE_CHECKING:
    from relay.archive.backup import Backup
    from relay.archive.nightly import ErasureCleanup
    from relay.archive.transfer import Watcher
    from relay.memory.api import Memory
    from relay.memory.people import People
    from relay.memory.proactive.looking import Lookout
    from relay.memory.retrying_database import RetryingDatabase
    from relay.memory.review.judging import Judge
    from relay.memory.spending.gate import Gate
    from relay.memory.store import Store
    from relay.memory.writing.compressor import Compressor
    from relay.memory.writing.summaries import Summariser

log = structlog.get_logger()


@dataclass(frozen=True, eq=False)
class Runtime:
    """An open Relay. Its parts are made, and their modules imported, when they are first used."""

    clients: Clients
    storage: Storage
    worker_name: str
    budget: Budget
    stand_in: Model | None = None
    """A model to use in place of Claude."""

    @property
    def settings(self) -> Settings:
        return self.clients.settings

    @property
    def offline(self) -> bool:
        """Whether a stand-in answers in place of Claude."""
        return self.stand_in is not None

    @property
    def database(self) -> Database:
        """The database, which raises errors at once."""
        return self.storage.database

    @cached_property
    def retrying(self) -> RetryingDatabase:
        """The database with retries: while it is unreachable, calls wait for it."""
        from relay.memory.retrying_database import RetryingDatabase

        return RetryingDatabase(self.storage.database, self.storage.repair)

    @cached_property
    def store(self) -> Store:
        """The store, on the database with retries."""
        from relay.memory.store import Store

        return Store(self.retrying, self.worker_name, self.settings.result_cache)

    @cached_property
    def people(self) -> People:
        """The people who may use the bot: those in the settings, until `People.refresh` adds those in the database."""
        from relay.memory.people import People

        return People(self.settings.admins, self.settings.users, self.settings.pairing)

    @cached_property
    def memory(self) -> Memory:
        """The memory engine, for scripts."""
        from relay.memory.api import Memory

        return Memory(self.store, self.settings.admins, self.clients.embedder)

    @cached_property
    def gate(self) -> Gate:
        """The only way to a model."""
        from relay.memory.spending.gate import Gate

        return Gate(self.stand_in or self.clients.claude, self.store, self.budget)

    @cached_property
    def background_gate(self) -> Gate:
        """The gate for background work."""
        return self.gate.limit(self.settings.background_concurrency)

    @cached_property
    def backup(self) -> Backup:
        """Makes backups without showing progress."""
        from relay.archive.nightly import LogWatcher

        return make_backup(self.storage, LogWatcher())

    @cached_property
    def erasure_cleanup(self) -> ErasureCleanup:
        """Removes what remains of erased texts outside of the tables."""
        from relay.archive.nightly import ErasureCleanup

        return ErasureCleanup(self.backup, self.settings.backups, self.settings.backup_days, self.clients.media_store)

    def make_summariser(self, gate: Gate) -> Summariser:
        """Returns what writes owed summaries."""
        from relay.memory.writing.summaries import Summariser

        return Summariser(self.store, gate, self.settings.small_model, zone=self.budget.zone)

    def make_lookout(self, gate: Gate) -> Lookout:
        """Returns what does the checks that people asked for and decides whether there is something to say."""
        from relay.conversation.tools.looking import look_tools
        from relay.memory.proactive.looking import Limits, Lookout

        settings = self.settings
        limits = Limits(settings.idle_days, settings.proactive_budget, self.budget.prices)
        tools = partial(look_tools, self.store, self.clients.embedder, settings.web_search)
        return Lookout(
            self.store, gate, settings.small_model, settings.model, limits, lambda: self.people.allowed, tools
        )

    def make_compressor(self, gate: Gate) -> Compressor:
        """Returns what makes owed versions."""
        from relay.memory.writing.compressor import Compressor

        return Compressor(self.store, gate, self.settings.small_model, self.settings.model)

    def make_judge(
        self, gate: Gate, embedder: Embedder | None = None, tell: Callable[[], Awaitable[object]] | None = None
    ) -> Judge:
        """Returns what finds out what is worth keeping. `tell` is called whenever something was kept."""
        from relay.memory.review.judging import Judge, notify_nobody

        settings = self.settings
        return Judge(
            self.store,
            gate,
            settings.small_model,
            capture=settings.capture,
            at_once=settings.background_concurrency,
            zone=self.budget.zone,
            embedder=embedder,
            tell=tell or notify_nobody,
        )

    async def find_owner(self) -> int:
        """Returns the person whose memory this machine's commands are about: the first admin; 1 if there is none
        yet."""
        await self.people.refresh(self.store)
        return self.people.owner


@contextlib.asynccontextmanager
async def open_runtime(settings: Settings, wait: bool = False, model: Model | None = None) -> AsyncIterator[Runtime]:
    """Opens a Relay with an up-to-date schema. `wait`: also wait for an unreachable Supabase. `model`: answers in place
    of Claude. Raises `SettingsError`."""
    from relay.clients.embedded.instance import Instance

    budget = load_budget(settings)
    redact.use_patterns(patterns.load(settings.redact))
    instance = Instance(settings.data_dir)
    try:
        async with open_storage(settings) as storage:
            if await prepare_schema(storage, settings, wait):
                log.info("database migrated", version=migrations.load().version)
            if (await migrations.present(storage.database)).moving:
                raise SchemaError(
                    f"A `{RELAY} move` or `restore` into this database is under way, or was interrupted. Wait for it, "
                    "or run it again; if it was killed, wait a minute first."
                )
            async with open_clients(settings) as clients:
                yield Runtime(clients, storage, instance.name, budget, model)
    finally:
        instance.release()


@contextlib.asynccontextmanager
async def open(url: str = "") -> AsyncIterator[Runtime]:
    """Opens a Relay for scripts, with a connection string or (if empty) the settings of the environment. Scripts use
    its `memory`; a bot may run at the same time. Raises `RelayError` and the database's errors."""
    settings = load_settings(**({"DATABASE_URL": url} if url else {}))
    async with open_runtime(settings) as runtime:
        yield runtime


def make_backup(storage: Storage, watcher: Watcher) -> Backup:
    """Returns what makes backups of an open database. `watcher` gets the progress."""
    from relay.archive.backup import Backup

    return Backup(storage.database, watcher, read_version(), migrations.load().version, storage.label)


def load_budget(settings: Settings) -> Budget:
    """Returns the daily budget, with the prices by which use is counted.

    Raises `SettingsError` for an invalid price file, and if a budget needs the price of a model and it is unknown.
    """
    prices = load_prices(settings.prices)
    budget = Budget(settings.daily_budget, settings.daily_budget_each, prices, find_time_zone(settings))
    budget.check(RELAY_MODEL=settings.model, RELAY_SMALL_MODEL=settings.small_model)
    return budget


def find_time_zone(settings: Settings) -> tzinfo:
    """Returns the time zone of RELAY_TIMEZONE, or else the machine's."""
    if settings.timezone:
        return ZoneInfo(settings.timezone)
    from tzlocal import get_localzone

    try:
        return get_localzone()
    except Exception:
        return UTC
