"""Builds the worker of an open Relay."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from relay.commands.context import Services
from relay.conversation.engine import Engine
from relay.runtime.media import make_reader
from relay.runtime.runtime import Runtime
from relay.surfaces.telegram.groups.groups import Connection
from relay.surfaces.telegram.turns.worker import TurnMedia, Worker


def make_worker(
    runtime: Runtime,
    services: Services,
    connection: Connection,
    on_owed: Callable[[Sequence[str]], None],
    speech: bool = False,
) -> Worker:
    """Builds a worker. `on_owed` is called with the kinds of jobs that have become due. `speech`: transcribe recordings
    and speak answers."""
    settings = runtime.settings
    reader, shelf = make_reader(
        settings,
        connection.messenger,
        runtime.clients.file_extractor,
        runtime.clients.speech_to_text if speech else None,
        runtime.clients.media_store if settings.keep_media else None,
    )
    engine = Engine(
        store=runtime.store,
        gate=runtime.gate,
        model_name=settings.model,
        max_tokens=settings.max_tokens,
        zone=runtime.budget.zone,
        web=settings.web_search,
        shelf=shelf,
        memory_tokens=settings.memory_tokens,
        capture=settings.capture,
        embedder=runtime.clients.embedder,
    )
    media = TurnMedia(reader, runtime.clients.text_to_speech if speech else None, settings.voice_echo)
    return Worker(engine, services, connection, media, on_owed, settings.concurrency)
