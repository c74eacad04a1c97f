"""Files that nobody else may read, and that are there whole or not at all."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, ParamSpec, TypeVar

from relay.core.errors import RelayError

P = ParamSpec("P")
T = TypeVar("T")


class FileRefused(RelayError):
    """A file cannot be written or read."""


@contextlib.contextmanager
def written(path: Path, replace: bool = False) -> Iterator[BinaryIO]:
    """A file to write, of mode 600 from its first byte: it gets its name when it is complete and on the disk.

    It goes when the block raises. Raises `FileRefused`, also when there is one already that may not be replaced.
    """
    partial = path.with_name(f".{path.name}.partial")
    with _explained(path):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
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
            _sync(path.parent)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise


_BINARY = getattr(os, "O_BINARY", 0)


def _sync(folder: Path) -> None:
    """Makes a new name in a folder outlive a power cut, where the system lets us."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


@contextlib.contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise FileRefused(f"{path} cannot be written: {error.strerror or error}.") from None


async def in_thread(work: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
    """Runs what blocks in a thread. Cancelled, it waits until that has ended: a file is not closed under its writer."""
    working = asyncio.ensure_future(asyncio.to_thread(work, *given, **named))
    try:
        return await asyncio.shield(working)
    except asyncio.CancelledError:
        await asyncio.wait({working})
        raise


SHARE, LEAST, MOST = 0.05, 500e6, 10e9
"""Less than this part of a disk is too little, or less than so many bytes, but not more than so many."""


def least_free(total: float) -> float:
    """Bytes of a disk of `total` bytes below which it is nearly full."""
    return max(min(SHARE * total, MOST), min(LEAST, 0.2 * total))


def is_nearly_full(folder: Path) -> bool:
    """Whether the disk of a folder is. Raises `OSError`."""
    disk = shutil.disk_usage(folder)
    return disk.free < least_free(disk.total)
