"""The composition root: settings → clients → Relay."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, tzinfo
from importlib import metadata
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import structlog

from relay import migrate
from relay.budget import Budget
from relay.clients.speakers import speakers
from relay.embedders import finding
from relay.errors import SchemaError
from relay.gate import Gate
from relay.hearing.installed import chosen
from relay.memory import patterns, redact
from relay.memory.direct import Memory
from relay.memory.patience import Patient
from relay.memory.people import People
from relay.memory.store import Store
from relay.ports import Database, Ears, Embedder, Keeper, Messenger, Model, Opener, Voice
from relay.prices import load as load_prices
from relay.program import RELAY
from relay.settings import Settings
from relay.settings import load as load_settings
from relay.storage import made_ready, storage

if TYPE_CHECKING:
    from relay.archive.leftovers import Leftovers
    from relay.bot.updates import Bot
    from relay.bot.worker import Worker
    from relay.capture.judging import Judge
    from relay.clients.claude import Claude
    from relay.clients.ears import WhisperEars
    from relay.jobs import Summariser
    from relay.media.reading import Reader
    from relay.media.shelf import Shelf
    from relay.verbs.registry import Told

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Relay:
    """An open Relay: its state, in a store that waits for a database that is away."""

    settings: Settings
    database: Database
    patient: Patient
    store: Store
    memory: Memory
    """The same for scripts."""
    worker_name: str
    storage: str
    budget: Budget


def zone_of(settings: Settings) -> tzinfo:
    """The time zone of RELAY_TIMEZONE, else the machine's."""
    if settings.timezone:
        return ZoneInfo(settings.timezone)
    from tzlocal import get_localzone

    try:
        return get_localzone()
    except Exception:
        return UTC


def budget_of(settings: Settings) -> Budget:
    """What may be spent on a day, with the prices it is counted by.

    Raises `SettingsError` for a price file that does not fit, and for a model whose price a budget needs and lacks.
    """
    prices = load_prices(settings.prices)
    budget = Budget(settings.daily_budget, settings.daily_budget_each, prices, zone_of(settings))
    budget.check(RELAY_MODEL=settings.model, RELAY_SMALL_MODEL=settings.small_model)
    return budget


def version() -> str:
    """Relay's own version."""
    try:
        return metadata.version("relay")
    except metadata.PackageNotFoundError:
        return "0"


@contextlib.asynccontextmanager
async def opened(settings: Settings, wait: bool = False, embedder: Embedder | None = None) -> AsyncIterator[Relay]:
    """An open Relay with an up-to-date schema. `wait`: also for a Supabase that is away. `embedder`: what its `memory`
    finds by meaning with. Raises `SettingsError`."""
    from relay.clients.instance import Instance

    budget = budget_of(settings)
    redact.also(patterns.load(settings.redact))
    instance = Instance(settings.data_dir)
    try:
        async with storage(settings) as stored:
            if await made_ready(stored, settings, wait):
                log.info("database migrated", version=migrate.load().version)
            if (await migrate.present(stored.database)).get("moving"):
                raise SchemaError(f"A `{RELAY} move` or `restore` into this database was interrupted: run it again.")
            patient = Patient(stored.database, stored.repair)
            store = Store(patient, instance.name)
            memory = Memory(store, settings.admins, embedder)
            yield Relay(settings, stored.database, patient, store, memory, instance.name, stored.label, budget)
    finally:
        instance.release()


@contextlib.asynccontextmanager
async def open(url: str = "") -> AsyncIterator[Relay]:
    """For scripts: an open Relay on a connection string, or (empty) on the settings of the environment. Its `memory` is
    what they use; a bot may run beside it. Raises `RelayError`, and what the database raises."""
    settings = load_settings(**({"DATABASE_URL": url} if url else {}))
    async with finding(settings) as embedder, opened(settings, embedder=embedder) as relay:
        yield relay


def make_model(settings: Settings) -> Claude:
    """The model's client, to be closed; it imports its package at first use."""
    from relay.clients.claude import Claude

    return Claude(settings.anthropic_api_key, settings.anthropic_base_url, settings.model_timeout)


def make_gate(relay: Relay, model: Model) -> Gate:
    """The one way to a model, for everything that asks it: one for a process."""
    return Gate(model, relay.store, relay.budget)


@contextlib.asynccontextmanager
async def thinking(relay: Relay) -> AsyncIterator[Gate]:
    """The way to the model, which is closed at the end."""
    model = make_model(relay.settings)
    try:
        yield make_gate(relay, model)
    finally:
        await model.close()


def make_summariser(relay: Relay, gate: Gate) -> Summariser:
    """What writes the summaries that are owed."""
    from relay.jobs import Summariser

    settings = relay.settings
    return Summariser(relay.store, gate, settings.small_model, results=settings.result_cache)


