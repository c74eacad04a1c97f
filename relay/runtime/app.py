"""The composition root: settings → clients → Relay."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, tzinfo
from importlib import metadata
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import structlog

from relay.core.errors import SchemaError
from relay.core.ports import Database, Embedder, FileExtractor, MediaStore, Messenger, Model, SpeechToText
from relay.core.prices import load as load_prices
from relay.core.program import RELAY
from relay.core.redaction import patterns, redact
from relay.core.settings import Settings
from relay.core.settings import load as load_settings
from relay.memory import migrations
from relay.memory.api import Memory
from relay.memory.retrying_database import RetryingDatabase
from relay.memory.spending.budget import Budget
from relay.memory.spending.gate import Gate
from relay.memory.store import Store
from relay.runtime.embedder_router import open_embedder
from relay.runtime.storage import open_storage, prepare_schema

if TYPE_CHECKING:
    from relay.archive.backup_purge import Leftovers
    from relay.clients.anthropic.client import Claude
    from relay.clients.speech.speech_to_text import Whisper
    from relay.media.media_context import MediaContext
    from relay.media.reading import Reader
    from relay.memory.review.judging import Judge
    from relay.memory.writing.summaries import Summariser

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Relay:
    """An open Relay: its state, in a store that waits for a database that is away."""

    settings: Settings
    database: Database
    patient: RetryingDatabase
    store: Store
    memory: Memory
    """The same for scripts."""
    worker_name: str
    storage: str
    budget: Budget


def find_time_zone(settings: Settings) -> tzinfo:
    """The time zone of RELAY_TIMEZONE, else the machine's."""
    if settings.timezone:
        return ZoneInfo(settings.timezone)
    from tzlocal import get_localzone

    try:
        return get_localzone()
    except Exception:
        return UTC


def load_budget(settings: Settings) -> Budget:
    """What may be spent on a day, with the prices it is counted by.

    Raises `SettingsError` for a price file that does not fit, and for a model whose price a budget needs and lacks.
    """
    prices = load_prices(settings.prices)
    budget = Budget(settings.daily_budget, settings.daily_budget_each, prices, find_time_zone(settings))
    budget.check(RELAY_MODEL=settings.model, RELAY_SMALL_MODEL=settings.small_model)
    return budget


def read_version() -> str:
    """Relay's own version."""
    try:
        return metadata.version("relay")
    except metadata.PackageNotFoundError:
        return "0"


@contextlib.asynccontextmanager
async def open_relay(settings: Settings, wait: bool = False, embedder: Embedder | None = None) -> AsyncIterator[Relay]:
    """An open Relay with an up-to-date schema. `wait`: also for a Supabase that is away. `embedder`: what its `memory`
    finds by meaning with. Raises `SettingsError`."""
    from relay.clients.embedded.instance import Instance

    budget = load_budget(settings)
    redact.also(patterns.load(settings.redact))
    instance = Instance(settings.data_dir)
    try:
        async with open_storage(settings) as stored:
            if await prepare_schema(stored, settings, wait):
                log.info("database migrated", version=migrations.load().version)
            if (await migrations.present(stored.database)).moving:
                raise SchemaError(f"A `{RELAY} move` or `restore` into this database was interrupted: run it again.")
            patient = RetryingDatabase(stored.database, stored.repair)
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
    async with open_embedder(settings) as embedder, open_relay(settings, embedder=embedder) as relay:
        yield relay


def make_model(settings: Settings) -> Claude:
    """The model's client, to be closed; it imports its package at first use."""
    from relay.clients.anthropic.client import Claude

    return Claude(settings.anthropic_api_key, settings.anthropic_base_url, settings.model_timeout)


def make_gate(relay: Relay, model: Model) -> Gate:
    """The one way to a model, for everything that asks it: one for a process."""
    return Gate(model, relay.store, relay.budget)


@contextlib.asynccontextmanager
async def open_model(relay: Relay) -> AsyncIterator[Gate]:
    """The way to the model, which is closed at the end."""
    model = make_model(relay.settings)
    try:
        yield make_gate(relay, model)
    finally:
        await model.close()


def make_summariser(relay: Relay, gate: Gate) -> Summariser:
    """What writes the summaries that are owed."""
    from relay.memory.writing.summaries import Summariser

    settings = relay.settings
    return Summariser(relay.store, gate, settings.small_model, results=settings.result_cache)


def make_judge(
    relay: Relay,
    gate: Gate,
    embedder: Embedder | None = None,
    tell: Callable[[], Awaitable[object]] | None = None,
) -> Judge:
    """What notices what is worth keeping. `tell` is called whenever something was kept."""
    from relay.memory.review.judging import Judge, nobody

    settings = relay.settings
    return Judge(
        relay.store, gate, settings.small_model, settings.capture, settings.background_concurrency,
        relay.budget.zone, embedder, tell or nobody,
    )  # fmt: skip


def make_ears(settings: Settings) -> Whisper:
    """What hears recordings, in a process of its own that starts at first use."""
    from relay.clients.speech.speech_to_text import Whisper

    return Whisper(
        settings.speech_to_text,
        settings.whisper_model,
        settings.speech_language,
        settings.max_minutes,
        settings.data_dir / "models",
    )


def make_leftovers(relay: Relay) -> Leftovers:
    """What stays of erased texts outside of the tables."""
    from relay.archive.backup import Backup
    from relay.archive.backup_purge import Leftovers
    from relay.archive.nightly import Quiet

    backup = Backup(relay.database, Quiet(), read_version(), migrations.load().version, relay.storage)
    return Leftovers(backup, relay.settings.backups, relay.settings.backup_days, make_remover(relay.settings))


def make_opener() -> FileExtractor:
    """What opens files, a few at a time: one for everything that does."""
    from relay.clients.processes.file_extractor import FileExtractor

    return FileExtractor()


def make_reader(
    settings: Settings, messenger: Messenger, ears: SpeechToText | None = None, opener: FileExtractor | None = None
) -> tuple[Reader, MediaContext]:
    """What reads the files that people send, and what shows them to the model again. `ears`: None where nothing is
    installed that hears; `opener`: None for one of its own."""
    from relay.media.documents import Documents
    from relay.media.files import HEARD, Files
    from relay.media.media_context import MediaContext
    from relay.media.pictures import Pictures
    from relay.media.prepared import new_cache
    from relay.media.reading import Reader
    from relay.media.sounds import Sounds

    most, keeper = settings.max_file * 2**20, make_keeper(settings)
    files, opener, cache = Files(messenger, most, keeper), opener or make_opener(), new_cache()
    pictures = Pictures(files, opener, settings.max_megapixels * 1_000_000, cache)
    sounds = Sounds(Files(messenger, most, keeper, HEARD), pictures, ears, settings.max_minutes)
    reader = Reader(sounds, pictures, Documents(files, opener, sounds, pictures, settings.max_pages, cache))
    return reader, MediaContext(pictures, files, cache)


def make_keeper(settings: Settings) -> MediaStore | None:
    """Where the files that people send are kept, if that is wanted."""
    return make_remover(settings) if settings.keep_media else None


def make_remover(settings: Settings) -> MediaStore:
    """Where kept files may be, with the state or beside it; some are left of before where no more are kept."""
    if settings.supabase_url:
        from relay.clients.supabase.bucket import Bucket

        return Bucket(settings.supabase_url, settings.supabase_service_role_key)
    from relay.clients.kept_files import KeptFiles

    return KeptFiles(settings.data_dir / "media")
