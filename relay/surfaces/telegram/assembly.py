"""A worker, put together on an open Relay."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from relay.clients.speech.installed import chosen
from relay.clients.speech.speakers import speakers
from relay.commands.context import Services
from relay.conversation.turn import Engine
from relay.core.ports import Embedder, FileExtractor, Messenger, SpeechToText, TextToSpeech
from relay.memory.people import People
from relay.memory.spending.gate import Gate
from relay.runtime.app import Relay, make_leftovers, make_reader, make_summariser, read_version
from relay.surfaces.telegram.groups.groups import Groups
from relay.surfaces.telegram.parsing.updates import Bot
from relay.surfaces.telegram.turns.worker import Worker


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
    on_told: Callable[[object], None] | None = None,
) -> Worker:
    """A worker on an open Relay. `ears` hear recordings, `voice` says answers aloud, `embedder` finds by meaning; None:
    nothing does. `opener`: see `make_reader`. `on_told` is given what commands answer."""

    settings = relay.settings
    zone, budget = relay.budget.zone, relay.budget
    services = Services(
        store=relay.store,
        people=people,
        messenger=messenger,
        summariser=make_summariser(relay, gate),
        zone=zone,
        version=read_version(),
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
        on_reply=on_told,
    )
    reader, shelf = make_reader(settings, messenger, ears, opener)
    engine = Engine(
        relay.store, gate, settings.model, settings.max_tokens, zone, settings.web_search, shelf,
        settings.memory_tokens, settings.capture, embedder,
    )  # fmt: skip
    return Worker(
        engine, messenger, bot, Groups(messenger, bot.id), settings.concurrency, services, on_owed, reader,
        settings.voice_echo, voice,
    )  # fmt: skip