def make_judge(
    relay: Relay,
    gate: Gate,
    embedder: Embedder | None = None,
    tell: Callable[[], Awaitable[object]] | None = None,
) -> Judge:
    """What notices what is worth keeping. `tell` is called whenever something was kept."""
    from relay.capture.judging import Judge, nobody

    settings = relay.settings
    return Judge(
        relay.store, gate, settings.small_model, settings.capture, settings.background_concurrency,
        relay.budget.zone, embedder, tell or nobody,
    )  # fmt: skip


def make_ears(settings: Settings) -> WhisperEars:
    """What hears recordings, in a process of its own that starts at first use."""
    from relay.clients.ears import WhisperEars

    return WhisperEars(
        settings.speech_to_text,
        settings.whisper_model,
        settings.speech_language,
        settings.max_minutes,
        settings.data_dir / "models",
    )


def make_worker(
    relay: Relay,
    gate: Gate,
    messenger: Messenger,
    bot: Bot,
    people: People,
    on_owed: Callable[[Sequence[str]], None],
    ears: Ears | None = None,
    voice: Voice | None = None,
    opener: Opener | None = None,
    embedder: Embedder | None = None,
    on_told: Callable[[Told], None] | None = None,
) -> Worker:
    """A worker on an open Relay. `ears` hear recordings, `voice` says answers aloud, `embedder` finds by meaning; None:
    nothing does. `opener`: see `make_reader`. `on_told` is given what commands answer."""
    from relay.bot.groups import Groups
    from relay.bot.worker import Worker
    from relay.turn import Engine
    from relay.verbs.registry import House

    settings = relay.settings
    zone, budget = relay.budget.zone, relay.budget
    house = House(
        store=relay.store,
        people=people,
        messenger=messenger,
        summariser=make_summariser(relay, gate),
        zone=zone,
        version=version(),
        model=settings.model,
        small_model=settings.small_model,
        storage=relay.storage,
        budget=budget,
        web_search=settings.web_search,
        hears=chosen(settings.speech_to_text) or "",
        speaks=next(iter(speakers(settings)), ""),
        leftovers=make_leftovers(relay),
        scratch=settings.data_dir,
        embedder=embedder,
        capture=settings.capture,
        on_told=on_told,
    )
    reader, shelf = make_reader(settings, messenger, ears, opener)
    engine = Engine(
        relay.store, gate, settings.model, settings.max_tokens, zone, settings.web_search, shelf,
        settings.memory_tokens, settings.capture, embedder,
    )  # fmt: skip
    return Worker(
        engine, messenger, bot, Groups(messenger, bot.id), settings.concurrency, house, on_owed, reader,
        settings.voice_echo, voice,
    )  # fmt: skip


def make_leftovers(relay: Relay) -> Leftovers:
    """What stays of erased texts outside of the tables."""
    from relay.archive.backup import Backup
    from relay.archive.leftovers import Leftovers
    from relay.archive.nightly import Quiet

    backup = Backup(relay.database, Quiet(), version(), migrate.load().version, relay.storage)
    return Leftovers(backup, relay.settings.backups, relay.settings.backup_days, make_remover(relay.settings))


def make_opener() -> Opener:
    """What opens files, a few at a time: one for everything that does."""
    from relay.clients.opener import Opener

    return Opener()


def make_reader(
    settings: Settings, messenger: Messenger, ears: Ears | None = None, opener: Opener | None = None
) -> tuple[Reader, Shelf]:
    """What reads the files that people send, and what shows them to the model again. `ears`: None where nothing is
    installed that hears; `opener`: None for one of its own."""
    from relay.media.documents import Documents
    from relay.media.files import HEARD, Files
    from relay.media.pictures import Pictures
    from relay.media.prepared import new_cache
    from relay.media.reading import Reader
    from relay.media.shelf import Shelf
    from relay.media.sounds import Sounds

    most, keeper = settings.max_file * 2**20, make_keeper(settings)
    files, opener, cache = Files(messenger, most, keeper), opener or make_opener(), new_cache()
    pictures = Pictures(files, opener, settings.max_megapixels * 1_000_000, cache)
    sounds = Sounds(Files(messenger, most, keeper, HEARD), pictures, ears, settings.max_minutes)
    reader = Reader(sounds, pictures, Documents(files, opener, sounds, pictures, settings.max_pages, cache))
    return reader, Shelf(pictures, files, cache)


def make_keeper(settings: Settings) -> Keeper | None:
    """Where the files that people send are kept, if that is wanted."""
    return make_remover(settings) if settings.keep_media else None


def make_remover(settings: Settings) -> Keeper:
    """Where kept files may be, with the state or beside it; some are left of before where no more are kept."""
    if settings.supabase_url:
        from relay.clients.bucket import Bucket

        return Bucket(settings.supabase_url, settings.supabase_service_role_key)
    from relay.clients.kept_files import KeptFiles

    return KeptFiles(settings.data_dir / "media")
