"""Telegram's Bot API through python-telegram-bot's `Bot`: its transport and errors, with raw JSON."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any
from urllib.parse import quote

from aiohttp import ClientConnectorError, ConnectionTimeoutError
from telegram import Bot, InputFile
from telegram import error as vendor
from telegram.error import (
    BadRequest,
    Conflict,
    Forbidden,
    InvalidToken,
    NetworkError,
    RetryAfter,
    TelegramError,
    TimedOut,
)

from relay.clients.telegram.transport import UNREADABLE, AiohttpRequest
from relay.core import metrics
from relay.core.errors import (
    ChatGone,
    ChatMigrated,
    DeliveryUncertain,
    FileTooLarge,
    MessengerError,
    MessengerRefused,
    MessengerThrottled,
    MessengerUnavailable,
    PollConflict,
    TokenRefused,
)
from relay.core.models import File

POLL_SECONDS = 30
FETCH_SECONDS = 120
"""The time limit for a download in seconds."""
NOT_SENT = (ClientConnectorError, ConnectionTimeoutError)
GONE = (
    "chat not found",
    "user is deactivated",
    "not enough rights to send",
    "need administrator rights",
    "have no rights",
)


class Telegram(Bot):
    """The `Messenger` port. Calls methods by their Bot API names, so methods newer than the library work too."""

    __slots__ = ("_calls",)

    def __init__(self, token: str, api_url: str) -> None:
        self._calls = AiohttpRequest(api_url, 64, read_timeout=20, pool_timeout=30)
        super().__init__(
            token,
            base_url=f"{api_url}/bot",
            base_file_url=f"{api_url}/file/bot",
            request=self._calls,
            get_updates_request=AiohttpRequest(api_url, 1, read_timeout=POLL_SECONDS + 10),
        )

    async def open(self) -> None:
        """Opens both connection pools; sends nothing."""
        for request in self._request:
            await request.initialize()

    async def close_pools(self) -> None:
        for request in self._request:
            await request.shutdown()

    async def call(self, method: str, **parameters: Any) -> Any:
        given = {key: _upload(value) if isinstance(value, File) else value for key, value in parameters.items()}
        try:
            return await self._post(method, given)
        except TelegramError as error:
            translated = _translate(error)
            metrics.ERRORS.labels("telegram", type(translated).__name__).inc()
            raise translated from None
        except KeyError:  # a success without a result
            raise DeliveryUncertain() from None

    async def fetch(self, file_id: str, most: int) -> bytes:
        try:
            async with asyncio.timeout(FETCH_SECONDS):
                file = await self.call("getFile", file_id=file_id)
                path = file.get("file_path") if isinstance(file, dict) else None
                if not isinstance(path, str) or not path:
                    raise MessengerRefused("the file is not there")
                size = file.get("file_size")
                if isinstance(size, int) and size > most:
                    raise FileTooLarge
                content = await self._content(path, most)
        except (TimeoutError, DeliveryUncertain):  # safe to repeat: it changes nothing
            raise MessengerUnavailable from None
        except MessengerRefused as error:
            if "too big" in error.reason:
                raise FileTooLarge from None
            raise
        if len(content) > most:
            raise FileTooLarge
        return content

    async def _content(self, path: str, most: int) -> bytes:
        """Downloads the file at a path from `getFile`. A Bot API server in local mode gives a path on its own disk."""
        if PurePosixPath(path).is_absolute() or PureWindowsPath(path).is_absolute():
            try:
                return await asyncio.to_thread(_head, path, self.token, most + 1)
            except (OSError, ValueError):
                raise MessengerRefused("the Bot API server keeps its files where Relay cannot read them") from None
        try:
            status, body = await self._calls.download(f"{self.base_file_url}/{quote(path)}", most)
        except TelegramError as error:
            raise _translate(error) from None
        if status == 200:
            return body
        if status == 429 or status >= 500:
            raise MessengerUnavailable
        raise MessengerRefused(f"the download was answered with {status}")


def _upload(file: File) -> InputFile:
    """Wraps a file for upload. An open file is read from its beginning while it is sent, and stays open."""
    if isinstance(file.content, bytes):
        return InputFile(file.content, file.name)
    file.content.seek(0)
    again = os.fdopen(os.dup(file.content.fileno()), "rb")
    return InputFile(again, file.name, read_file_handle=False)


def _head(path: str, token: str, most: int) -> bytes:
    """Returns a local file's first `most` bytes. A local Bot API server stores files in a folder named after the bot's
    token (on Windows with `~` for the colon). Refuses paths outside of it, such as keys."""
    found = Path(path).resolve(strict=True)
    if not any(folder.name.replace("~", ":").startswith(token) for folder in found.parents):
        raise MessengerRefused("the Bot API server names a file outside the bot's own folder")
    if not found.is_file():
        raise FileNotFoundError
    with found.open("rb") as file:
        return file.read(most)


def _translate(error: TelegramError) -> MessengerError:
    """Returns Relay's error for one of PTB's. Only what was certainly not carried out may be repeated without
    looking. A page that isn't from Telegram doesn't count as a refusal, whatever its status."""
    if UNREADABLE in (error.message, str(error.__cause__)):
        return DeliveryUncertain()
    if isinstance(error, RetryAfter):
        seconds = error.retry_after
        return MessengerThrottled(seconds if isinstance(seconds, int | float) else seconds.total_seconds())
    if isinstance(error, Forbidden):
        return ChatGone(error.message)
    if isinstance(error, InvalidToken):
        return TokenRefused(absent="not found" in error.message.lower())
    if isinstance(error, Conflict):
        return PollConflict()
    if isinstance(error, vendor.ChatMigrated):
        return ChatMigrated(error.new_chat_id)
    if isinstance(error, BadRequest):
        gone = any(words in error.message.lower() for words in GONE)
        return ChatGone(error.message) if gone else MessengerRefused(error.message)
    if isinstance(error.__cause__, NOT_SENT):
        return MessengerUnavailable()
    if isinstance(error, TimedOut | NetworkError):
        return DeliveryUncertain()
    return MessengerRefused(error.message)
