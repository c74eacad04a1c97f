"""The webhook at Telegram: set at the start, and set again when somebody else has changed it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

import structlog

from relay.core.errors import MessengerError, MessengerRefused, MessengerThrottled, TokenRefused
from relay.core.ports import Messenger
from relay.core.retry import RetryPolicy
from relay.surfaces.telegram.parsing.objects import RawUpdate
from relay.surfaces.telegram.parsing.updates import ALLOWED_UPDATES

log = structlog.get_logger()

CHECK_SECONDS = 20.0
RETRIES = RetryPolicy(first=1.0)
REFUSED_SECONDS = 30.0
"""The pause while Telegram does not take the address or the token: a person has to look."""
MOST_CONNECTIONS = 40
"""How many updates Telegram delivers at a time; those of one chat come one after the other."""


class Registration:
    """Keeps Telegram delivering to our address. Any number of processes may do that at once: it is always the same."""

    def __init__(self, messenger: Messenger, url: str, secret: str) -> None:
        self._messenger = messenger
        self._url = url
        self._secret = secret
        self._set = False
        self._failed_at = 0
        self.heard_at = 0.0
        """When Telegram delivered last, or was last known to deliver to our address (monotonic seconds)."""

    def hearing(
        self, take: Callable[[list[RawUpdate]], Awaitable[None]]
    ) -> Callable[[list[RawUpdate]], Awaitable[None]]:
        """`take`; and what it takes is a word from Telegram."""

        async def taken(updates: list[RawUpdate]) -> None:
            self.heard_at = time.monotonic()
            await take(updates)

        return taken

    async def run(self) -> None:
        """Sets the webhook and looks after it, until cancelled. It stays set then: what comes waits at Telegram."""
        failures = 0
        while True:
            try:
                if not self._set or not await self._in_place():
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
            log.error("Telegram does not take RELAY_WEBHOOK_URL", error=error.reason)
        elif isinstance(error, TokenRefused):
            log.error("webhook", error=str(error))
        elif not isinstance(error, MessengerThrottled):
            log.warning("Telegram cannot be reached; setting the webhook later", error=type(error).__name__)

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

    async def _in_place(self) -> bool:
        """Whether the webhook is still ours. What Telegram says of failed deliveries is logged."""
        info = await self._messenger.call("getWebhookInfo")
        failed_at = info.get("last_error_date") or 0
        if failed_at > self._failed_at and time.time() - failed_at < 2 * CHECK_SECONDS:
            log.warning("Telegram had trouble to deliver to the webhook", error=info.get("last_error_message"))
        self._failed_at = failed_at
        ours = same_address(str(info.get("url") or ""), self._url)
        if not ours:
            log.warning("another program has changed the webhook; setting it again")
        return ours


def same_address(one: str, other: str) -> bool:
    """Whether two URLs are the same place, however they are written."""
    first, second = urlsplit(one), urlsplit(other)
    return (first.scheme, first.hostname, first.port or 443, first.path.rstrip("/"), first.query) == (
        second.scheme, second.hostname, second.port or 443, second.path.rstrip("/"), second.query,
    )  # fmt: skip
