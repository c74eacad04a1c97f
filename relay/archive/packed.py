"""Packs a space into one archive for the chat: a readable text, and a file for import. Written piece by piece."""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from collections.abc import Sequence
from datetime import tzinfo
from pathlib import Path
from typing import IO, BinaryIO

from relay.archive.export import line, pages
from relay.archive.export_file import LINES
from relay.archive.export_rows import RawRow
from relay.archive.readable import Readable
from relay.core.errors import RelayError
from relay.core.models import Space
from relay.core.private_files import in_thread
from relay.memory.store import Store

TEXT = "relay-export.md"
MOST_BYTES = 49_000_000
"""The largest archive: a bot may send 50 MB."""


class TooMuchToSend(RelayError):
    """Your export is larger than the 49 MB that I can send here. `relay export` on my machine writes any amount."""

    @property
    def plain(self) -> str:
        """Returns the archive, open at its beginning: an unnamed file in `folder`, so nothing is left of it. Raises
        `TooMuchToSend`, `OSError` if the disk is full, and the database's errors."""
        return "Your export is larger than the 49 MB that I can send here. The people who run me can write it for you."


async def pack(store: Store, space: Space, relay: str, title: str, zone: tzinfo, folder: Path) -> BinaryIO:
    """The archive, to be read from its beginning: a file in `folder` that has no name, so that nothing of it is left.

    Raises `TooMuchToSend`, `OSError` where the disk does not take it, and what the database raises.
    """
    archive = _nameless(folder)
    try:
        with _nameless(folder) as text, zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
            readable = Readable(title, zone)
            with packed.open(LINES, "w", force_zip64=True) as lines:
                async for page in pages(store, space, relay):
                    await in_thread(_write, page, lines, readable, text)
                    _check(archive)
            with packed.open(TEXT, "w", force_zip64=True) as target:
                await in_thread(_write_text, readable, text, target)
        _check(archive)
        archive.seek(0)
    except BaseException:
        archive.close()
        raise
    return archive


def _write(page: Sequence[RawRow], lines: IO[bytes], readable: Readable, text: BinaryIO) -> None:
    lines.writelines(map(line, page))
    text.write(readable.add(page).encode())


def _write_text(readable: Readable, text: BinaryIO, target: IO[bytes]) -> None:
    text.write(readable.end().encode())
    text.seek(0)
    shutil.copyfileobj(text, target)


def _nameless(folder: Path) -> BinaryIO:
    return tempfile.TemporaryFile(dir=folder)


def _check(archive: BinaryIO) -> None:
    if archive.tell() > MOST_BYTES:
        raise TooMuchToSend()
