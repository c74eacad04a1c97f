"""The job that writes summaries of threads."""

from __future__ import annotations

from functools import partial

from relay.jobs.kinds import JobKind, Retry
from relay.memory.writing.summaries import Summariser, summarise


def summary_kind(summariser: Summariser) -> JobKind:
    """Returns the kind for summaries. A single one may take several model calls."""
    return JobKind(
        "summary",
        partial(summarise, summariser),
        timeout=660,
        retry=Retry(most=8),
        at_once=4,
        gate=summariser.gate,
    )
