"""Telegram as the settings name it."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from relay.clients.telegram.client import Telegram
    from relay.core.settings import Settings


def import_telegram() -> type[Telegram]:
    """Imports the client as if `cryptography` were not installed: python-telegram-bot would take 8 MB of it into memory
    for Telegram Passport, which is not used here, and does without where it is missing."""
    absent = "cryptography" not in sys.modules
    if absent:
        sys.modules["cryptography"] = None  # type: ignore[assignment]
    try:
        from relay.clients.telegram.client import Telegram
    finally:
        if absent:
            del sys.modules["cryptography"]
    return Telegram


@contextlib.asynccontextmanager
async def open_telegram(settings: Settings) -> AsyncIterator[Telegram]:
    """An open connection to Telegram. Raises the `MessengerError` tree."""
    telegram = import_telegram()(settings.telegram_bot_token, settings.telegram_api_url)
    try:
        await telegram.open()
        yield telegram
    finally:
        await telegram.close_pools()
