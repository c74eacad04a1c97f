"""The job that writes titles of sessions and names topics after them."""

from __future__ import annotations

from functools import partial

from relay.jobs.kinds import JobKind, JobServices, Retry
from relay.memory.writing.titles import Titler, name_session


def kind(services: JobServices) -> JobKind | None:
    """Returns the kind for titles; None if no topic can be named."""
    if services.messenger is None:
        return None
    model = services.summariser.model_name
    return title_kind(Titler(services.store, services.gate, model, services.messenger, services.bot_id))


def title_kind(titler: Titler) -> JobKind:
    """Returns the same kind, from only what it needs."""
    return JobKind(
        "title", partial(name_session, titler), timeout=120, retry=Retry(most=6), at_once=4, gate=titler.gate
    )
