"""The one list of the kinds of jobs, and when each is looked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from relay.core.errors import RelayError
from relay.jobs import erasure, preference, sleep, summary, tidy, title
from relay.jobs.kinds import JobKind, JobServices
from relay.jobs.runner import Runner
from relay.jobs.scheduler import Schedule

KINDS: tuple[Callable[[JobServices], JobKind | None], ...] = (
    summary.kind, title.kind, preference.kind, erasure.kind, sleep.kind, tidy.kind,
)  # fmt: skip
SWEEP_MINUTES = 3
"""How often each kind is looked for, beside when something of it becomes due."""
DAILY_SECONDS = 20 * 3600
"""What is done once a day is not done again sooner than this, by whichever process."""


class DailyJobFailed(RelayError):
    """What is done once a day failed."""


def make_runner(services: JobServices) -> Runner:
    """What does the jobs of all kinds."""
    kinds = [kind for make in KINDS if (kind := make(services)) is not None]
    return Runner(services.store, kinds, services.bot_id)


def schedules(runner: Runner) -> list[Schedule]:
    """When each kind is looked for, and when those are owed that are done once a day."""
    found = [Schedule(name, partial(runner.run_due, name), minutes=SWEEP_MINUTES) for name in runner.kinds]
    daily = [
        Schedule(f"daily {kind.name}", partial(run_daily, runner, kind.name), at=kind.daily_at)
        for kind in runner.kinds.values()
        if kind.daily_at is not None
    ]
    return found + daily


async def run_daily(runner: Runner, name: str) -> None:
    """Owes what is done once a day, unless another process has, and does it. Raises `DailyJobFailed`."""
    if await runner.store.owe_daily(name, DAILY_SECONDS):
        await runner.run_due(name)
        job = await runner.store.job(name, "")
        if job is not None and job.last_error:
            raise DailyJobFailed(job.last_error)
