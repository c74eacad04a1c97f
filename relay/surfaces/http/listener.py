"""An HTTP server for a few small pages, with limits on everything, that does not name its software."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
from collections.abc import Mapping
from typing import Any

from aiohttp import hdrs, web
from aiohttp.web_protocol import RequestHandler

from relay.core.errors import SettingsError

MOST_CONNECTIONS = 200
"""The most connections. A new one replaces the longest silent one, or is closed."""
MOST_OF_ADDRESS = 50
"""Of them from one address; not from this machine or its network, where a proxy speaks for everybody."""
HEAD_SECONDS = 3.0
"""How long a request's head may take, from the connection or from its first byte."""
LIMITS: Mapping[str, Any] = {
    "access_log": None,
    "keepalive_timeout": 15.0,
    "lingering_time": 2.0,
    "max_line_size": 2048,
    "max_field_size": 4096,
    "max_headers": 64,
}


class Listener:
    """Serves an application on an address. `setting`: the prefix of its settings, such as RELAY_WEB."""

    def __init__(self, app: web.Application, host: str, port: int, setting: str = "RELAY_WEB") -> None:
        """`port` 0 chooses a free one."""
        self._runner = web.AppRunner(app)
        self._host = host
        self._port = port
        self._setting = setting
        self._server: asyncio.Server | None = None
        app.on_response_prepare.append(_discreet)

    async def start(self) -> int:
        """Starts listening and returns the port. Raises `SettingsError` if it cannot, as when the port is taken."""
        await self._runner.setup()
        loop = asyncio.get_running_loop()
        server, places = self._runner.server, Places()
        assert server is not None  # noqa: S101 — it is set up

        def connection() -> asyncio.Protocol:
            return Connection(server, places, loop=loop, **LIMITS)

        try:
            self._server = await loop.create_server(connection, self._host, self._port)
        except OSError as error:
            await self._runner.cleanup()
            raise SettingsError(self._why_not(error)) from None
        return int(self._server.sockets[0].getsockname()[1])

    async def stop(self, seconds: float) -> None:
        """Accepts no more connections; running requests have this many seconds to finish."""
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


class Places:
    """The open connections, longest silent first."""

    def __init__(self) -> None:
        self._taken: dict[Connection, str] = {}

    def take(self, one: Connection, address: str) -> bool:
        """Admits a connection if its address has a free slot; another connection may lose its slot."""
        if address and list(self._taken.values()).count(address) >= MOST_OF_ADDRESS:
            return False
        if len(self._taken) >= MOST_CONNECTIONS:
            silent = next((other for other in self._taken if not other.busy), None)
            if silent is None:
                return False
            self.leave(silent)
            silent.force_close()
        self._taken[one] = address
        return True

    def heard(self, one: Connection) -> None:
        """Notes a complete request: this connection is the last to lose its slot."""
        if one in self._taken:
            self._taken[one] = self._taken.pop(one)

    def leave(self, one: Connection) -> None:
        """Its place is free."""
        self._taken.pop(one, None)


class Connection(RequestHandler):
    """One connection, which must send a request's head soon. A request that is no HTTP does not reach the application;
    it is answered here, in a word and without a line in the log, which anybody could fill."""

    __slots__ = ("_late", "_places")

    def __init__(self, server: web.Server, places: Places, **limits: Any) -> None:
        super().__init__(server, **limits)
        self._places = places
        self._late: asyncio.TimerHandle | None = None

    @property
    def busy(self) -> bool:
        """Whether a request is being read or answered whose head has come."""
        return bool(self._messages) or self._current_request is not None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        if self._places.take(self, stranger(transport)):
            self._expect_head()
        else:
            self.force_close()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if not self.busy:
            self._expect_head()
        elif self._late is not None:
            self._late.cancel()
            self._late = None
            self._places.heard(self)

    def connection_lost(self, exc: BaseException | None) -> None:
        if self._late is not None:
            self._late.cancel()
        self._places.leave(self)
        super().connection_lost(exc)

    def _expect_head(self) -> None:
        if self._late is None:
            self._late = self._loop.call_later(HEAD_SECONDS, self._hang_up)

    def _hang_up(self) -> None:
        self._late = None
        if not self.busy:
            self.force_close()

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


def stranger(transport: asyncio.BaseTransport) -> str:
    """Returns the remote address; empty for this machine and its network."""
    try:
        address = ipaddress.ip_address(str((transport.get_extra_info("peername") or ("",))[0]).partition("%")[0])
    except ValueError:
        return ""
    address = getattr(address, "ipv4_mapped", None) or address
    return "" if address.is_private else str(address)


async def _discreet(_: web.Request, response: web.StreamResponse) -> None:
    _hide_server(response)
    response.headers.setdefault("Cache-Control", "no-store")
    response.headers.setdefault("X-Content-Type-Options", "nosniff")


def _hide_server(response: web.StreamResponse) -> None:
    """aiohttp would name itself and its version."""
    response.headers[hdrs.SERVER] = "relay"
