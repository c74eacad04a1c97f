"""The registration of the webhook: set at the start, and again if another program changes it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

import structlog

from relay.core.errors import MessengerError, MessengerRefused, MessengerThrottled, TokenRefused
from relay.core.ports import Messenger
from relay.core.retry import RetryPolicy
from relay.surfaces.telegram.outgoing.insist import REFUSED_SECONDS
from relay.surfaces.telegram.parsing.objects import RawUpdate
from relay.surfaces.telegram.parsing.updates import ALLOWED_UPDATES

log = structlog.get_logger()

CHECK_SECONDS = 20.0
RETRIES = RetryPolicy(first=1.0)
MOST_CONNECTIONS = 40
"""How many updates Telegram delivers at a time; those of one chat are in order."""


class Registration:
    """Keeps the webhook set. Any number of processes may do so at once, since they all set the same address."""

    def __init__(self, messenger: Messenger, url: str, secret: str) -> None:
        self._messenger = messenger
        self._url = url
        self._secret = secret
        self._set = False
        self._failed_at = 0
        self.heard_at = 0.0
        """When Telegram last delivered, or the webhook was last seen to be set (monotonic seconds)."""

    def wrap(self, take: Callable[[list[RawUpdate]], Awaitable[None]]) -> Callable[[list[RawUpdate]], Awaitable[None]]:
        """Wraps `take` to note when Telegram delivers."""

        async def taken(updates: list[RawUpdate]) -> None:
            self.heard_at = time.monotonic()
            await take(updates)

        return taken

    async def run(self) -> None:
        """Sets and checks the webhook until cancelled. It stays set, so that updates wait at Telegram."""
        failures = 0
        while True:
            try:
                if not self._set or not await self._is_in_place():
                    await self._put()
                self.heard_at = time.monotonic()
                await asyncio.sleep(CHECK_SECONDS)
                failures = 0
            except MessengerError as error:
                failures += 1
                self._report(error)
                refused = isinstance(error, MessengerRefused | TokenRefused)
                await asyncio.sleep(REFUSED_SECONDS if refused else RETRIES.pause(failures, error))

    def _report(self, error: MessengerError) -> None:
        if isinstance(error, MessengerRefused):
            log.error("Telegram refuses RELAY_WEBHOOK_URL", error=error.reason)
        elif isinstance(error, TokenRefused):
            log.error("webhook", error=str(error))
        elif not isinstance(error, MessengerThrottled):
            log.warning("cannot reach Telegram; setting the webhook later", error=type(error).__name__)

    async def _put(self) -> None:
        await self._messenger.call(
            "setWebhook",
            url=self._url,
            secret_token=self._secret,
            allowed_updates=list(ALLOWED_UPDATES),
            max_connections=MOST_CONNECTIONS,
            drop_pending_updates=False,
        )
        self._set = True
        log.info("webhook set")

    async def _is_in_place(self) -> bool:
        """Whether the webhook is still set to this address. Logs what Telegram reports about failed deliveries."""
        info = await self._messenger.call("getWebhookInfo")
        failed_at = info.get("last_error_date") or 0
        if failed_at > self._failed_at and time.time() - failed_at < 2 * CHECK_SECONDS:
            log.warning("Telegram could not deliver to the webhook", error=info.get("last_error_message"))
        self._failed_at = failed_at
        ours = same_address(str(info.get("url") or ""), self._url)
        if not ours:
            log.warning("another program has changed the webhook; setting it again")
        return ours


def same_address(one: str, other: str) -> bool:
    """Whether two URLs are the same address, even if they are written differently."""
    first, second = urlsplit(one), urlsplit(other)
    return (first.scheme, first.hostname, first.port or 443, first.path.rstrip("/"), first.query) == (
        second.scheme, second.hostname, second.port or 443, second.path.rstrip("/"), second.query,
    )  # fmt: skip
