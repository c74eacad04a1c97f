"""The external services that the settings name: models, speech, file processes, Telegram."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from relay.core.program import hide_package

if TYPE_CHECKING:
    from relay.clients.anthropic.client import Claude
    from relay.clients.speech.speech_to_text import Whisper
    from relay.clients.telegram.client import Telegram
    from relay.core.ports import FileExtractor, MediaStore, TextToSpeech
    from relay.core.settings import Settings
    from relay.memory.index import EmbedderRouter


@dataclass(frozen=True, eq=False)
class Clients:
    """The clients of external services. Each is created, and its package imported, at first use."""

    settings: Settings
    closing: AsyncExitStack = field(default_factory=AsyncExitStack)
    """Closes the clients."""

    @cached_property
    def claude(self) -> Claude:
        """Returns the model, to be used through a `Gate`."""
        from relay.clients.anthropic.client import Claude

        settings = self.settings
        claude = Claude(settings.anthropic_api_key, settings.anthropic_base_url, settings.model_timeout)
        self.closing.push_async_callback(claude.close)
        return claude

    @cached_property
    def embedder(self) -> EmbedderRouter | None:
        """Returns the embedder, in a process that starts at first use; None: search uses words only."""
        from relay.runtime.embedder_router import make_embedder

        embedder = make_embedder(self.settings)
        if embedder is not None:
            self.closing.push_async_callback(embedder.close)
        return embedder

    @cached_property
    def file_extractor(self) -> FileExtractor:
        """Returns what reads files, a few at a time, in separate processes."""
        from relay.clients.processes.file_extractor import FileExtractor

        return FileExtractor()

    @cached_property
    def speech_to_text(self) -> Whisper:
        """Returns what transcribes recordings, in a process that starts at first use."""
        from relay.clients.speech.speech_to_text import Whisper

        settings = self.settings
        whisper = Whisper(
            settings.speech_to_text,
            settings.whisper_model,
            settings.speech_language,
            settings.max_minutes,
            settings.data_dir / "models",
        )
        self.closing.push_async_callback(whisper.close)
        return whisper

    @cached_property
    def text_to_speech(self) -> TextToSpeech | None:
        """Returns what speaks answers; None: nothing can."""
        from relay.clients.speech.text_to_speech import make_voices

        return make_voices(self.settings, self.file_extractor)

    @cached_property
    def media_store(self) -> MediaStore:
        """Returns the store for copies of media. It may hold old copies even if none are stored now."""
        settings = self.settings
        if settings.supabase_url:
            from relay.clients.supabase.bucket import Bucket

            return Bucket(settings.supabase_url, settings.supabase_service_role_key)
        from relay.clients.kept_files import KeptFiles

        return KeptFiles(settings.data_dir / "media")


@contextlib.asynccontextmanager
async def open_clients(settings: Settings) -> AsyncIterator[Clients]:
    """Opens the clients of the settings and closes them at the end."""
    async with AsyncExitStack() as closing:
        yield Clients(settings, closing)


def import_telegram() -> type[Telegram]:
    """Imports the client without what its libraries would load for nothing: `cryptography` (8 MB, for Telegram
    Passport), and `click` and `rich` (for httpx's command line)."""
    with hide_package("cryptography"), hide_package("click"):
        from relay.clients.telegram.client import Telegram
    return Telegram


@contextlib.asynccontextmanager
async def open_telegram(settings: Settings) -> AsyncIterator[Telegram]:
    """Opens a connection to Telegram. Raises the `MessengerError` tree."""
    telegram = import_telegram()(settings.telegram_bot_token, settings.telegram_api_url)
    try:
        await telegram.open()
        yield telegram
    finally:
        await telegram.close_pools()
