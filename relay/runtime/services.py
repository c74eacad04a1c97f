"""Assembles the services for commands from an open Relay."""

from __future__ import annotations

from functools import partial

from relay.clients.speech.installed import choose_engine
from relay.clients.speech.speakers import speakers
from relay.commands.context import Installation, Services
from relay.core.ports import Messenger
from relay.core.program import read_version
from relay.jobs.runner import Runner
from relay.jobs.writing import compression_kind, summary_kind
from relay.memory.erasure import retract
from relay.runtime.runtime import Runtime


def make_services(runtime: Runtime, messenger: Messenger, bot_id: int) -> Services:
    """Returns the services. `messenger`, `bot_id`: whose messages are retracted when something is erased."""
    settings, summariser = runtime.settings, runtime.make_summariser(runtime.gate)
    installation = Installation(
        version=read_version(),
        model=settings.model,
        small_model=settings.small_model,
        storage=runtime.storage.label,
        web_search=settings.web_search,
        hears=choose_engine(settings.speech_to_text) or "",
        speaks=next(iter(speakers(settings)), ""),
        capture=settings.capture,
        web_url=settings.app_url,
        memory_tokens=settings.memory_tokens,
        has_bot=bool(settings.telegram_bot_token),
        scratch=settings.data_dir,
        offline=runtime.offline,
    )
    return Services(
        installation=installation,
        store=runtime.store,
        people=runtime.people,
        summariser=summariser,
        budget=runtime.budget,
        embedder=runtime.clients.embedder,
        erasure_cleanup=runtime.erasure_cleanup,
        run_job=Runner(
            runtime.store, [summary_kind(summariser), compression_kind(runtime.make_compressor(runtime.gate))]
        ).run_one,
        retract=partial(retract, runtime.store, messenger, bot_id),
    )
