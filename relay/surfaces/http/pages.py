"""The pages: /healthz, /readyz and /metrics."""

import asyncio
import importlib

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from relay.surfaces.http.health import Health


def pages(health: Health, version: str) -> list[Route]:
    """Makes the routes."""

    async def alive(_: Request) -> Response:
        """Answers as long as the event loop runs."""
        return PlainTextResponse("ok\n")

    async def ready(_: Request) -> Response:
        state = await health.ready()
        well = all(word == "ok" for word in state.values())
        return JSONResponse(state, 200 if well else 503)

    async def numbers(request: Request) -> Response:
        queue = await health.queue()
        accept = request.headers.get("accept", "")
        module = await asyncio.to_thread(importlib.import_module, "relay.surfaces.http.numbers")
        body, content_type = module.render_metrics(module.Numbers(health.process, queue, version), accept)
        return Response(body, headers={"content-type": content_type})

    return [Route("/healthz", alive), Route("/readyz", ready), Route("/metrics", numbers)]
