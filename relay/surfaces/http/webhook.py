"""The webhook for Telegram's updates: one path, a secret in a header, one update a request."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from urllib.parse import urlsplit

import structlog
from aiohttp import web

from relay.core.errors import DatabaseError
from relay.surfaces.http.listener import Listener

log = structlog.get_logger()

HEADER = "X-Telegram-Bot-Api-Secret-Token"
MOST_BYTES = 2**20
BODY_SECONDS = 10.0
"""How long a body may take to arrive, in seconds."""
STOP_SECONDS = 5.0
MOST_AT_ONCE = 100
"""How many updates to take at a time; Telegram sends the others again a moment later."""


class Webhook:
    """Answers Telegram's deliveries: with 200 once an update is stored, and only then."""

    def __init__(self, url: str, secret: str, take: Callable[[list[Mapping[str, object]]], Awaitable[None]]) -> None:
        """`take` stores updates, or raises `DatabaseError`."""
        self._paths = paths_of(url)
        self._secret = secret.encode()
        self._take = take
        self._busy = 0

    @contextlib.asynccontextmanager
    async def listening(self, host: str, port: int) -> AsyncIterator[int]:
        """Listens while this lasts, on a free port for 0; gives the port. Requests under way are finished at the end.

        Raises `SettingsError` when it cannot listen there.
        """
        application = web.Application(client_max_size=MOST_BYTES)
        application.router.add_route("*", "/{path:.*}", self._answer)
        listener = Listener(application, host, port, "RELAY_WEBHOOK")
        try:
            yield await listener.start()
        finally:
            await listener.stop(STOP_SECONDS)

    async def _answer(self, request: web.Request) -> web.Response:
        if request.path not in self._paths:
            return _closing(404)
        if request.method != "POST":
            return _closing(405, Allow="POST")
        given = request.headers.get(HEADER, "").encode("utf-8", "surrogateescape")
        if not hmac.compare_digest(given, self._secret):
            return _closing(401)
        if (request.content_length or 0) > MOST_BYTES:
            return _closing(413)
        if self._busy >= MOST_AT_ONCE:
            return _closing(503, **{"Retry-After": "1"})
        self._busy += 1
        try:
            return await self._taken(request)
        finally:
            self._busy -= 1

    async def _taken(self, request: web.Request) -> web.Response:
        """Reads and stores an update."""
        try:
            async with asyncio.timeout(BODY_SECONDS):
                body = await request.read()
        except TimeoutError:
            return _closing(408)
        except web.HTTPRequestEntityTooLarge:
            return _closing(413)
        except (web.RequestPayloadError, ConnectionError):
            return _closing(400)
        update = update_in(body)
        if update is None:
            # Refused, it would come again and again, and keep back what follows it.
            log.warning("a delivery that holds no update was dropped", bytes=len(body))
            return web.Response()
        try:
            await self._take([update])
        except DatabaseError as error:
            log.error("an update could not be stored and was not acknowledged", error=str(error))
            return _closing(503, **{"Retry-After": "2"})
        return web.Response()


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


def _closing(status: int, **headers: str) -> web.Response:
    """Returns an empty answer that closes the connection without reading the rest of the request."""
    response = web.Response(status=status, headers=headers)
    response.force_close()
    return response
