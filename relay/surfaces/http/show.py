"""Serves health and metrics as long as the process runs."""

from __future__ import annotations

import asyncio

import structlog

from relay.core.errors import SettingsError
from relay.core.settings import Settings
from relay.surfaces.http.health import Health
from relay.surfaces.http.listener import Listener
from relay.surfaces.http.pages import pages

log = structlog.get_logger()

STOP_SECONDS = 2.0


async def show(settings: Settings, health: Health, version: str, stands: asyncio.Event) -> None:
    """Answers until cancelled. Sets `stands` once it does, or does without.

    Raises `SettingsError` when the address that somebody set cannot be had. Where nobody did, and another program has
    the usual port, the bot does without.
    """
    listener = Listener(pages(health, version), settings.web_host, settings.web_port)
    try:
        port = await listener.start()
        log.info("health and metrics", host=settings.web_host, port=port)
    except SettingsError as error:
        if settings.model_fields_set & {"web_host", "web_port"}:
            raise
        log.warning("there is no health and no metrics page", error=str(error))
    stands.set()
    try:
        await asyncio.Event().wait()
    finally:
        health.close()
        await listener.stop(STOP_SECONDS)
