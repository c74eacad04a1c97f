"""The job that sends digests in the morning: one job for each space's next digest."""

from __future__ import annotations

from functools import partial

from relay.jobs.kinds import JobKind, JobServices, Retry
from relay.memory.night.asking import BatchModel
from relay.memory.night.morning import tell_morning


def kind(services: JobServices) -> JobKind:
    """Returns the kind for a space's digest."""
    return digest_kind(BatchModel(services.store, services.gate, services.lookout.small_model), services.bot_id)


def digest_kind(batch: BatchModel, bot_id: int) -> JobKind:
    """Returns the same kind, from only what it needs."""
    return JobKind("digest", partial(tell_morning, batch, bot_id), timeout=240, retry=Retry(most=1_000), at_once=2)
