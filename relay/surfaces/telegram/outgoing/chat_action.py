"""The sign that somebody types or records."""

from __future__ import annotations

import asyncio
import contextlib

from relay.core.errors import MessengerError
from relay.core.ports import Messenger
from relay.memory.rows.delivery import Request

SECONDS = 4.5
"""Telegram takes a sign away after five."""
BEGIN_SECONDS = 0.01
"""What is asked of the database for the answer goes first."""


async def shown(messenger: Messenger, address: Request, action: str) -> None:
    """Shows a sign in a chat and topic until cancelled."""
    await asyncio.sleep(BEGIN_SECONDS)
    while True:
        with contextlib.suppress(MessengerError):
            await messenger.call("sendChatAction", **address, action=action)
        await asyncio.sleep(SECONDS)
