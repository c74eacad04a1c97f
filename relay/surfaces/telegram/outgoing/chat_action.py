"""The chat action: “typing”, “recording” and the like."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from relay.core.errors import MessengerError
from relay.core.ports import Messenger
from relay.memory.rows.delivery import Request

SECONDS = 4.5
"""Telegram clears the action after five seconds."""
BEGIN_SECONDS = 0.1
"""An answer that is ready sooner needs no action."""


async def show_action(messenger: Messenger, address: Request, action: str) -> None:
    """Shows an action in a chat and topic until cancelled."""
    await asyncio.sleep(BEGIN_SECONDS)
    while True:
        with contextlib.suppress(MessengerError):
            await messenger.call("sendChatAction", **address, action=action)
        await asyncio.sleep(SECONDS)


@contextlib.asynccontextmanager
async def shown(messenger: Messenger, address: Request, action: str) -> AsyncIterator[None]:
    """Shows an action during the block."""
    showing = asyncio.create_task(show_action(messenger, address, action))
    try:
        yield
    finally:
        showing.cancel()
