"""The jobs that send messages unasked: due reminders, heartbeats, digests and proposals of growth."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from functools import partial

from relay.jobs.kinds import JobKind, Retry
from relay.memory.night.asking import BatchModel
from relay.memory.night.digest import tell_morning
from relay.memory.night.growth import Gardener, grow
from relay.memory.proactive.heartbeat import beat, check
from relay.memory.proactive.looking import Lookout
from relay.memory.reminders.due import first_of, needs_check, tell
from relay.memory.review.judging import notify_nobody
from relay.memory.rows.jobs import ClaimedJob

PATIENT = Retry(most=1_000)


def digest_kind(batch: BatchModel, bot_id: int, admins: Callable[[], Collection[int]]) -> JobKind:
    """Returns the kind for a space's next digest in the morning."""
    return JobKind("digest", partial(tell_morning, batch, bot_id, admins), timeout=240, retry=PATIENT, at_once=2)


def growth_kind(gardener: Gardener) -> JobKind:
    """Returns the kind for a proposal of growth, once a week for each admin who wants it."""
    return JobKind("growth", partial(grow, gardener), timeout=240, retry=PATIENT, gate=gardener.batch.gate)


def heartbeat_kind(lookout: Lookout, bot_id: int) -> JobKind:
    """Returns the kind for a person's check, every few hours, of what has changed."""
    run = partial(beat, lookout, bot_id)
    return JobKind("heartbeat", run, timeout=150, retry=PATIENT, at_once=2, gate=lookout.gate)


def reminder_kind(
    lookout: Lookout, bot_id: int, send_queued: Callable[[], Awaitable[object]] = notify_nobody
) -> JobKind:
    """Returns the kind for a chat's due reminders: one job, which waits for the nearest."""
    run = partial(tell_due, lookout, bot_id, send_queued)
    return JobKind("reminder", run, timeout=300, retry=PATIENT, at_once=8)


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
