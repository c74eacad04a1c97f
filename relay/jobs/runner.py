"""Runs owed jobs."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from functools import partial

import structlog

from relay.core.errors import BudgetUsedUp, DatabaseError, ModelThrottled, RelayError
from relay.core.frozen import frozen
from relay.core.tasks import cancel, run_beside
from relay.jobs.kinds import JobKind, NotNow
from relay.memory.rows.jobs import ClaimedJob
from relay.memory.store import Store

log = structlog.get_logger()

BUDGET_SECONDS = 600.0
"""How many seconds to wait before checking again a job whose payer's budget is used up."""
LONGEST_REST = 60.0
"""The longest pause in seconds while the model is busy."""
LEAST_REST = 0.2
LOOK_SECONDS = 1.0
"""How often to look for more due jobs of a kind while some of them run."""
RENEW_SECONDS = 6.0


@frozen
class JobOutcome:
    """How a job ended: whether it had a result, and for how many seconds to make no model calls."""

    came: bool = False
    rest: float = 0.0


class Runner:
    """Claims jobs, runs each under its lease, and finishes, fails or skips it."""

    def __init__(self, store: Store, kinds: Sequence[JobKind], bot_id: int | None = None) -> None:
        self.store = store
        self.kinds = {kind.name: kind for kind in kinds}
        self.bot_id = bot_id

    async def run_due(self, name: str, patience: float = 0) -> int:
        """Runs a kind's due jobs, a few at a time, until none is left or today's budget is used up. Returns how many
        had a result. Failures are logged and retried later. Pauses for as long as a busy model asks. `patience`:
        seconds to wait for delayed jobs, as after a failure; they restart with each result. Raises `DatabaseError`."""
        kind, done, left = self.kinds[name], 0, patience
        running: set[asyncio.Task[JobOutcome]] = set()
        try:
            while True:
                running |= await self._begin(kind, kind.at_once - len(running))
                if not running:
                    rest = await self._find_rest(kind) if left > 0 else None
                    if rest is None or rest > left:
                        return done
                    await asyncio.sleep(rest)
                    left -= rest
                    continue
                # What becomes due meanwhile doesn't wait for a slow job.
                look = LOOK_SECONDS if len(running) < kind.at_once else None
                ended, running = await asyncio.wait(running, timeout=look, return_when=asyncio.FIRST_COMPLETED)
                outcomes = [one.result() for one in ended]
                came = sum(one.came for one in outcomes)
                done, left = done + came, patience if came else left
                await asyncio.sleep(min(LONGEST_REST, max((one.rest for one in outcomes), default=0)))
        except DatabaseError:
            await asyncio.gather(*running, return_exceptions=True)
            raise
        finally:
            await cancel(*running)

    async def _begin(self, kind: JobKind, most: int) -> set[asyncio.Task[JobOutcome]]:
        """Claims and begins up to this many due jobs; none while today's budget is used up."""
        if not most or (kind.gate and await kind.gate.used_up()):
            return set()
        jobs = await self.store.claim_jobs(kind.name, self.bot_id, most)
        return {asyncio.create_task(self._run(kind, job)) for job in jobs}

    async def _find_rest(self, kind: JobKind) -> float | None:
        """Returns in how many seconds to look for a kind's jobs again; None if none will be due."""
        if kind.gate and await kind.gate.used_up():
            return None
        rest = await self.store.jobs_rest(kind.name, self.bot_id)
        return None if rest is None else max(LEAST_REST, rest)

    async def run_one(self, name: str, key: str) -> bool:
        """Runs one job now, even if it waits after a failure. Returns whether this process ran it; False if it is not
        owed, or another process has it."""
        jobs = await self.store.claim_jobs(name, self.bot_id, 1, key)
        for job in jobs:
            await self._run(self.kinds[name], job)
        return bool(jobs)

    async def _run(self, kind: JobKind, job: ClaimedJob) -> JobOutcome:
        """Runs one job and ends it. Stores its error without words that it may quote."""
        try:
            async with asyncio.timeout(kind.timeout), renew_lease(partial(self.store.renew_job, job)):
                came = await kind.run(job)
        except BudgetUsedUp as error:
            await self.store.skip_job(job, str(error), BUDGET_SECONDS)
            return JobOutcome()
        except NotNow as error:
            await self.store.skip_job(job, str(error), error.seconds)
            return JobOutcome()
        except (RelayError, TimeoutError) as error:
            pause = await self._fail(kind, job, error, str(error) or "It took too long.")
            return JobOutcome(rest=pause if isinstance(error, ModelThrottled) else 0)
        except Exception as error:
            log.exception("job failed", kind=job.kind, key=job.key)
            await self._fail(kind, job, error, type(error).__name__)
            return JobOutcome()
        await self.store.finish_job(job)
        return JobOutcome(came)

    async def _fail(self, kind: JobKind, job: ClaimedJob, error: Exception, why: str) -> float:
        most = 0 if isinstance(error, kind.retry.never) else kind.retry.most
        pause = kind.retry.pauses.pause(job.failures + 1, error)
        parked = await self.store.fail_job(job, why, pause, most)
        log.warning(f"{job.kind} failed", key=job.key, failures=job.failures + 1, parked=parked, error=why)
        return pause


@contextlib.asynccontextmanager
async def renew_lease(renew: Callable[[], Awaitable[object]]) -> AsyncIterator[None]:
    """Renews a lease while the block runs. It is short, so that another process soon takes over a dead one's work."""

    async def again() -> None:
        while True:
            await asyncio.sleep(RENEW_SECONDS)
            with contextlib.suppress(DatabaseError):
                await renew()

    async with run_beside(again()):
        yield
