"""The `Keeper` port: files in a private folder."""

from __future__ import annotations

import re
from pathlib import Path

import structlog

from relay.archive.private import FileRefused, in_thread, written

log = structlog.get_logger()

ID = re.compile(r"[A-Za-z0-9_-]{4,200}")
"""What Telegram's ids are made of; nothing else becomes a name here."""


class KeptFiles:
    """Keeps files under their ids, each in a folder of the ids that end alike."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def get(self, unique_id: str) -> bytes | None:
        """See `ports.Keeper.get`."""
        path = self._path(unique_id)
        try:
            return await in_thread(path.read_bytes) if path else None
        except OSError:
            return None

    async def put(self, unique_id: str, content: bytes) -> None:
        """See `ports.Keeper.put`."""
        if path := self._path(unique_id):
            try:
                await in_thread(self._write, path, content)
            except (FileRefused, OSError) as error:
                log.warning("a file is not kept", error=type(error).__name__)

    def _write(self, path: Path, content: bytes) -> None:
        for folder in (self._folder, path.parent):  # a mode given for several is only that of the last
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with written(path, replace=True) as file:
            file.write(content)

    def _path(self, unique_id: str) -> Path | None:
        return self._folder / unique_id[-2:] / unique_id if ID.fullmatch(unique_id) else None
