"""The HTTP server: uvicorn in the event loop of the bot, with limits on everything. It does not name its software."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
from collections.abc import Callable, MutableMapping
from email.utils import formatdate
from typing import Any

import structlog
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.config import Config
from uvicorn.server import ServerState

from relay.core.errors import SettingsError
from relay.core.program import RELAY
from relay.core.settings import Settings
from relay.core.tasks import cancel
from relay.surfaces.http.connection import Connection, OpenConnections

log = structlog.get_logger()

KEEP_ALIVE_SECONDS = 15
LOG = "uvicorn.error"
STOP_SECONDS = 2.0


class Server:
    """Serves an application on an address. `setting`: the prefix of its settings, such as RELAY_WEB."""

    def __init__(self, app: ASGIApp, host: str, port: int, setting: str = "RELAY_WEB") -> None:
        """`port` 0 chooses a free one."""
        self._config = Config(
            _Discreet(app),
            http=Connection,
            ws="none",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            proxy_headers=False,
            server_header=False,
            date_header=False,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
        )
        self._host = host
        self._port = port
        self._setting = setting
        self._state = ServerState()
        self._server: asyncio.Server | None = None

    async def start(self) -> int:
        """Starts listening and returns the port. Raises `SettingsError` if it cannot, as when the port is taken."""
        # Errors of the application are logged; bad input, which anyone can send, is not.
        logging.getLogger(LOG).setLevel(logging.ERROR)
        self._config.load()
        places = OpenConnections()

        def connect() -> asyncio.Protocol:
            return Connection(places, config=self._config, server_state=self._state, app_state={})

        try:
            self._server = await asyncio.get_running_loop().create_server(connect, self._host, self._port)
        except OSError as error:
            raise SettingsError(self._explain(error)) from None
        return int(self._server.sockets[0].getsockname()[1])

    async def stop(self, seconds: float) -> None:
        """Stops accepting connections; running requests have this many seconds to finish."""
        if self._server is None:
            return
        self._server.close()
        connections = self._state.connections
        for one in list(connections):
            one.shutdown()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while tasks := list(self._state.tasks):
                    await asyncio.wait(tasks)
        for one in list(connections):
            one.transport.abort()
        await asyncio.sleep(0)
        await cancel(*self._state.tasks)

    def _explain(self, error: OSError) -> str:
        if error.errno == errno.EADDRINUSE:
            return (
                f"{self._setting}_PORT: another program already listens on port {self._port} of {self._host}. "
                f"It may be another Relay; `{RELAY} doctor` shows whether one is running. If it isn't, choose another "
                "port."
            )
        if error.errno == errno.EACCES:
            return (
                f"{self._setting}_PORT: this user has no right to listen on port {self._port}. Choose one above 1023."
            )
        return (
            f"{self._setting}_HOST: {self._host} is not an address of this machine. 127.0.0.1 and 0.0.0.0 always are."
        )


class _Discreet:
    """Adds the common headers to each response."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        complete = False

        async def tell(message: MutableMapping[str, Any]) -> None:
            nonlocal complete
            if message["type"] == "http.response.start":
                given = [(name.lower(), value) for name, value in message.get("headers", ())]
                names = {name for name, _ in given}
                message["headers"] = [*given, *((name, value) for name, value in _common() if name not in names)]
            complete = message["type"] == "http.response.body" and not message.get("more_body")
            await send(message)

        try:
            await self._app(scope, receive, tell)
        except asyncio.CancelledError:
            pass  # The server stops.
        except Exception:
            if not complete:  # Otherwise the application has logged and answered it.
                raise


def _common() -> list[tuple[bytes, bytes]]:
    return [
        (b"date", formatdate(usegmt=True).encode()),
        (b"server", b"relay"),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
    ]


async def show(app: ASGIApp, settings: Settings, shown: asyncio.Event, end_streams: Callable[[], None]) -> None:
    """Serves an application until cancelled, then ends open streams. Sets `shown` once it listens or has failed to.

    Raises `SettingsError` if it cannot listen on an address that was set. If it cannot listen on the default one, for
    example because another program has the port, the bot runs without HTTP.
    """
    server = Server(app, settings.web_host, settings.web_port)
    try:
        port = await server.start()
        log.info("listening over HTTP", host=settings.web_host, port=port)
    except SettingsError as error:
        if settings.model_fields_set & {"web_host", "web_port"}:
            raise
        log.warning("not listening over HTTP", error=str(error))
    shown.set()
    try:
        await asyncio.Event().wait()
    finally:
        end_streams()
        await server.stop(STOP_SECONDS)
