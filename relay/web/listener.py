"""An HTTP server for a few small pages: bounded in every direction, silent about itself."""

from __future__ import annotations

import asyncio
import errno
from typing import Any

from aiohttp import hdrs, web
from aiohttp.web_protocol import RequestHandler

from relay.errors import SettingsError

MOST_CONNECTIONS = 200
"""Whoever comes beyond them is hung up on."""
LIMITS: dict[str, Any] = {
    "access_log": None,
    "keepalive_timeout": 15.0,  # also the time that a request's head may take
    "lingering_time": 2.0,
    "max_line_size": 2048,
    "max_field_size": 4096,
    "max_headers": 64,
}


class Listener:
    """Serves an application on an address. `setting`: what the settings for it begin with, such as RELAY_WEB."""

    def __init__(self, app: web.Application, host: str, port: int, setting: str = "RELAY_WEB") -> None:
        """`port` 0 is any that is free."""
        self._runner = web.AppRunner(app)
        self._host = host
        self._port = port
        self._setting = setting
        self._server: asyncio.Server | None = None
        app.on_response_prepare.append(_discreet)

    async def start(self) -> int:
        """Begins to listen; returns the port. Raises `SettingsError` where it cannot: the port is taken, say."""
        await self._runner.setup()
        loop = asyncio.get_running_loop()
        server = self._runner.server

        def connection() -> asyncio.Protocol:
            if server is None or len(server.connections) >= MOST_CONNECTIONS:
                return _Full()
            return _Connection(server, loop=loop, **LIMITS)

        try:
            self._server = await loop.create_server(connection, self._host, self._port)
        except OSError as error:
            await self._runner.cleanup()
            raise SettingsError(self._why_not(error)) from None
        return int(self._server.sockets[0].getsockname()[1])

    async def stop(self, seconds: float) -> None:
        """Takes no more connections; requests under way have so many seconds to end."""
        if self._server is None:
            return
        self._server.close()
        if self._runner.server is not None:
            await self._runner.server.shutdown(seconds)
        await self._runner.cleanup()

    def _why_not(self, error: OSError) -> str:
        if error.errno == errno.EADDRINUSE:
            return (
                f"{self._setting}_PORT: another program listens on port {self._port} of {self._host} already. "
                "Choose another port."
            )
        if error.errno == errno.EACCES:
            return f"{self._setting}_PORT: this user may not listen on port {self._port}. Choose one above 1023."
        return f"{self._setting}_HOST: {self._host} is no address of this machine. 127.0.0.1 and 0.0.0.0 always are."


class _Connection(RequestHandler):
    """One connection. A request that is no HTTP does not reach the application; it is answered here, in a word and
    without a line in the log, which anybody could fill."""

    __slots__ = ()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        if status >= 500:
            response = super().handle_error(request, status, exc, message)
        else:
            response = web.Response(status=status, text=f"{status}\n")
            response.force_close()
        _hide_server(response)
        return response


class _Full(asyncio.Protocol):
    """A connection too many."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport.close()


async def _discreet(_: web.Request, response: web.StreamResponse) -> None:
    _hide_server(response)
    response.headers.setdefault("Cache-Control", "no-store")
    response.headers.setdefault("X-Content-Type-Options", "nosniff")


def _hide_server(response: web.StreamResponse) -> None:
    """aiohttp would name itself and its version."""
    response.headers[hdrs.SERVER] = "relay"
