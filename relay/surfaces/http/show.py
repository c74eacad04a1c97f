"""Serves HTTP as long as the process runs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import structlog
from starlette.types import ASGIApp

from relay.core.errors import SettingsError
from relay.core.settings import Settings
from relay.surfaces.http.server import Server

log = structlog.get_logger()

STOP_SECONDS = 2.0


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
