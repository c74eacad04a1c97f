"""The webhook for Telegram's updates: one path, a secret in a header, one update per request."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from urllib.parse import urlsplit

import structlog
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from relay.core.errors import DatabaseError
from relay.surfaces.http.server import Server

log = structlog.get_logger()

HEADER = "X-Telegram-Bot-Api-Secret-Token"
MOST_BYTES = 2**20
BODY_SECONDS = 10.0
"""How long a body may take to arrive, in seconds."""
STOP_SECONDS = 5.0
MOST_AT_ONCE = 100
"""How many updates to take at a time; Telegram sends the others again soon after."""


class Webhook:
    """Answers Telegram's deliveries: with 200 once an update is stored, and only then."""

    def __init__(self, url: str, secret: str, take: Callable[[list[Mapping[str, object]]], Awaitable[None]]) -> None:
        """`take` stores updates, or raises `DatabaseError`."""
        self._paths = paths_of(url)
        self._secret = secret.encode()
        self._take = take
        self._busy = 0

    @contextlib.asynccontextmanager
    async def listen(self, host: str, port: int) -> AsyncIterator[int]:
        """Listens within the block and yields the port; `port` 0 chooses a free one. Finishes running requests at its
        end.

        Raises `SettingsError` if it cannot listen there.
        """
        server = Server(self, host, port, "RELAY_WEBHOOK")
        try:
            yield await server.start()
        finally:
            await server.stop(STOP_SECONDS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request, as an ASGI application."""
        response = await self._answer(Request(scope, receive))
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        if request.scope["path"] not in self._paths:
            return _closing_response(404)
        if request.method != "POST":
            return _closing_response(405, Allow="POST")
        given = request.headers.get(HEADER, "").encode("latin-1")
        if not hmac.compare_digest(given, self._secret):
            return _closing_response(401)
        if int(request.headers.get("content-length", 0)) > MOST_BYTES:
            return _closing_response(413)
        if self._busy >= MOST_AT_ONCE:
            return _closing_response(503, **{"Retry-After": "1"})
        self._busy += 1
        try:
            return await self._receive(request)
        finally:
            self._busy -= 1

    async def _receive(self, request: Request) -> Response:
        """Reads and stores an update."""
        try:
            async with asyncio.timeout(BODY_SECONDS):
                body = await read_body(request)
        except TimeoutError:
            return _closing_response(408)
        except OverflowError:
            return _closing_response(413)
        except ClientDisconnect:
            return _closing_response(400)
        update = update_in(body)
        if update is None:
            # If it were refused, Telegram would send it again and again and hold back later updates.
            log.warning("a delivery without an update was dropped", bytes=len(body))
            return Response()
        try:
            await self._take([update])
        except DatabaseError as error:
            log.error("an update could not be stored and was not acknowledged", error=str(error))
            return _closing_response(503, **{"Retry-After": "2"})
        return Response()


async def read_body(request: Request) -> bytes:
    """Returns the body. Raises `OverflowError` if it is longer than `MOST_BYTES`."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > MOST_BYTES:
            raise OverflowError
    return bytes(body)


def paths_of(url: str) -> frozenset[str]:
    """Returns the paths of deliveries: the URL's own, and those left by a proxy that strips a prefix."""
    steps = [step for step in urlsplit(url).path.split("/") if step]
    return frozenset("/" + "/".join(steps[first:]) for first in range(len(steps) + 1))


def update_in(body: bytes) -> Mapping[str, object] | None:
    """Returns the update in a request's body; None if there is none."""
    try:
        update = json.loads(body)
    except (ValueError, RecursionError):
        return None
    number = update.get("update_id") if isinstance(update, dict) else None
    return update if type(number) is int and 0 <= number < 2**63 else None


def _closing_response(status: int, **headers: str) -> Response:
    """Returns an empty answer that closes the connection without reading the rest of the request."""
    return Response(status_code=status, headers={"Connection": "close", **headers})
