"""The job that delivers due reminders: one job for each chat, which waits for its nearest reminder."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

from relay.jobs.kinds import JobKind, JobServices, Retry
from relay.memory.proactive.checking import check
from relay.memory.proactive.looking import Lookout
from relay.memory.reminders.due import first_of, needs_check, tell
from relay.memory.review.judging import notify_nobody
from relay.memory.rows.jobs import ClaimedJob


def kind(services: JobServices) -> JobKind:
    """Returns the kind for a chat's due reminders."""
    return reminder_kind(services.lookout, services.bot_id, services.send_queued)


def reminder_kind(
    lookout: Lookout, bot_id: int, send_queued: Callable[[], Awaitable[object]] = notify_nobody
) -> JobKind:
    """Returns the same kind, from only what it needs."""
    run = partial(tell_due, lookout, bot_id, send_queued)
    return JobKind("reminder", run, timeout=300, retry=Retry(most=1_000), at_once=8)


async def tell_due(
    lookout: Lookout, bot_id: int, send_queued: Callable[[], Awaitable[object]], job: ClaimedJob
) -> bool:
    """Queues what is due first in a chat; the job runs again for the rest. Returns whether anything was due."""
    work = await lookout.store.reminder_work(job)
    if work is None:
        return False
    work = first_of(work)
    due = needs_check(work)
    found = await asyncio.gather(*(check(lookout, one, work.now) for one in due))
    told = tell(work, {one.id: checked for one, checked in zip(due, found, strict=True)})
    queued = await lookout.store.tell_reminders(job, bot_id, told.messages, told.not_before)
    if queued:
        await send_queued()
    return bool(queued)
