"""The job that proposes growth of the soul: once a week for each admin who wants it."""

from __future__ import annotations

from functools import partial

from relay.jobs.kinds import JobKind, JobServices, Retry
from relay.memory.night.asking import BatchModel
from relay.memory.night.growth import Gardener, grow


def kind(services: JobServices) -> JobKind:
    """Returns the kind for an admin's proposal."""
    lookout = services.lookout
    batch = BatchModel(services.store, services.gate, lookout.small_model)
    return growth_kind(Gardener(batch, lookout.limits, services.bot_id, services.admins))


def growth_kind(gardener: Gardener) -> JobKind:
    """Returns the same kind, from only what it needs."""
    return JobKind("growth", partial(grow, gardener), timeout=240, retry=Retry(most=1_000), gate=gardener.batch.gate)
