"""The jobs that write: summaries, titles, and compressed versions of sessions."""

from __future__ import annotations

import asyncio
from functools import partial

import structlog

from relay.core.errors import BudgetUsedUp, RelayError
from relay.jobs.kinds import JobKind, Retry
from relay.memory.rows.jobs import ClaimedJob
from relay.memory.writing.compressor import Compressor
from relay.memory.writing.summaries import Summariser, summarise
from relay.memory.writing.titles import name_session
from relay.memory.writing.versions import make_version

log = structlog.get_logger()

SECONDS = 1_800
"""The time limit in seconds. A long session takes dozens of model calls, whose results are kept."""
MOST_FAILURES = 8
BROKEN = "Something went wrong, several times."


def summary_kind(summariser: Summariser) -> JobKind:
    """Returns the kind for summaries. A single one may take several model calls."""
    run = partial(summarise, summariser)
    return JobKind("summary", run, timeout=660, retry=Retry(most=8), at_once=4, gate=summariser.gate)


def compression_kind(compressor: Compressor) -> JobKind:
    """Returns the kind for versions that people, compositions and the night request."""
    work, retry = partial(run, compressor), Retry(most=MOST_FAILURES)
    return JobKind("compression", work, timeout=SECONDS + 60, retry=retry, at_once=2, gate=compressor.gate)


async def run(compressor: Compressor, job: ClaimedJob) -> bool:
    """Makes a version and returns whether there was one to make. The last failure ends the version, so that what waits
    for it continues without it."""
    try:
        async with asyncio.timeout(SECONDS):
            return await make_version(compressor, job)
    except BudgetUsedUp:
        raise
    except Exception as error:
        if job.failures + 1 < MOST_FAILURES:
            raise
        log.warning("a version can't be made", version=job.key, exc_info=error)
        await compressor.store.fail_version(job, error.plain if isinstance(error, RelayError) else BROKEN)
        return False


def title_kind(summariser: Summariser) -> JobKind:
    """Returns the kind for titles."""
    run = partial(name_session, summariser)
    return JobKind("title", run, timeout=120, retry=Retry(most=6), at_once=4, gate=summariser.gate)
