"""Jobs on feedback: finding the patterns of an act, weighing all acts together, and adopting old reactions."""

from __future__ import annotations

from functools import partial

from relay.jobs.kinds import JobKind, Retry
from relay.memory.preferences.attribution import Attributor, attribute, estimate_again
from relay.memory.rows.jobs import ClaimedJob
from relay.memory.store import Store

BACKFILLED = 200
"""How many reactions are adopted in a day."""


def attribution_kind(attributor: Attributor) -> JobKind:
    """Returns the kind for acts that have settled."""
    run = partial(attribute, attributor)
    return JobKind("preference", run, timeout=120, retry=Retry(most=6), at_once=2, gate=attributor.gate)


def estimating_kind(store: Store) -> JobKind:
    """Returns the kind that weighs all of a person's choices together, after one was added or taken back."""
    return JobKind("estimate", partial(estimate_again, store), timeout=60, retry=Retry(most=6))


def backfill_kind(store: Store) -> JobKind:
    """Returns the kind that adopts old reactions, some each day, until there are no more."""
    return JobKind("backfill", partial(backfill, store), timeout=60, retry=Retry(most=6))


async def backfill(store: Store, job: ClaimedJob) -> bool:
    """Adopts the next reactions and returns whether there were any. The job continues tomorrow."""
    return await store.backfill_feedback(job, BACKFILLED) > 0
