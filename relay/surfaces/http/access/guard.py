"""Limits the body of every request, adds the security headers to every response, and answers HEAD."""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Receive, Scope, Send

from relay.core.limits import REQUEST_BYTES
from relay.surfaces.http.problems import problem

BODY_SECONDS = 10.0
"""How long a body may take to arrive, in seconds."""
CSP = (
    "default-src 'self'; base-uri 'none'; form-action 'none'; object-src 'none'; "
    "frame-ancestors 'self' https://web.telegram.org https://*.telegram.org"
)
HEADERS = {"Content-Security-Policy": CSP, "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff"}
"""The page loads nothing from elsewhere. There is no X-Frame-Options, because Telegram on the web shows the app in a
frame."""


class Guard:
    """Reads each body, which is short, before the application gets it, and adds headers to each response. HEAD is
    answered like GET, without the body."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        head = scope["method"] == "HEAD"
        if head:
            scope = {**scope, "method": "GET"}

        async def tell(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                await send(message)
                if head:
                    await send({"type": "http.response.body"})
            elif not head:
                await send(message)

        try:
            async with asyncio.timeout(BODY_SECONDS):
                body = await read_body(receive, find_length(scope))
        except OverflowError:
            refused = problem(413, "too_large", f"A request can have at most {REQUEST_BYTES // 1024} KB.")
            return await refused(scope, receive, tell)
        except TimeoutError:
            return await problem(408, "too_slow", "The request didn't arrive in time.")(scope, receive, tell)
        if body is None:
            return None  # The client has hung up.
        return await self._app(scope, replay(body, receive), tell)


def find_length(scope: Scope) -> int:
    """Returns the length that a request announces for its body; 0 if it announces none."""
    return int(dict(scope["headers"]).get(b"content-length", 0))


async def read_body(receive: Receive, announced: int = 0) -> bytes | None:
    """Returns a request's body; None if the client hangs up. Raises `OverflowError` if it is too long, before the first
    byte if that was announced."""
    if announced > REQUEST_BYTES:
        raise OverflowError
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body += message.get("body", b"")
        if len(body) > REQUEST_BYTES:
            raise OverflowError
        if not message.get("more_body"):
            return bytes(body)


def replay(body: bytes, receive: Receive) -> Receive:
    """Returns a `receive` that first gives the body that was read, and then later messages."""
    given = False

    async def again() -> MutableMapping[str, Any]:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again
