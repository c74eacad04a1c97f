"""The control surface at /_control/…: the Python API as JSON, for a stand-in in another process."""

import re
from typing import TYPE_CHECKING, Any

from aiohttp import web

from .blocks import Json
from .replies import from_json

if TYPE_CHECKING:
    from .server import AnthropicStandIn

SETTINGS = (
    "api_key", "delay", "chunk_delay", "delta_size", "context_window", "small_model", "user_marker", "keep", "models",
)  # fmt: skip


def _match(body: Json) -> Any:
    """The match in a body: "match" for a substring, or "regex"."""
    pattern = body.pop("regex", None)
    return re.compile(pattern) if pattern else body.pop("match", None)


def control_routes(model: "AnthropicStandIn", app: web.Application) -> None:
    """Add the control surface to the server."""

    async def stats(request: web.Request) -> web.Response:
        return web.json_response(model.stats)

    async def requests(request: web.Request) -> web.Response:
        since = int(request.query.get("since", 0))
        limit = int(request.query.get("limit", 100))
        found = [one for one in model.requests if one.number > since and request.query.get("model", "") in one.model]
        return web.json_response([one.as_json() for one in found[-limit:]])

    async def wait(request: web.Request) -> web.Response:
        query = request.query
        try:
            found = await model.wait_requests(
                int(query.get("n", 1)), float(query.get("timeout", 5)), query.get("match"), model=query.get("model", "")
            )
        except TimeoutError as late:
            return web.json_response({"error": str(late)}, status=408)
        return web.json_response({"requests": len(found)})

    async def rule(request: web.Request) -> web.Response:
        body = await request.json()
        model.rule(_match(body), from_json(body.pop("reply")), **body)
        return web.json_response({"rules": len(model.rules)})

    async def script(request: web.Request) -> web.Response:
        body = await request.json()
        model.script([from_json(reply) for reply in body["replies"]], model=body.get("model"))
        return web.json_response({"scripts": len(model.scripts)})

    async def fault(request: web.Request) -> web.Response:
        body = await request.json()
        match = _match(body)
        model.fault(body.pop("kind"), match=match, **body)
        return web.json_response({"faults": len(model.faults)})

    async def forget(request: web.Request) -> web.Response:
        what = request.match_info["what"]
        if what == "cache":
            model.cache.clear()
        else:
            getattr(model, what).clear()
        return web.json_response({"cleared": what})

    async def reset(request: web.Request) -> web.Response:
        model.reset()
        return web.json_response({"reset": True})

    async def settings(request: web.Request) -> web.Response:
        body = await request.json() if request.can_read_body else {}
        for name, value in body.items():
            if name == "cache_minimum":
                model.cache.minimum = value
            elif name in SETTINGS:
                setattr(model, name, value)
            else:
                return web.json_response({"error": f"no such setting: {name}"}, status=400)
        shown = {name: getattr(model, name) for name in SETTINGS if name != "api_key"}
        return web.json_response(shown | {"cache_minimum": model.cache.minimum})

    @web.middleware
    async def explain(request: web.Request, handler: Any) -> web.StreamResponse:
        try:
            response: web.StreamResponse = await handler(request)
            return response
        except (KeyError, TypeError, ValueError) as wrong:
            if not request.path.startswith("/_control/"):
                raise
            return web.json_response({"error": f"{type(wrong).__name__}: {wrong}"}, status=400)

    app.middlewares.append(explain)
    app.router.add_get("/_control/stats", stats)
    app.router.add_get("/_control/requests", requests)
    app.router.add_get("/_control/wait", wait)
    app.router.add_get("/_control/settings", settings)
    app.router.add_post("/_control/settings", settings)
    app.router.add_post("/_control/rule", rule)
    app.router.add_post("/_control/script", script)
    app.router.add_post("/_control/fault", fault)
    app.router.add_post("/_control/reset", reset)
    app.router.add_delete("/_control/{what:rules|scripts|faults|requests|cache}", forget)
