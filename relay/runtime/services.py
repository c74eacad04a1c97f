"""The services that commands use, made of an open Relay."""

from __future__ import annotations

from relay.clients.speech.installed import chosen
from relay.clients.speech.speakers import speakers
from relay.commands.context import Services
from relay.core.ports import Embedder, Messenger
from relay.jobs.runner import Runner
from relay.jobs.summary import summary_kind
from relay.memory.people import People
from relay.memory.spending.gate import Gate
from relay.runtime.app import Relay, make_leftovers, make_summariser, read_version


def make_services(
    relay: Relay, gate: Gate, messenger: Messenger, people: People, embedder: Embedder | None = None
) -> Services:
    """The services of an open Relay. `embedder` finds by meaning; None: only words find."""
    settings, summariser = relay.settings, make_summariser(relay, gate)
    return Services(
        store=relay.store,
        people=people,
        messenger=messenger,
        summariser=summariser,
        zone=relay.budget.zone,
        version=read_version(),
        model=settings.model,
        small_model=settings.small_model,
        storage=relay.storage,
        budget=relay.budget,
        web_search=settings.web_search,
        hears=chosen(settings.speech_to_text) or "",
        speaks=next(iter(speakers(settings)), ""),
        leftovers=make_leftovers(relay),
        scratch=settings.data_dir,
        embedder=embedder,
        capture=settings.capture,
        run_job=Runner(relay.store, [summary_kind(summariser)]).run_one,
    )
