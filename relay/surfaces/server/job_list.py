"""The scheduled jobs of an open Relay, and their runner."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

from relay.core.ports import Messenger
from relay.jobs.clock.scheduler import Schedule
from relay.jobs.kinds import JobServices
from relay.jobs.registry import make_kinds, schedules
from relay.jobs.runner import Runner
from relay.memory.index import enter, enter_due
from relay.memory.review.judging import notify_nobody
from relay.runtime.night import back_up_database, phases
from relay.runtime.runtime import Runtime


def jobs(
    relay: Runtime, messenger: Messenger, bot_id: int, send_queued: Callable[[], Awaitable[object]]
) -> list[Schedule]:
    """Returns the schedules of one process. The names of jobs that a turn makes due are in `relay.jobs_owed`.
    `send_queued` sends queued messages."""
    return [
        *schedules(runner_of(relay, messenger, bot_id, send_queued)),
        Schedule("index", lambda: enter_due(relay.store), minutes=1),
        Schedule("missing entries", lambda: enter(relay.store), minutes=1),
    ]


def runner_of(
    relay: Runtime,
    messenger: Messenger | None,
    bot_id: int,
    send_queued: Callable[[], Awaitable[object]] | None = None,
) -> Runner:
    """Returns the runner of jobs that are due. `send_queued`: see `jobs`."""
    gate = relay.background_gate
    hour, minute = relay.settings.sleep_at.split(":")
    services = JobServices(
        store=relay.store,
        gate=gate,
        summariser=relay.make_summariser(gate),
        judge=relay.make_judge(gate, relay.clients.embedder, send_queued),
        lookout=relay.make_lookout(gate),
        compressor=relay.make_compressor(gate),
        messenger=messenger,
        media_store=relay.clients.media_store,
        bot_id=bot_id,
        send_queued=send_queued or notify_nobody,
        back_up=partial(back_up_database, relay),
        phases=lambda: phases(relay, bot_id, runner),
        sleep_at=(int(hour), int(minute)),
        keep_days=relay.settings.keep_records,
        admins=lambda: relay.people.admins,
    )
    runner = Runner(relay.store, make_kinds(services), bot_id)
    return runner  # the phases need it, once a night begins
