"""The job that ends and erases off-the-record sessions, and retries what an erasure could not delete, every few
minutes."""

from __future__ import annotations

from relay.core.ports import MediaStore, Messenger
from relay.jobs.kinds import JobKind, Retry
from relay.memory.erasure import sweep
from relay.memory.rows.jobs import ClaimedJob
from relay.memory.store import Store


def sweep_kind(store: Store, media_store: MediaStore, messenger: Messenger, bot_id: int) -> JobKind:
    """Returns the kind for the sweep of a bot's chats."""

    async def run(_: ClaimedJob) -> bool:
        await sweep(store, media_store, messenger, bot_id)
        return True

    return JobKind("sweep", run, timeout=3600, retry=Retry(most=20), minutes=3)
