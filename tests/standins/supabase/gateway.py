"""The gateway in front of PostgREST: it knows the keys, counts requests, and fails on demand."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiohttp import ClientSession, UnixConnector, web

from tests.standins.supabase.buckets import Buckets
from tests.standins.supabase.keys import Keys

CLOUDFLARE = "<!DOCTYPE html><html><head><title>standin.supabase.co | {}</title></head><body>cloudflare</body></html>"
BODIES: dict[int, Any] = {
    401: {"message": "Invalid API key", "hint": "Double check your Supabase `anon` or `service_role` API key."},
    429: {"message": "API rate limit exceeded"},
    500: {"code": "XX000", "details": None, "hint": None, "message": "internal error"},
    502: CLOUDFLARE.format("502: Bad gateway"),
    503: {
        "code": "PGRST002",
        "details": None,
        "hint": None,
        "message": "Could not query the database for the schema cache. Retrying.",
    },
    540: {"message": "Project paused"},
}
KINDS = ("timeout", "stuck", "disconnect", "lost")
"""`timeout`: neither executed nor answered. `stuck`: executed, never answered. `disconnect`: closed before it is
executed. `lost`: executed, then closed."""
PASSED = ("content-type", "content-range", "proxy-status", "location")


@dataclass(slots=True)
class Fault:
    """One fault: a status or one of KINDS. `times` below 0 means forever; an empty `function` means every request."""

    kind: int | str
    times: int = 1
    function: str = ""
    body: Any = None
    hits: int = 0

    def strikes(self, function: str) -> bool:
        """Whether the fault strikes this request. Counts it."""
        if self.times == 0 or (self.function and self.function != function):
            return False
        self.times -= 1
        self.hits += 1
        return True


@dataclass(slots=True, eq=False)
class Seen:
    """One request: when it arrived and when its answer left (monotonic seconds), and its outcome."""

    method: str
    path: str
    role: str
    connection: int
    at: float
    done_at: float | None = None
    status: int = 0

    @property
    def function(self) -> str:
        """The called function without the prefix: `begin` for /rest/v1/rpc/relay_begin."""
        return self.path.rpartition("/")[2].removeprefix("relay_") if "/rpc/" in self.path else ""


class Gateway:
    """Runs in its own thread and event loop, so that tests of any loop can use it."""

    def __init__(self, rest: Path, keys: Keys) -> None:
        self.keys = keys
        self.buckets = Buckets()
        self.delay = 0.0
        self.paused = False
        self.faults: list[Fault] = []
        self.requests: list[Seen] = []
        self.port = 0
        self._rest = rest
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="supabase", daemon=True)

    def start(self) -> None:
        self._thread.start()
        if not self._ready.wait(10):
            raise TimeoutError("the gateway did not start")

    def stop(self) -> None:
        if self._loop is not None and self._stop is not None:
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(10)

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_route("*", "/{path:.*}", self._handle)
        runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.2,
                               keepalive_timeout=600)  # fmt: skip
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", self.port)
        await site.start()
        self.port = site._server.sockets[0].getsockname()[1]  # type: ignore[union-attr]
        async with ClientSession(connector=UnixConnector(str(self._rest), limit=0)) as self._session:
            self._ready.set()
            await self._stop.wait()
        await runner.cleanup()

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        files = request.path.startswith("/storage/v1/")
        body = b"" if files else await request.read()
        key = request.headers.get("apikey", "")
        seen = Seen(request.method, request.path, self.keys.role(key), id(request.transport), time.monotonic())
        self.requests.append(seen)
        await asyncio.sleep(self.delay)
        response = await (
            self.buckets.answer(request, seen.role) if files else self._answer(request, body, key, seen.function)
        )
        await asyncio.sleep(self.delay)
        seen.status, seen.done_at = response.status, time.monotonic()
        return response

    async def _answer(self, request: web.Request, body: bytes, key: str, function: str) -> web.Response:
        if self.paused:
            return reply(540)
        fault = next((one for one in self.faults if one.strikes(function)), None)
        if fault is not None and isinstance(fault.kind, int):
            return reply(fault.kind, fault.body)
        if fault is None or fault.kind in ("stuck", "lost"):
            answer = await self._pass_on(request, body, key)
            if fault is None:
                return answer
        if fault.kind in ("timeout", "stuck"):
            await asyncio.Event().wait()
        assert request.transport is not None
        request.transport.abort()
        return web.Response(status=499)

    async def _pass_on(self, request: web.Request, body: bytes, key: str) -> web.Response:
        path = request.path_qs.removeprefix("/rest/v1")
        if path == request.path_qs:
            return reply(404, {"message": "no Route matched with those values"})
        if not key:
            hint = "No `apikey` request header or url param was found."
            return reply(401, {"message": "No API key found in request", "hint": hint})
        token = self.keys.token(key)
        if token is None:
            return reply(401)
        headers = {k: v for k, v in request.headers.items() if k.lower() not in ("host", "content-length", "apikey")}
        bearer = headers.get("Authorization", "").removeprefix("Bearer ")
        if not bearer or bearer.startswith("sb_"):
            headers["Authorization"] = f"Bearer {token}"
        url = f"http://postgrest{path or '/'}"
        async with self._session.request(request.method, url, data=body or None, headers=headers) as answer:
            passed = {name: answer.headers[name] for name in PASSED if name in answer.headers}
            return web.Response(status=answer.status, body=await answer.read(), headers=passed)


def reply(status: int, body: Any = None) -> web.Response:
    """Returns Supabase's response with that status: JSON, or the HTML page of the proxy in front of it."""
    body = BODIES.get(status, CLOUDFLARE.format(status)) if body is None else body
    if isinstance(body, str):
        return web.Response(status=status, text=body, content_type="text/html")
    return web.Response(status=status, text=json.dumps(body), content_type="application/json")
