"""Fetches people's files from Telegram."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from relay.core import metrics
from relay.core.errors import FileTooLarge, MediaRefused, MessengerError, MessengerThrottled, MessengerUnavailable
from relay.core.models import Attachment
from relay.core.ports import MediaStore, Messenger
from relay.core.retry import RetryPolicy
from relay.media.room import Room

TRIES = 4
RETRIES = RetryPolicy(first=1.0, obeyed=30.0)
AT_ONCE = 4
HELD, HEARD = 48 * 2**20, 24 * 2**20
"""The most bytes held at once: of files being opened, and of recordings waiting to be transcribed."""
TELEGRAM_LIMIT = 20 * 2**20
"""The most bytes that Telegram lets bots download. A self-hosted Bot API server has no such limit."""
SECONDS = 300
"""The time limit for one file in seconds, including retries."""
GONE = "I can't get it from Telegram any more. Please send it again."
LATER = "I can't get it from Telegram right now. Please send it again later."
UNFETCHED = (GONE, LATER)
OWN_SERVER = (
    " (That is Telegram's limit for bots. My admins can raise it with a Bot API server of their own: "
    "TELEGRAM_API_URL and RELAY_MAX_FILE_MB.)"
)


class Files:
    """Fetches files, a few at a time, with retries."""

    def __init__(
        self, messenger: Messenger, most: int, media_store: MediaStore | None = None, room: int = HELD
    ) -> None:
        """`most`: the most bytes of one file; `media_store`: where copies are stored, or None; `room`: the most bytes
        held at once."""
        self._messenger = messenger
        self._most = most
        self._media_store = media_store
        self._places = asyncio.Semaphore(AT_ONCE)
        self._room = Room(room)

    @asynccontextmanager
    async def open(self, attachment: Attachment) -> AsyncIterator[bytes]:
        """Provides a file's content while it is needed. Waits if too much is held, so calls must not be nested. Raises
        `MediaRefused`."""
        if attachment.size > self._most:
            raise too_large(attachment.size, self._most)
        async with self._room.reserve(attachment.size):
            yield await self._get(attachment)

    async def _get(self, attachment: Attachment) -> bytes:
        if self._media_store is None or not attachment.kept:
            return await self._fetch(attachment)
        content = await self._media_store.get(attachment.unique_id)
        if content is None:
            content = await self._fetch(attachment)
            await self._media_store.put(attachment.unique_id, content)
        return content

    async def _fetch(self, attachment: Attachment) -> bytes:
        """Downloads a file from Telegram."""
        try:
            async with asyncio.timeout(SECONDS):
                return await self._fetch_with_retries(attachment)
        except TimeoutError:
            raise MediaRefused(LATER) from None

    async def _fetch_with_retries(self, attachment: Attachment) -> bytes:
        async def fetch() -> bytes:
            async with self._places:
                return await self._messenger.fetch(attachment.file_id, self._most)

        async def note(_: BaseException) -> None:
            metrics.RETRIES.labels("telegram", "fetch").inc()

        try:
            return await RETRIES.run(fetch, (MessengerThrottled, MessengerUnavailable), note=note, tries=TRIES)
        except FileTooLarge:
            raise too_large(attachment.size, self._most) from None
        except (MessengerThrottled, MessengerUnavailable):
            raise MediaRefused(LATER) from None
        except MessengerError:
            raise MediaRefused(GONE) from None


def preview_id(unique_id: str) -> str:
    """Returns the id under which a video's still picture is stored."""
    return f"{unique_id}-still"


def too_large(size: int, most: int) -> MediaRefused:
    """Returns the error for a file that is too large. `size` and `most` are in bytes; 0: unknown."""
    told = f"{math.ceil(size / 2**20)} MB; " if size else ""
    limit = most if size > most else min(most, TELEGRAM_LIMIT)
    hint = OWN_SERVER if limit == TELEGRAM_LIMIT else " (RELAY_MAX_FILE_MB sets that.)"
    line = f"It's too large: {told}I can take {limit // 2**20} MB."
    return MediaRefused(f"{line}{hint}", line)
