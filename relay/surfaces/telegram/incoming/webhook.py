"""The webhook at Telegram: set at the start, and set again when somebody else has changed it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

import structlog

from relay.core.errors import MessengerError, MessengerRefused, MessengerThrottled, TokenRefused
from relay.core.ports import Messenger
from relay.surfaces.telegram.parsing.updates import ALLOWED_UPDATES

log = structlog.get_logger()
Json = dict[str, Any]

CHECK_SECONDS = 20.0
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

    def hearing(self, take: Callable[[list[Json]], Awaitable[None]]) -> Callable[[list[Json]], Awaitable[None]]:
        """`take`; and what it takes is a word from Telegram."""

        async def taken(updates: list[Json]) -> None:
            self.heard_at = time.monotonic()
            await take(updates)

        return taken

    async def run(self) -> None:
        """Sets the webhook and looks after it, until cancelled. It stays set then: what comes waits at Telegram."""
        pause = 1.0
        while True:
            try:
                if not self._set or not await self._in_place():
                    await self._put()
                self.heard_at = time.monotonic()
                await asyncio.sleep(CHECK_SECONDS)
                pause = 1.0
                continue
            except MessengerThrottled as error:
                pause = error.retry_after
            except MessengerRefused as error:
                log.error("Telegram does not take RELAY_WEBHOOK_URL", error=error.reason)
                pause = 30.0
            except TokenRefused as error:
                log.error("webhook", error=str(error))
                pause = 30.0
            except MessengerError as error:
                log.warning("Telegram cannot be reached; setting the webhook later", error=type(error).__name__)
            await asyncio.sleep(pause)
            pause = min(30.0, pause * 1.7)

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
