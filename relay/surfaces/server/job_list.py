"""What is done beside answering, with what it needs of an open Relay."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

from relay.core.ports import Messenger
from relay.jobs.clock.scheduler import Schedule
from relay.jobs.kinds import JobServices
from relay.jobs.registry import make_runner, schedules
from relay.jobs.runner import Runner
from relay.memory.indexing import enter
from relay.runtime.nights import phases
from relay.runtime.runtime import Runtime


def jobs(
    relay: Runtime, messenger: Messenger, bot_id: int, send_queued: Callable[[], Awaitable[object]]
) -> list[Schedule]:
    """What one process does. `relay.jobs_owed` knows those by their names that turns make due. `send_queued` sends
    what is queued."""
    return [
        *schedules(runner_of(relay, messenger, bot_id, send_queued)),
        Schedule("index", lambda: enter(relay.store), minutes=1),
    ]


def runner_of(
    relay: Runtime,
    messenger: Messenger | None,
    bot_id: int,
    send_queued: Callable[[], Awaitable[object]] | None = None,
) -> Runner:
    """What does the jobs that are owed. `send_queued`: see `jobs`."""
    gate = relay.background_gate
    hour, minute = relay.settings.sleep_at.split(":")
    services = JobServices(
        store=relay.store,
        gate=gate,
        summariser=relay.make_summariser(gate),
        judge=relay.make_judge(gate, relay.clients.embedder, send_queued),
        messenger=messenger,
        media_store=relay.clients.media_store,
        bot_id=bot_id,
        phases=lambda: phases(relay, bot_id, owed),
        sleep_at=(int(hour), int(minute)),
        keep_days=relay.settings.keep_records,
    )
    runner = make_runner(services)
    owed = writings(runner)
    return runner


def writings(runner: Runner) -> dict[str, Callable[[], Awaitable[int]]]:
    """What a night writes of what is owed, by its name."""
    names = {"summaries": "summary", "titles": "title"}
    owed: dict[str, Callable[[], Awaitable[int]]] = {
        name: partial(runner.run_due, kind) for name, kind in names.items() if kind in runner.kinds
    }
    return owed | {"index": lambda: enter(runner.store)}
