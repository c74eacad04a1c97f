"""What is done beside answering, with what it needs of an open Relay."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

from relay.core.ports import Embedder, Messenger
from relay.jobs.kinds import JobServices
from relay.jobs.registry import make_runner, schedules
from relay.jobs.runner import Runner
from relay.jobs.scheduler import Schedule
from relay.memory.erasure import sweep
from relay.memory.indexing import enter
from relay.memory.people import People
from relay.memory.review.judging import judge_due
from relay.memory.spending.gate import Gate
from relay.runtime.app import Relay, make_judge, make_remover, make_summariser
from relay.runtime.nights import phases
from relay.surfaces.telegram.parsing.updates import Bot


def jobs(
    relay: Relay,
    gate: Gate,
    messenger: Messenger,
    bot: Bot,
    people: People,
    embedder: Embedder | None,
    send_queued: Callable[[], Awaitable[object]],
) -> list[Schedule]:
    """What one process does. `relay.jobs_owed` knows those by their names that turns make due. `send_queued` sends
    what is queued."""
    gate = gate.few(relay.settings.background_concurrency)
    judge = make_judge(relay, gate, embedder, send_queued)
    keeper = make_remover(relay.settings)
    return [
        *schedules(runner_of(relay, gate, messenger, bot.id, people)),
        Schedule("judging", lambda: judge_due(judge), minutes=3),
        Schedule("index", lambda: enter(relay.store), minutes=1),
        Schedule("erasing", lambda: sweep(relay.store, keeper, messenger, bot.id), minutes=3),
    ]


def runner_of(relay: Relay, gate: Gate, messenger: Messenger | None, bot_id: int, people: People) -> Runner:
    """What does the jobs that are owed. `gate`: for work that nobody waits for."""
    hour, minute = relay.settings.sleep_at.split(":")
    services = JobServices(
        store=relay.store,
        gate=gate,
        summariser=make_summariser(relay, gate),
        messenger=messenger,
        keeper=make_remover(relay.settings),
        bot_id=bot_id,
        phases=lambda: phases(relay, gate, bot_id, people, owed),
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
