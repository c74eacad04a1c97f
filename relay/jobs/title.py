"""Titles of sessions, after which topics are named."""

from __future__ import annotations

from functools import partial

from relay.jobs.kinds import JobKind, JobServices, Retry
from relay.memory.writing.titles import Titler, name_session


def kind(services: JobServices) -> JobKind | None:
    """Titles; None if no topic can be named."""
    if services.messenger is None:
        return None
    model = services.summariser.model_name
    return title_kind(Titler(services.store, services.gate, model, services.messenger, services.bot_id))


def title_kind(titler: Titler) -> JobKind:
    """The same with only what it needs."""
    return JobKind(
        "title", partial(name_session, titler), timeout=120, retry=Retry(most=6), at_once=4, gate=titler.gate
    )
