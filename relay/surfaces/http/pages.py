"""The pages: /healthz, /readyz and /metrics."""

from __future__ import annotations

import asyncio
import importlib

from aiohttp import hdrs, web

from relay.surfaces.http.health import Health

MOST_BODY = 1024
"""The most bytes in a request's body; these pages need none."""


def pages(health: Health, version: str) -> web.Application:
    """Makes the application."""

    async def alive(_: web.Request) -> web.Response:
        """Answers as long as the event loop runs."""
        return web.Response(text="ok\n")

    async def ready(_: web.Request) -> web.Response:
        state = await health.ready()
        well = all(word == "ok" for word in state.values())
        return web.json_response(state, status=200 if well else 503)

    async def numbers(request: web.Request) -> web.Response:
        queue = await health.queue()
        accept = request.headers.get(hdrs.ACCEPT, "")
        module = await asyncio.to_thread(importlib.import_module, "relay.surfaces.http.numbers")
        body, content_type = module.rendered(module.Numbers(health.process, queue, version), accept)
        return web.Response(body=body, headers={hdrs.CONTENT_TYPE: content_type})

    app = web.Application(client_max_size=MOST_BODY)
    app.router.add_get("/healthz", alive)
    app.router.add_get("/readyz", ready)
    app.router.add_get("/metrics", numbers)
    return app
