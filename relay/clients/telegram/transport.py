"""python-telegram-bot's HTTP on aiohttp: a quarter of the processor time of its default, and already imported for
Claude."""

from __future__ import annotations

import contextlib
import io
import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlencode

import aiohttp
from telegram._utils.types import ODVInput
from telegram.error import NetworkError, TelegramError, TimedOut
from telegram.request import BaseRequest, RequestData

from relay.clients.connections import load_certificates, proxy_of

KEEP_ALIVE = 20.0
"""How many seconds an idle connection stays open."""
SLOWEST = 32 * 1024
"""The minimum upload speed in bytes per second. An upload has no silence that would show that it hangs."""
UNREADABLE = "Invalid server response"
"""The message of the bare `TelegramError` for a response that isn't the Bot API's (a proxy's page)."""


class AiohttpRequest(BaseRequest):
    """A connection pool. The cause of a failure (`__cause__`) is aiohttp's error."""

    __slots__ = ("_connections", "_session", "_timeout", "_url")

    def __init__(
        self, url: str, connections: int, read_timeout: float, connect_timeout: float = 5, pool_timeout: float = 1
    ) -> None:
        """The timeouts are in seconds: for silence, for a new connection, and for a free connection of the pool."""
        self._url = url
        self._connections = connections
        self._timeout = aiohttp.ClientTimeout(
            connect=pool_timeout + connect_timeout, sock_connect=connect_timeout, sock_read=read_timeout
        )
        self._session: aiohttp.ClientSession | None = None

    @property
    def read_timeout(self) -> float | None:
        return self._timeout.sock_read

    async def initialize(self) -> None:
        """Creates the pool; connects nothing."""
        if self._session is None:
            connector = aiohttp.TCPConnector(
                limit=self._connections, keepalive_timeout=KEEP_ALIVE, ssl=load_certificates()
            )
            self._session = aiohttp.ClientSession(
                connector=connector,
                timeout=self._timeout,
                cookie_jar=aiohttp.DummyCookieJar(),
                headers={"User-Agent": self.USER_AGENT},
                proxy=proxy_of(self._url),  # not trust_env, which uses a thread twice per request
            )

    async def shutdown(self) -> None:
        """Closes every connection."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    @staticmethod
    def parse_json_payload(payload: bytes) -> dict[str, Any]:
        """See `BaseRequest.parse_json_payload`, which would log the payload. Also rejects what the Bot API can't have
        sent."""
        try:
            parsed = json.loads(payload)
        except (ValueError, RecursionError):
            parsed = None
        if not isinstance(parsed, dict) or "ok" not in parsed:
            raise TelegramError(UNREADABLE)
        return parsed

    async def do_request(
        self,
        url: str,
        method: str,
        request_data: RequestData | None = None,
        read_timeout: ODVInput[float] = BaseRequest.DEFAULT_NONE,
        write_timeout: ODVInput[float] = BaseRequest.DEFAULT_NONE,
        connect_timeout: ODVInput[float] = BaseRequest.DEFAULT_NONE,
        pool_timeout: ODVInput[float] = BaseRequest.DEFAULT_NONE,
    ) -> tuple[int, bytes]:
        """See `BaseRequest.do_request`. Uses the pool's own timeouts."""
        body, headers = _encode(request_data)
        timeout = self._find_timeouts(request_data)
        with _failures():
            async with self._open().request(
                method, url, data=body, headers=headers, timeout=timeout, allow_redirects=False
            ) as response:
                return response.status, await response.read()

    async def download(self, url: str, most: int) -> tuple[int, bytes]:
        """Returns the status and body of an address, reading little more than `most` bytes."""
        body = io.BytesIO()  # whose value, unlike a bytearray's, is not copied: 20 MB would block the loop
        with _failures():
            async with self._open().get(url, allow_redirects=False) as response:
                async for piece in response.content.iter_chunked(2**16):
                    body.write(piece)
                    if body.tell() > most:
                        break
                return response.status, body.getvalue()

    async def server_time(self) -> datetime | None:
        """Returns the server's time (whole seconds); None if unknown."""
        with _failures():
            async with self._open().head(self._url, allow_redirects=False) as response:
                told = response.headers.get("Date")
        try:
            found = parsedate_to_datetime(told or "")
        except ValueError:
            return None
        return found if found.tzinfo else found.replace(tzinfo=UTC)

    def _find_timeouts(self, data: RequestData | None) -> aiohttp.ClientTimeout:
        """Returns the pool's timeouts, with time to send files over a very slow line."""
        if data is None or not data.contains_files:
            return self._timeout
        size = sum(_size(content) for _, content, _ in data.multipart_data.values())
        known = self._timeout
        return aiohttp.ClientTimeout(
            total=(known.connect or 0) + (known.sock_read or 0) + size / SLOWEST,
            connect=known.connect,
            sock_connect=known.sock_connect,
            sock_read=known.sock_read,
        )

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            raise NetworkError("the connections are closed")
        return self._session


@contextlib.contextmanager
def _failures() -> Iterator[None]:
    """Translates aiohttp's errors to python-telegram-bot's, without the address, which contains the bot's token."""
    try:
        yield
    except TimeoutError as error:
        raise TimedOut from error
    except (aiohttp.ClientError, OSError) as error:
        raise NetworkError(type(error).__name__) from error


def _size(content: Any) -> int:
    """Returns the size of a part in bytes; it may be an open file."""
    return len(content) if isinstance(content, bytes) else os.fstat(content.fileno()).st_size


def _encode(data: RequestData | None) -> tuple[Any, dict[str, str]]:
    """Encodes parameters as python-telegram-bot does: a form, multipart if there are files."""
    if data is None:
        return None, {}
    if not data.contains_files:
        return urlencode(data.json_parameters).encode(), {"Content-Type": "application/x-www-form-urlencoded"}
    form = aiohttp.FormData(data.json_parameters, quote_fields=False)
    for name, (filename, content, kind) in data.multipart_data.items():
        form.add_field(name, content, filename=filename, content_type=kind)
    return form, {}
