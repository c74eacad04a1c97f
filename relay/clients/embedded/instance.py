"""The name of this process. It survives a restart, so that the process takes its own work over at once."""

from __future__ import annotations

import contextlib
import os
import uuid
from pathlib import Path

import fasteners

from relay.clients.embedded.account import make_data_dir, make_directory, open_private
from relay.core.errors import SettingsError
from relay.core.private_files import make_private

MOST = 64


class Instance:
    """The first free name of a data directory, held by a file lock until this process ends, however it ends."""

    def __init__(self, data_dir: Path) -> None:
        """Raises what `make_directory` raises."""
        folder = data_dir / "instances"
        make_data_dir(data_dir)
        with contextlib.suppress(OSError):
            make_private(folder)
        make_directory(folder, "RELAY_DATA_DIR")
        for number in range(MOST):
            path = folder / f"{number}.lock"
            try:
                os.close(open_private(path))
            except OSError:  # such as one of root's
                continue
            lock = fasteners.InterProcessLock(path)
            if lock.acquire(blocking=False):
                self._lock = lock
                self.name = _name(folder / str(number))
                return
        self._lock = None
        self.name = str(uuid.uuid4())

    def release(self) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock = None


def in_use(data_dir: Path) -> bool:
    """Returns whether any Relay runs on a data directory now. Creates nothing there. Raises SettingsError if it can't
    tell."""
    for path in (data_dir / "instances").glob("*.lock"):
        lock = fasteners.InterProcessLock(path)
        try:
            if not lock.acquire(blocking=False):
                return True
        except OSError as error:
            raise SettingsError(f"Relay cannot use {path}: {error.strerror}. Check its owner and the disk.") from None
        lock.release()
    return False


def _name(path: Path) -> str:
    """Returns the UUID in a file, creating it if missing."""
    try:
        return str(uuid.UUID(path.read_text("ascii").strip()))
    except (OSError, ValueError):
        name = str(uuid.uuid4())
        with contextlib.suppress(OSError):  # then the next start has another name
            path.write_text(name, "ascii")
        return name
