"""The jobs that complete erasures, also those of off-the-record sessions, and retry what could not be deleted."""

from __future__ import annotations

from relay.core.ports import MediaStore, Messenger
from relay.jobs.kinds import JobKind, NotNow, Retry
from relay.memory.erasure import finish_erasure, remove_files, retract, sweep
from relay.memory.rows.jobs import ClaimedJob
from relay.memory.store import Store

WAIT_SECONDS, LATER_SECONDS = 10.0, 5.0
"""How many seconds a job waits for its erasure before it lets others go first."""


def erasure_kind(store: Store, media_store: MediaStore, messenger: Messenger | None, bot_id: int) -> JobKind:
    """Returns the kind for erasures in tables, files and chats. The command that started one works on it too; whichever
    comes first takes the next step."""

    async def run(job: ClaimedJob) -> bool:
        if await finish_erasure(store, int(job.key), WAIT_SECONDS) is None:
            raise NotNow("Another process works on it, or it waits for turns in progress.", LATER_SECONDS)
        await remove_files(store, media_store)
        if messenger is not None:
            await retract(store, messenger, bot_id, int(job.key))
        return True

    return JobKind("erasure", run, timeout=3600, retry=Retry(most=20))


def sweep_kind(store: Store, media_store: MediaStore, messenger: Messenger, bot_id: int) -> JobKind:
    """Returns the kind for the sweep of a bot's chats."""

    async def run(_: ClaimedJob) -> bool:
        await sweep(store, media_store, messenger, bot_id)
        return True

    return JobKind("sweep", run, timeout=3600, retry=Retry(most=20), minutes=3)
