"""The `MediaStore` port: files in a private folder."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import structlog

from relay.core.private_files import FileRefused, in_thread, is_nearly_full, write_atomically

log = structlog.get_logger()

ID = re.compile(r"[A-Za-z0-9_-]{4,200}")
"""The characters of Telegram's ids; nothing else becomes a file name."""


class KeptFiles:
    """Stores files by id, in folders by the end of the id."""

    def __init__(self, folder: Path) -> None:
        """Deletes partial files left by a dead process."""
        self._folder = folder
        self._full = False
        for half in folder.glob("*/.*.partial"):
            with contextlib.suppress(OSError):
                half.unlink()

    async def get(self, unique_id: str) -> bytes | None:
        path = self._path(unique_id)
        try:
            return await in_thread(path.read_bytes) if path else None
        except OSError:
            return None

    async def put(self, unique_id: str, content: bytes) -> None:
        if path := self._path(unique_id):
            try:
                if not await in_thread(self._is_full):
                    await in_thread(self._write, path, content)
            except (FileRefused, OSError) as error:
                log.warning("a file was not kept", error=type(error).__name__)

    async def remove(self, unique_ids: Sequence[str]) -> bool:
        try:
            for path in filter(None, map(self._path, unique_ids)):
                await in_thread(partial(path.unlink, missing_ok=True))
        except OSError as error:
            log.warning("a kept file cannot be removed", error=type(error).__name__)
            return False
        return True

    def _is_full(self) -> bool:
        """Tests whether the disk is nearly full. Nothing more is stored then, and the log says so once."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        full = is_nearly_full(self._folder)
        if full and not self._full:
            log.warning("files are not kept: the disk is nearly full", folder=str(self._folder))
        self._full = full
        return full

    def _write(self, path: Path, content: bytes) -> None:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        with write_atomically(path, replace=True) as file:
            file.write(content)

    def _path(self, unique_id: str) -> Path | None:
        return self._folder / unique_id[-2:] / unique_id if ID.fullmatch(unique_id) else None
