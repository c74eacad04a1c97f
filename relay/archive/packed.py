"""Packs a space into one archive for the chat: a readable text, and a file for import. Written piece by piece."""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from collections.abc import Sequence
from datetime import UTC
from pathlib import Path
from typing import IO, BinaryIO

from relay.archive.export import line, pages
from relay.archive.export_file import LINES, RawRow
from relay.archive.readable.text import Readable
from relay.core.errors import RelayError
from relay.core.models import Export
from relay.core.private_files import in_thread
from relay.memory.rows.choices import Choices
from relay.memory.store import Store

TEXT = "relay-export.md"
MOST_BYTES = 49_000_000
"""The most bytes of an archive: a bot may send 50 MB."""


class TooMuchToSend(RelayError):
    """Your export is larger than the 49 MB that I can send here. `relay export` on my machine writes any amount."""

    PLAIN = "Your export is larger than the 49 MB that I can send here. My admins can write it for you."


async def pack(store: Store, wanted: Export, relay: str, folder: Path, most: int | None = MOST_BYTES) -> BinaryIO:
    """Returns the archive, open at its beginning. It is an unnamed file in `folder`, so nothing of it remains.

    `most`: the most bytes; None: any number. Raises `TooMuchToSend`, `OSError` if the disk is full, and the database's
    errors.
    """
    archive = _nameless(folder)
    try:
        with _nameless(folder) as text, zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
            readable = Readable(wanted.title, Choices(zone=wanted.zone).zone_or(UTC))
            with packed.open(LINES, "w", force_zip64=True) as lines:
                async for page in pages(store, wanted.space, relay, wanted.reader):
                    await in_thread(_write, page, lines, readable, text)
                    _check(archive, most)
            with packed.open(TEXT, "w", force_zip64=True) as target:
                await in_thread(_write_text, readable, text, target)
        _check(archive, most)
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


def _check(archive: BinaryIO, most: int | None) -> None:
    if most is not None and archive.tell() > most:
        raise TooMuchToSend()
