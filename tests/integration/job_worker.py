"""A process that does jobs of the kind "count" until none are left: `python -m tests.integration.job_worker URL ID`."""

from __future__ import annotations

import asyncio
import random
import sys

from relay.clients.postgres.database import Postgres
from relay.jobs.kinds import JobKind, Retry
from relay.jobs.runner import Runner
from relay.memory.rows.jobs import ClaimedJob
from relay.memory.store import Store


async def work(url: str, name: str) -> None:
    database = Postgres(url)
    await database.open()

    async def run(job: ClaimedJob) -> bool:
        await asyncio.sleep(random.uniform(0.01, 0.06))
        stored = await database.call("count_job", job_id=job.id, fence=job.fence)
        print(job.key, flush=True)
        await asyncio.sleep(0.01)  # allows a kill between storing the result and ending the job
        return bool(stored)

    store = Store(database, name)
    await store.release()
    runner = Runner(store, [JobKind("count", run, timeout=60, retry=Retry(most=3), at_once=3)])
    while await database.call("jobs_left"):
        await runner.run_due("count")
        await asyncio.sleep(0.05)
    await database.close()


if __name__ == "__main__":
    asyncio.run(work(*sys.argv[1:]))
