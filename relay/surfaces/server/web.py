"""Serves the running bot over HTTP: health and metrics, the API, and the app."""

from __future__ import annotations

import asyncio
import dataclasses
import gc
import importlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from relay.commands.context import Services
from relay.core.program import pause_collections, read_version
from relay.memory.retrying_database import RetryingDatabase
from relay.memory.store import Store
from relay.runtime.runtime import Runtime
from relay.surfaces.server.services import FIRST_POLL_SECONDS

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from relay.surfaces.http.caller import ApiCore
    from relay.surfaces.http.health import Health
    from relay.surfaces.server.services import UpdateSource
    from relay.surfaces.telegram.groups.connection import Connection
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
    await asyncio.to_thread(importlib.import_module, "relay.surfaces.http.show")
    from relay.surfaces.http.health import Health, Process
    from relay.surfaces.http.show import show

    process = Process(
        silence=source.silence,
        free=lambda: worker.free,
        running=lambda: len(worker.running),
        stopping=lambda: worker.closing,
    )
    health = Health(process, Store(runtime.database, runtime.worker_name), connection.bot.id)
    core = None
    with pause_collections():
        if runtime.settings.api:
            await asyncio.to_thread(importlib.import_module, "relay.surfaces.http.app")
            from relay.surfaces.http.caller import ApiCore

            token = runtime.settings.telegram_bot_token
            brief = RetryingDatabase(runtime.storage.database, runtime.storage.repair, ANSWER_SECONDS)
            services = dataclasses.replace(services, store=Store(brief, runtime.worker_name))
            core = ApiCore(services, connection.bot.id, token, connection.groups.eyes_of, on_owed)
        app = await asyncio.to_thread(_make_app, core, health)
        gc.freeze()  # imported objects stay, as in `settle_in`
    try:
        await show(app, runtime.settings, shown, core.streams.close if core else lambda: None)
    finally:
        health.close()


def _make_app(core: ApiCore | None, health: Health) -> Starlette:
    """Makes the application; without a core, only health and metrics. Runs in a thread, because it takes a while."""
    from starlette.applications import Starlette

    from relay.surfaces.http.pages import pages

    app = Starlette()
    if core is not None:
        from relay.surfaces.http.app import make_app

        app = make_app(core)
    app.router.redirect_slashes = False
    app.router.routes[:0] = pages(health, read_version())
    # FastAPI builds its routes at the first lookup, which would block the event loop.
    for route in app.router.routes:
        route.matches({"type": "http", "method": "GET", "path": "/nothing", "root_path": "", "headers": []})
    return app
