"""How a command of the shell begins: its settings, its log, its event loop."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine
from typing import Any

from relay.core.logs import configure
from relay.core.settings import Settings, load


def ready(quiet: bool = False) -> Settings:
    """The settings, with the log as they want it; `quiet`: only errors, unless they ask for more."""
    return log_as(load(), quiet)


def log_as(settings: Settings, quiet: bool) -> Settings:
    """Sets the log up as the settings want it; returns them."""
    level = "ERROR" if quiet and settings.log_level == "INFO" else settings.log_level
    configure(level, settings.log_format, settings.secrets)
    return settings


def run_work(work: Coroutine[Any, Any, None]) -> None:
    """Runs what a command does to its end."""
    choose_loop()
    asyncio.run(work)


def choose_loop() -> None:
    """psycopg cannot use the loop that Windows prefers."""
    if sys.platform == "win32":
        asyncio.set_event_loop_policy(asyncio.WindowsSelectorEventLoopPolicy())
