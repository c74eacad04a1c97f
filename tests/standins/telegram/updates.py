"""The queue of updates: which kinds the bot may see, which updates it got, and which it acknowledged."""

from __future__ import annotations

import asyncio
import random
import ssl
from collections.abc import Callable
from typing import Any

from tests.standins.telegram.values import ApiError, Json

NOT_BY_DEFAULT = frozenset({"chat_member", "message_reaction", "message_reaction_count"})
SET_MEANWHILE = "Conflict: terminated by setWebhook request"
TWO_POLLERS = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"
WEBHOOK_ACTIVE = (
    "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"
)


class UpdateQueue:
    """Updates in order of their ids. A higher offset acknowledges an id, and the queue drops it."""

    def __init__(self, changed: Callable[[], None], first_id: int = 731_000_000) -> None:
        self._changed = changed
        self._next_id = first_id
        self._offset = 0
        self._again: list[Json] = []
        self._poller: asyncio.Future[None] | None = None
        self.known: dict[int, Json] = {}
        self.pending: dict[int, Json] = {}
        self.acked: list[int] = []
        self.dropped: list[Json] = []
        self.allowed: frozenset[str] | None = None
        self.webhook: Json = {}
        self.trust: ssl.SSLContext | bool = True
        """The certificates to trust for a webhook."""
        self.shuffle: random.Random | None = None
        """While set, the updates of each answer are in random order."""
        self.arrived = asyncio.Event()

    @property
    def polling(self) -> bool:
        """Whether a getUpdates is waiting now."""
        return self._poller is not None

    def allows(self, kind: str) -> bool:
        """Whether the bot asked for updates of this kind."""
        return kind not in NOT_BY_DEFAULT if self.allowed is None else kind in self.allowed

    def set_allowed(self, kinds: list[str] | None) -> None:
        """Store the kinds that the bot asked for. ``None`` keeps the earlier choice; an empty list means the
        default."""
        if kinds is not None:
            self.allowed = frozenset(kinds) or None

    def add(self, kind: str, payload: Any) -> int | None:
        """Queue an update. Return its id, or ``None`` if the bot didn't ask for this kind."""
        if not self.allows(kind):
            self.dropped.append({kind: payload})
            return None
        return self.push({kind: payload})

    def push(self, update: Json) -> int:
        """Queue an update as it is, even if the bot didn't ask for its kind. Assigns an id unless it has one."""
        update_id = int(update.get("update_id", self._next_id))
        self._next_id = max(self._next_id, update_id + 1)
        update = {"update_id": update_id, **update}
        self.known[update_id] = update
        if update_id < self._offset:
            self._again.append(update)
        else:
            self.pending[update_id] = update
        self._wake()
        return update_id

    def redeliver(self, update_id: int) -> None:
        """Hand out an update again, even though it was acknowledged."""
        self._again.append(self.known[update_id])
        self._wake()

    def acknowledge(self, offset: int) -> None:
        """Forget every update below the offset."""
        self._offset = max(self._offset, offset)
        gone = [update_id for update_id in self.pending if update_id < offset]
        for update_id in gone:
            del self.pending[update_id]
        self.acked.extend(gone)
        if gone:
            self._changed()

    def drop_pending(self) -> None:
        """Drop all pending updates, as ``drop_pending_updates`` does."""
        self.acked.extend(self.pending)
        self.pending.clear()
        self._again.clear()

    def take(self, limit: int) -> list[Json]:
        """The updates to hand out now. Pending ones stay until they are acknowledged."""
        batch, self._again = self._again[:limit], self._again[limit:]
        for update in sorted(self.pending.values(), key=lambda update: update["update_id"]):
            if len(batch) >= limit:
                break
            batch.append(update)
        if self.shuffle is not None:
            self.shuffle.shuffle(batch)
        self.arrived.clear()
        return batch

    def deliverable(self) -> list[Json]:
        """The updates to deliver to a webhook now, in the order of ids."""
        return sorted([*self.pending.values(), *self._again], key=lambda update: update["update_id"])

    def delivered(self, update_id: int) -> None:
        """Record that the webhook accepted an update."""
        self._again = [update for update in self._again if update["update_id"] != update_id]
        if self.pending.pop(update_id, None) is not None:
            self.acked.append(update_id)
        self._changed()

    async def poll(self, params: Json) -> list[Json]:
        """Long polling: waits up to ``timeout`` seconds for updates."""
        if self.webhook.get("url"):
            raise ApiError(409, WEBHOOK_ACTIVE)
        self.interrupt(ApiError(409, TWO_POLLERS))
        self.set_allowed(params.get("allowed_updates"))
        offset = int(params.get("offset") or 0)
        if offset < 0:
            offset = (sorted(self.pending)[offset:] or [0])[0]
        self.acknowledge(offset)
        limit = min(max(int(params.get("limit") or 100), 1), 100)
        loop = asyncio.get_running_loop()
        deadline = loop.time() + min(float(params.get("timeout") or 0), 50)
        while not (batch := self.take(limit)) and (left := deadline - loop.time()) > 0:
            await self._wait(left)
        return batch

    async def _wait(self, seconds: float) -> None:
        """Sleep until something arrives. Raises if another poll takes over."""
        waiting = self._poller = asyncio.get_running_loop().create_future()
        self._changed()
        try:
            await asyncio.wait({waiting}, timeout=seconds)
            if waiting.done():
                waiting.result()
        finally:
            if self._poller is waiting:
                self._poller = None

    def interrupt(self, error: Exception) -> None:
        """Make the waiting poll fail, if there is one."""
        if self._poller is not None and not self._poller.done():
            self._poller.set_exception(error)
        self._poller = None

    def _wake(self) -> None:
        self.arrived.set()
        if self._poller is not None and not self._poller.done():
            self._poller.set_result(None)
        self._changed()
