"""The registry of all kinds of jobs, and their schedules."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from relay.core.errors import RelayError
from relay.jobs import backup, compression, erasure, judging, night, preference, summary, sweep, tidy, title
from relay.jobs.clock.scheduler import Schedule
from relay.jobs.kinds import JobKind, JobServices
from relay.jobs.proactive import digest, growth, heartbeat, reminder
from relay.jobs.runner import Runner

KINDS: tuple[Callable[[JobServices], JobKind | None], ...] = (
    summary.kind, title.kind, judging.kind, preference.kind, preference.estimate_kind, preference.backfill_kind,
    erasure.kind, compression.kind, reminder.kind, heartbeat.kind, digest.kind, growth.kind, sweep.kind, night.kind,
    backup.kind, tidy.kind,
)  # fmt: skip
SWEEP_MINUTES = 3
"""How many minutes pass between checks of each kind, besides those when a job becomes due."""
DAILY_SECONDS = 20 * 3600
"""A daily job does not run again within this time, in any process."""


class DailyJobFailed(RelayError):
    """A daily job failed."""


class PeriodicJobFailed(RelayError):
    """A job that runs every few minutes failed."""


def make_runner(services: JobServices) -> Runner:
    """Returns the runner for all kinds of jobs."""
    kinds = [kind for make in KINDS if (kind := make(services)) is not None]
    return Runner(services.store, kinds, services.bot_id)


def schedules(runner: Runner) -> list[Schedule]:
    """Returns when each kind is checked, and when daily jobs are owed."""
    found = [
        Schedule(name, partial(run_periodic, runner, name), minutes=kind.minutes)
        if kind.minutes
        else Schedule(name, partial(runner.run_due, name), minutes=SWEEP_MINUTES)
        for name, kind in runner.kinds.items()
    ]
    daily = [
        Schedule(f"daily {kind.name}", partial(run_daily, runner, kind.name), at=kind.daily_at)
        for kind in runner.kinds.values()
        if kind.daily_at is not None
    ]
    return found + daily


async def run_daily(runner: Runner, name: str) -> None:
    """Owes a daily job, unless another process already has, and runs it. Raises `DailyJobFailed`."""
    if await runner.store.owe_daily(name, DAILY_SECONDS):
        await runner.run_due(name)
        job = await runner.store.job(name, "")
        if job is not None and job.last_error:
            raise DailyJobFailed(job.last_error)


async def run_periodic(runner: Runner, name: str) -> None:
    """Owes a job that each bot's process runs every few minutes, and runs it unless another process does. Raises
    `PeriodicJobFailed`."""
    key = str(runner.bot_id)
    await runner.store.owe_job(name, key)
    if await runner.run_one(name, key):
        job = await runner.store.job(name, key)
        if job is not None and job.last_error:
            raise PeriodicJobFailed(job.last_error)
