"""The daily cleanup of rows that are kept to recognize repeats, and of old records."""

from __future__ import annotations

from relay.jobs.kinds import JobKind, Retry
from relay.memory.rows.jobs import ClaimedJob
from relay.memory.store import Store

DAYS = 14
"""How many days updates and failed work are kept."""
BATCH = 5_000
"""How many rows are deleted in one step."""
RECORDS = 1_000
"""From how many turns records are deleted in one step."""


def tidy_kind(store: Store, keep_days: int) -> JobKind:
    """Returns the kind for the daily cleanup."""

    async def run(_: ClaimedJob) -> bool:
        return await tidy(store, keep_days=keep_days) > 0

    return JobKind("tidy", run, timeout=4 * 3600, retry=Retry(most=5), daily_at=(3, 10))


async def tidy(store: Store, days: int = DAYS, batch: int = BATCH, keep_days: int = 0) -> int:
    """Deletes the rows of finished updates, and records older than `keep_days` (0: never), in batches. Returns how many
    rows."""
    dropped = 0
    while (gone := await store.tidy(days, batch)) > 0:
        dropped += gone
    while keep_days and (gone := await store.drop_records(keep_days, min(batch, RECORDS))) > 0:
        dropped += gone
    return dropped
