"""The job that judges messages and turns what is worth keeping into memories."""

from __future__ import annotations

from functools import partial

from relay.jobs.kinds import JobKind, Retry
from relay.memory.review.judging import PAUSES, Judge, judge_thread


def judging_kind(judge: Judge) -> JobKind:
    """Returns the kind for threads with messages to judge, a few at a time."""
    return JobKind(
        "judging",
        partial(judge_thread, judge),
        timeout=660,
        retry=Retry(most=50, pauses=PAUSES),
        at_once=judge.at_once,
        gate=judge.gate,
    )
