"""What people do to answers: which patterns an act was about, and reactions from before that was kept."""

from __future__ import annotations

from functools import partial

from relay.jobs.kinds import JobKind, JobServices, Retry
from relay.memory.preferences.attribution import Attributor, attribute
from relay.memory.rows.jobs import ClaimedJob
from relay.memory.store import Store

BACKFILLED = 200
"""Reactions that are taken over in a day."""


def kind(services: JobServices) -> JobKind:
    """Acts that have settled."""
    return attribution_kind(Attributor(services.store, services.gate, services.summariser.model_name))


def attribution_kind(attributor: Attributor) -> JobKind:
    """The same for whoever needs nothing else."""
    run = partial(attribute, attributor)
    return JobKind("preference", run, timeout=120, retry=Retry(most=6), at_once=2, gate=attributor.gate)


def backfill_kind(services: JobServices) -> JobKind:
    """Old reactions, some each day, until there are no more."""
    return JobKind("backfill", partial(backfill, services.store), timeout=60, retry=Retry(most=6))


async def backfill(store: Store, job: ClaimedJob) -> bool:
    """Takes over the next reactions; the job goes on tomorrow."""
    return await store.backfill_feedback(job, BACKFILLED) > 0
