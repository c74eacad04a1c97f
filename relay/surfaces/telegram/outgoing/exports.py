"""Packs exports just before they are sent, one at a time."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

from relay.archive.packed import pack
from relay.core.errors import RelayError
from relay.core.models import Export, File, Space
from relay.core.ports import Messenger
from relay.memory.rows.delivery import Request
from relay.memory.store import Store
from relay.surfaces.telegram.outgoing.chat_action import shown
from relay.surfaces.telegram.outgoing.insist import run_or_stop


class NotPacked(RelayError):
    """I can't write the export to the disk before I send it: the disk is full or read-only."""

    PLAIN = "I can't make the export right now. My admins need to look into it; please try again later."


class Exports:
    """Packs the exports of stored requests. Only one is packed and sent at a time."""

    def __init__(self, store: Store, messenger: Messenger, version: str, folder: Path) -> None:
        """`folder`: holds an archive while it is sent."""
        self._store = store
        self._messenger = messenger
        self._version = version
        self._folder = folder
        self._alone = asyncio.Lock()

    @contextlib.asynccontextmanager
    async def pack(self, request: Request, stop: asyncio.Event | None) -> AsyncIterator[File]:
        """Yields the file of a request while it is sent. Raises `TooMuchToSend`, `NotPacked`, or `Stopped` once `stop`
        is set."""
        stored, at = request["export"], {"chat_id": request["chat_id"]}
        # Requests that an earlier version stored name no reader.
        space, reader = Space(**stored["space"]), stored.get("reader", 0)
        wanted = Export(request["file"]["name"], space, stored["title"], stored["zone"], reader)
        try:
            async with shown(self._messenger, at, "upload_document"), contextlib.AsyncExitStack() as held:
                await run_or_stop(self._take_place(held), stop)
                with await run_or_stop(pack(self._store, wanted, self._version, self._folder), stop) as archive:
                    yield File(wanted.name, archive)
        except OSError as error:
            raise NotPacked() from error

    async def _take_place(self, held: contextlib.AsyncExitStack) -> bool:
        """Waits for the lock, and holds it until the stack is closed."""
        await held.enter_async_context(self._alone)
        return True
