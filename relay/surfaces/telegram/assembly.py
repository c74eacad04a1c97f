"""A worker, put together on an open Relay."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from relay.conversation.turn import Engine
from relay.core.ports import Embedder, FileExtractor, Messenger, SpeechToText, TextToSpeech
from relay.memory.people import People
from relay.memory.spending.gate import Gate
from relay.runtime.app import Relay, make_reader
from relay.runtime.services import make_services
from relay.surfaces.telegram.groups.groups import Groups
from relay.surfaces.telegram.parsing.updates import Bot
from relay.surfaces.telegram.turns.worker import TurnMedia, Worker


def make_worker(
    relay: Relay,
    gate: Gate,
    messenger: Messenger,
    bot: Bot,
    people: People,
    on_owed: Callable[[Sequence[str]], None],
    ears: SpeechToText | None = None,
    voice: TextToSpeech | None = None,
    opener: FileExtractor | None = None,
    embedder: Embedder | None = None,
) -> Worker:
    """A worker on an open Relay. `ears` hear recordings, `voice` says answers aloud, `embedder` finds by meaning; None:
    nothing does. `opener`: see `make_reader`."""
    settings = relay.settings
    services = make_services(relay, gate, messenger, people, embedder)
    reader, shelf = make_reader(settings, messenger, ears, opener)
    engine = Engine(
        relay.store, gate, settings.model, settings.max_tokens, relay.budget.zone, settings.web_search, shelf,
        settings.memory_tokens, settings.capture, embedder,
    )  # fmt: skip
    media = TurnMedia(reader, voice, settings.voice_echo)
    return Worker(engine, services, bot, Groups(messenger, bot.id), media, on_owed, settings.concurrency)
