"""Serves the running bot over HTTP: health and metrics, the API, and the app."""

from __future__ import annotations

import asyncio
import dataclasses
import gc
import importlib
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from relay.commands.context import Services
from relay.core.program import pause_collections, read_version
from relay.memory.retrying_database import RetryingDatabase
from relay.memory.store import Store
from relay.runtime.runtime import Runtime
from relay.surfaces.server.services import FIRST_POLL_SECONDS

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.types import Receive, Scope, Send

    from relay.surfaces.http.caller import ApiCore
    from relay.surfaces.server.services import UpdateSource
    from relay.surfaces.telegram.groups.groups import Connection
    from relay.surfaces.telegram.turns.worker import Worker


ANSWER_SECONDS = 5.0
"""How long a request waits for a database that is away. The embedded server is back within this time."""


async def run_http(
    runtime: Runtime,
    services: Services,
    connection: Connection,
    source: UpdateSource,
    worker: Worker,
    on_owed: Callable[[Sequence[str]], None],
    shown: asyncio.Event,
) -> None:
    """Serves until cancelled. Sets `shown` once the pages are served. Raises `SettingsError`."""
    await asyncio.sleep(FIRST_POLL_SECONDS)
    await asyncio.to_thread(importlib.import_module, "relay.surfaces.http.server")
    from starlette.routing import Router

    from relay.surfaces.http.health import Health, Process
    from relay.surfaces.http.pages import pages
    from relay.surfaces.http.server import show

    process = Process(
        silence=source.silence,
        free=lambda: worker.free,
        running=lambda: len(worker.running),
        stopping=lambda: worker.closing,
    )
    health = Health(process, Store(runtime.database, runtime.worker_name), connection.bot.id)
    api = FirstUse(partial(_make_api, runtime, services, connection, on_owed)) if runtime.settings.api else None
    app = Router(pages(health, read_version()), redirect_slashes=False, default=api)
    gc.freeze()  # imported objects stay, as in `settle_in`
    try:
        await show(app, runtime.settings, shown, api.close if api else lambda: None)
    finally:
        health.close()


class FirstUse:
    """The API and the app, made for their first request. They take half a second of processor time and 20 MB, which
    a bot whose pages nobody opens saves."""

    def __init__(self, make: Callable[[], Coroutine[Any, Any, FastAPI]]) -> None:
        self._make = make
        self._making: asyncio.Task[FastAPI] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers one request."""
        if self._making is None:
            self._making = asyncio.create_task(self._make(), name="make the API")
        app = await asyncio.shield(self._making)
        await app(scope, receive, send)

    def close(self) -> None:
        """Ends the open event streams, which must be closed first when the server stops."""
        if self._making is None:
            return
        if self._making.done():
            self._making.result().state.core.streams.close()
        else:
            self._making.cancel()


async def _make_api(
    runtime: Runtime, services: Services, connection: Connection, on_owed: Callable[[Sequence[str]], None]
) -> FastAPI:
    """Makes the API in a thread, because that takes a while."""
    with pause_collections():
        await asyncio.to_thread(importlib.import_module, "relay.surfaces.http.app")
        from relay.surfaces.http.caller import ApiCore

        token = runtime.settings.telegram_bot_token
        brief = RetryingDatabase(runtime.storage.database, runtime.storage.repair, ANSWER_SECONDS)
        services = dataclasses.replace(services, store=Store(brief, runtime.worker_name, runtime.settings.result_cache))
        core = ApiCore(services, connection.bot.id, token, connection.groups.eyes_of, on_owed)
        app = await asyncio.to_thread(_build, core)
    gc.freeze()
    return app


def _build(core: ApiCore) -> FastAPI:
    from relay.surfaces.http.app import make_app

    app = make_app(core)
    # FastAPI builds its routes at the first lookup, which would block the event loop.
    for route in app.router.routes:
        route.matches({"type": "http", "method": "GET", "path": "/nothing", "root_path": "", "headers": []})
    return app
