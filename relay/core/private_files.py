"""Files that are private and written atomically."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, ParamSpec, TypeVar

from relay.core.errors import RelayError

P = ParamSpec("P")
T = TypeVar("T")


class FileRefused(RelayError):
    """A file cannot be written or read."""


@contextlib.contextmanager
def write_atomically(path: Path, replace: bool = False) -> Iterator[BinaryIO]:
    """Opens a file for writing with mode 600. It gets its name once it is complete and on disk.

    Removes it if the block raises. Raises `FileRefused`, also if the file exists and may not be replaced.
    """
    partial = path.with_name(f".{path.name}.partial")
    with _explain_errors(path):
        make_private(path.parent)
        if path.exists() and not replace:
            raise FileRefused(f"There is a file {path} already. Nothing was changed.")
        partial.unlink(missing_ok=True)
        file = os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o600), "wb")
        try:
            with file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            partial.replace(path)
            with contextlib.suppress(OSError):  # not every file system can
                sync_folder(path.parent)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise


def make_private(folder: Path) -> None:
    """Creates a folder that only its owner can read, if it is missing. If root creates it in another user's folder, it
    belongs to that user, who can then continue without root."""
    if folder.exists():
        return
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if sys.platform != "win32" and os.geteuid() == 0:
        owner = folder.parent.stat()
        os.chown(folder, owner.st_uid, owner.st_gid, follow_symlinks=False)


_BINARY = getattr(os, "O_BINARY", 0)


def sync_folder(folder: Path) -> None:
    """Makes a new directory entry survive a power loss; on Windows, that is left to the system. Raises `OSError`."""
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _explain_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise FileRefused(f"{path} cannot be written: {error.strerror or error}.") from None


async def in_thread(work: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
    """Runs blocking work in a thread. If cancelled, waits for it to end, so that no file is closed during a write."""
    working = asyncio.ensure_future(asyncio.to_thread(work, *given, **named))
    try:
        return await asyncio.shield(working)
    except asyncio.CancelledError:
        await asyncio.wait({working})
        raise


SHARE, LEAST, MOST = 0.05, 500e6, 10e9
"""A disk is nearly full below this share, but at least and at most these numbers of bytes."""


def least_free(total: float) -> float:
    """Returns the number of free bytes below which a disk of `total` bytes is nearly full."""
    return max(min(SHARE * total, MOST), min(LEAST, 0.2 * total))


def is_nearly_full(folder: Path) -> bool:
    """Tests whether a folder's disk is nearly full. Raises `OSError`."""
    disk = shutil.disk_usage(folder)
    return disk.free < least_free(disk.total)
