"""The jobs that learn: from messages what is worth keeping, and from feedback what is liked about answers."""

from __future__ import annotations

from functools import partial

from relay.jobs.kinds import JobKind, Retry
from relay.memory.preferences.attribution import Attributor, attribute, estimate_again
from relay.memory.review.judging import PAUSES, Judge, judge_thread
from relay.memory.rows.jobs import ClaimedJob
from relay.memory.store import Store

BACKFILLED = 200
"""How many reactions are adopted in a day."""


def judging_kind(judge: Judge) -> JobKind:
    """Returns the kind for threads with messages to judge, a few at a time."""
    run, retry = partial(judge_thread, judge), Retry(most=50, pauses=PAUSES)
    return JobKind("judging", run, timeout=660, retry=retry, at_once=judge.at_once, gate=judge.gate)


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
