"""The sign that somebody types or records."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Any

from relay.errors import MessengerError
from relay.ports import Messenger

SECONDS = 4.5
"""Telegram takes a sign away after five."""


async def shown(messenger: Messenger, address: dict[str, Any], action: str) -> None:
    """Shows a sign in a chat and topic until cancelled."""
    while True:
        with contextlib.suppress(MessengerError):
            await messenger.call("sendChatAction", **address, action=action)
        await asyncio.sleep(SECONDS)
