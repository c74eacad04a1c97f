"""Attribution: which patterns an act was about."""

from __future__ import annotations

from functools import partial

from relay.jobs.kinds import JobKind, JobServices, Retry
from relay.memory.preferences.attribution import Attributor, attribute


def kind(services: JobServices) -> JobKind:
    """Acts that have settled."""
    return attribution_kind(Attributor(services.store, services.gate, services.summariser.model_name))


def attribution_kind(attributor: Attributor) -> JobKind:
    """The same with only what it needs."""
    run = partial(attribute, attributor)
    return JobKind("preference", run, timeout=120, retry=Retry(most=6), at_once=2, gate=attributor.gate)
