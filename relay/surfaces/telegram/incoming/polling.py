"""Long polling: an update is stored before the next poll tells Telegram that it arrived."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import deque

import structlog

from relay.core.errors import (
    DatabaseError,
    MessengerError,
    MessengerThrottled,
    MessengerUnavailable,
    OtherVersion,
    PollConflict,
    TokenRefused,
)
from relay.core.ports import Messenger
from relay.core.retry import RetryPolicy
from relay.core.tasks import run_beside
from relay.memory.calls.queue import LEASE_SECONDS
from relay.memory.retrying_database import RetryingDatabase
from relay.memory.store import Store
from relay.surfaces.telegram.incoming.intake import Intake
from relay.surfaces.telegram.outgoing.insist import REFUSED_SECONDS
from relay.surfaces.telegram.parsing.objects import RawUpdate, is_number
from relay.surfaces.telegram.parsing.updates import ALLOWED_UPDATES
from relay.surfaces.telegram.turns.polling_lease import PollLease

log = structlog.get_logger()

POLL_SECONDS = 30
RETRIES = RetryPolicy(first=1.0, longest=10.0)
QUICK_SECONDS = 0.3
"""If an empty poll returns sooner than this, the server did not wait, so the next poll is delayed."""
HEAD_START_SECONDS = 0.002
"""How long the next poll waits after updates, so that their turns ask the database before it takes the processor."""
RIVAL_SECONDS = 120.0
"""How long a poll lost to another program counts as a sign of it."""


class Polling:
    """Polls until cancelled, as long as this process holds the polling lease, which the worker's claims renew.

    Waits for an unavailable database: updates that cannot be stored are not acknowledged and polled again.
    """

    def __init__(
        self,
        intake: Intake,
        messenger: Messenger,
        store: Store,
        patient: RetryingDatabase,
        bot_id: int,
        lease: PollLease,
    ) -> None:
        self._intake = intake
        self._messenger = messenger
        self._store = store
        self._patient = patient
        self._duty = f"poll:{bot_id}"
        self._lease = lease
        self._offset: int | None = None
        self._polled_at = 0.0
        self._lost: deque[float] = deque(maxlen=10)
        """When polls were lost to another program (monotonic seconds)."""

    @property
    def polled_at(self) -> float:
        """When the last poll returned, here or in another process as far as is known (monotonic seconds)."""
        return max(self._polled_at, self._lease.elsewhere_at)

    def count_lost(self) -> int:
        """How many polls were lost to another program in the last minutes, counted up to ten."""
        return sum(at > time.monotonic() - RIVAL_SECONDS for at in self._lost)

    async def run(self) -> None:
        """Takes turns in polling with the other processes, until cancelled."""
        try:
            while True:
                if not await self._take():
                    await self._lease.free()
                    continue
                await self._while_ours()
                log.warning("polling was taken over by another process")
        finally:
            with contextlib.suppress(DatabaseError, TimeoutError):
                async with asyncio.timeout(5):
                    await self._store.free_duty(self._duty)

    async def _take(self) -> bool:
        """Tries to take the lease, and returns whether it did; waits for an unavailable database."""
        while True:
            try:
                taken = await self._store.hold_duty(self._duty, LEASE_SECONDS)
            except DatabaseError as error:
                log.warning("cannot tell whether another process polls", error=str(error))
                await self._patient.repair()
                await asyncio.sleep(1)
                continue
            if taken:
                self._lease.note_taken()
            else:
                log.info("another process is polling; this one is standing by")
            return taken

    async def _while_ours(self) -> None:
        """Polls until another process has the lease."""
        async with run_beside(self._lease.wait_until_lost()) as lost, run_beside(self._poll_on()) as polling:
            await asyncio.wait({polling, lost}, return_when=asyncio.FIRST_COMPLETED)
            if polling.done():
                polling.result()

    async def _poll_on(self) -> None:
        """Polls, stores and acknowledges; waits out every failure but `OtherVersion`."""
        failures = 0
        while True:
            try:
                asked = time.monotonic()
                updates = await self._poll()
                if updates:
                    await self._intake.take(updates)
                    self._offset = max(update["update_id"] for update in updates) + 1
                    await asyncio.sleep(HEAD_START_SECONDS)
                elif time.monotonic() - asked < QUICK_SECONDS:
                    await asyncio.sleep(QUICK_SECONDS)
                failures = 0
            except OtherVersion:
                raise
            except (MessengerError, DatabaseError) as error:
                if isinstance(error, PollConflict) and await self._webhook_removed():
                    continue
                failures += 1
                await self._report(error)
                refused = isinstance(error, TokenRefused)
                await asyncio.sleep(REFUSED_SECONDS if refused else RETRIES.pause(failures, error))

    async def _report(self, error: MessengerError | DatabaseError) -> None:
        if isinstance(error, TokenRefused | PollConflict):
            log.log(logging.ERROR if isinstance(error, TokenRefused) else logging.WARNING, "polling", error=str(error))
        elif isinstance(error, DatabaseError):
            log.error("cannot store updates; not acknowledged", error=str(error))
            await self._patient.repair()
        elif not isinstance(error, MessengerThrottled):
            log.warning("cannot reach Telegram; polling again", error=type(error).__name__)
        if isinstance(error, PollConflict):
            self._lost.append(time.monotonic())

    async def _poll(self) -> list[RawUpdate]:
        """Runs one long poll. Cuts off a poll that hangs, which closes its connection."""
        try:
            async with asyncio.timeout(POLL_SECONDS + 15):
                updates = await self._messenger.call(
                    "getUpdates", offset=self._offset, timeout=POLL_SECONDS, allowed_updates=list(ALLOWED_UPDATES)
                )
        except TimeoutError:
            log.warning("a poll hung; polling again")
            return []
        if not isinstance(updates, list):
            raise MessengerUnavailable
        self._polled_at = time.monotonic()
        return [update for update in updates if isinstance(update, dict) and is_number(update.get("update_id"))]

    async def _webhook_removed(self) -> bool:
        """Removes a webhook that blocks polling. False if there is none: another program polls."""
        with contextlib.suppress(MessengerError):
            if (await self._messenger.call("getWebhookInfo")).get("url"):
                await self._messenger.call("deleteWebhook", drop_pending_updates=False)
                log.info("webhook removed; waiting updates now come by polling")
                return True
        return False
