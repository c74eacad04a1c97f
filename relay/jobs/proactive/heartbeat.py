"""The job of heartbeats, which check every few hours what has changed, for people who want it."""

from __future__ import annotations

from functools import partial

from relay.jobs.kinds import JobKind, JobServices, Retry
from relay.memory.proactive.heartbeat import beat
from relay.memory.proactive.looking import Lookout


def kind(services: JobServices) -> JobKind:
    """Returns the kind for a person's check."""
    return heartbeat_kind(services.lookout, services.bot_id)


def heartbeat_kind(lookout: Lookout, bot_id: int) -> JobKind:
    """Returns the same kind, from only what it needs."""
    run = partial(beat, lookout, bot_id)
    return JobKind("heartbeat", run, timeout=150, retry=Retry(most=1_000), at_once=2, gate=lookout.gate)
