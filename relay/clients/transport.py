"""python-telegram-bot's HTTP on aiohttp: a quarter of the processor time of its own, and imported for Claude anyway."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import aiohttp
from httpx import create_ssl_context
from telegram._utils.types import ODVInput
from telegram.error import NetworkError, TimedOut
from telegram.request import BaseRequest, RequestData

KEEP_ALIVE = 20.0
"""Seconds that an unused connection stays open."""


class AiohttpRequest(BaseRequest):
    """One pool of connections. A failure's cause (`__cause__`) is aiohttp's own error."""

    __slots__ = ("_connections", "_session", "_timeout")

    def __init__(self, connections: int, read_timeout: float, connect_timeout: float = 5, pool_timeout: float = 1):
        """Timeouts in seconds: for silence, for a new connection, for a free connection of the pool."""
        self._connections = connections
        self._timeout = aiohttp.ClientTimeout(
            connect=pool_timeout + connect_timeout, sock_connect=connect_timeout, sock_read=read_timeout
        )
        self._session: aiohttp.ClientSession | None = None

    @property
    def read_timeout(self) -> float | None:
        return self._timeout.sock_read

    async def initialize(self) -> None:
        """Makes the pool; connects nothing."""
        if self._session is None:
            connector = aiohttp.TCPConnector(
                limit=self._connections, keepalive_timeout=KEEP_ALIVE, ssl=create_ssl_context()
            )
            self._session = aiohttp.ClientSession(
                connector=connector,
                timeout=self._timeout,
                cookie_jar=aiohttp.DummyCookieJar(),
                headers={"User-Agent": self.USER_AGENT},
                trust_env=True,
            )

    async def shutdown(self) -> None:
        """Closes every connection."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

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
        """See `BaseRequest.do_request`. The timeouts are the pool's own."""
        if self._session is None:
            raise NetworkError("the connections are closed")
        body, headers = _encoded(request_data)
        try:
            async with self._session.request(
                method, url, data=body, headers=headers, allow_redirects=False
            ) as response:
                return response.status, await response.read()
        except TimeoutError as error:
            raise TimedOut from error
        except (aiohttp.ClientError, OSError) as error:
            raise NetworkError(type(error).__name__) from error


def _encoded(data: RequestData | None) -> tuple[Any, dict[str, str]]:
    """Parameters as python-telegram-bot sends them: a form, with parts when there are files."""
    if data is None:
        return None, {}
    if not data.contains_files:
        return urlencode(data.json_parameters).encode(), {"Content-Type": "application/x-www-form-urlencoded"}
    form = aiohttp.FormData(data.json_parameters, quote_fields=False)
    for name, (filename, content, kind) in data.multipart_data.items():
        form.add_field(name, content, filename=filename, content_type=kind)
    return form, {}
