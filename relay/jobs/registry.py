"""The registry of all kinds of jobs, and their schedules."""

from __future__ import annotations

from functools import partial

from relay.core.errors import RelayError
from relay.jobs.clock.scheduler import Schedule
from relay.jobs.erasure import erasure_kind, sweep_kind
from relay.jobs.kinds import JobKind, JobServices
from relay.jobs.learning import attribution_kind, backfill_kind, estimating_kind, judging_kind
from relay.jobs.night import backup_kind, night_kind, tidy_kind
from relay.jobs.proactive import digest_kind, growth_kind, heartbeat_kind, reminder_kind
from relay.jobs.runner import Runner
from relay.jobs.writing import compression_kind, summary_kind, title_kind
from relay.memory.night.asking import BatchModel
from relay.memory.night.growth import Gardener
from relay.memory.preferences.attribution import Attributor

SWEEP_MINUTES = 3
"""How many minutes pass between checks of each kind, besides those when a job becomes due."""
DAILY_SECONDS = 6 * 3600
"""A daily job does not run again within this time, in any process. Short enough that a job that ran late, during the
day, still runs at its hour the next night."""
MISSED_SECONDS = 26 * 3600
"""After this time a daily job runs at any hour: Relay was not running at the job's own."""
MISSED_MINUTES = 60
"""How many minutes pass between checks for that."""


class JobFailed(RelayError):
    """A job that runs every day or every few minutes failed."""


def make_kinds(services: JobServices) -> list[JobKind]:
    """Returns all kinds; without Telegram, not those that only rename or delete there."""
    store, gate, lookout, bot_id = services.store, services.gate, services.lookout, services.bot_id
    media_store, messenger, model = services.media_store, services.messenger, services.summariser.model_name
    batch = BatchModel(store, gate, lookout.small_model)
    kinds = [
        summary_kind(services.summariser),
        judging_kind(services.judge),
        attribution_kind(Attributor(store, gate, model)),
        estimating_kind(store),
        backfill_kind(store),
        erasure_kind(store, media_store, messenger, bot_id),
        compression_kind(services.compressor),
        reminder_kind(lookout, bot_id, services.send_queued),
        heartbeat_kind(lookout, bot_id),
        digest_kind(batch, bot_id, services.admins),
        growth_kind(Gardener(batch, lookout.limits, bot_id, services.admins)),
        night_kind(store, services.phases, services.sleep_at),
        backup_kind(store, services.back_up),
        tidy_kind(store, services.keep_days),
    ]
    if messenger is not None:
        kinds += [title_kind(services.summariser), sweep_kind(store, media_store, messenger, bot_id)]
    return kinds


def schedules(runner: Runner) -> list[Schedule]:
    """Returns when each kind is checked, and when daily jobs are owed."""
    found = []
    for name, kind in runner.kinds.items():
        check = partial(run_periodic, runner, name) if kind.minutes else partial(runner.run_due, name)
        found.append(Schedule(name, check, minutes=kind.minutes or SWEEP_MINUTES))
        if kind.daily_at is not None:
            daily, make_up = f"daily {name}", partial(run_daily, runner, name, MISSED_SECONDS)
            found.append(Schedule(daily, partial(run_daily, runner, name), at=kind.daily_at))
            found.append(Schedule(f"missed {name}", make_up, minutes=MISSED_MINUTES, makes_up_for=daily))
    return found


async def run_daily(runner: Runner, name: str, rest_seconds: int = DAILY_SECONDS) -> None:
    """Owes a daily job, unless any process has within `rest_seconds`, and runs it. Raises `JobFailed` if the last run
    failed, in any process."""
    if await runner.store.owe_daily(name, rest_seconds):
        await runner.run_due(name)
    await check_job(runner, name, "")


async def run_periodic(runner: Runner, name: str) -> None:
    """Owes a job that each bot's process runs every few minutes, and runs it unless another process does. Raises
    `JobFailed`."""
    key = str(runner.bot_id)
    await runner.store.owe_job(name, key)
    if await runner.run_one(name, key):
        await check_job(runner, name, key)


async def check_job(runner: Runner, name: str, key: str) -> None:
    """Raises `JobFailed` if a job's last run failed: then it is still owed."""
    job = await runner.store.job(name, key)
    if job is not None and job.last_error:
        raise JobFailed(job.last_error)
