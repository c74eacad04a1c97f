"""Judging what was said: what is worth keeping of it becomes memories."""

from __future__ import annotations

from functools import partial

from relay.jobs.kinds import JobKind, JobServices, Retry
from relay.memory.review.judging import Judge, judge_thread
from relay.memory.review.waiting import PAUSES


def kind(services: JobServices) -> JobKind:
    """Threads in which something waits to be judged, a few messages at a time."""
    return judging_kind(services.judge)


def judging_kind(judge: Judge) -> JobKind:
    """The same for whoever needs nothing else."""
    return JobKind(
        "judging",
        partial(judge_thread, judge),
        timeout=660,
        retry=Retry(most=50, pauses=PAUSES),
        at_once=judge.at_once,
        gate=judge.gate,
    )
