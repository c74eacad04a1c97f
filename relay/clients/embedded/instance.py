"""The name of this process. It survives a restart, so that the process takes its own work over at once."""

import uuid
from pathlib import Path

import fasteners

from relay.clients.embedded.account import make_data_dir

MOST = 64


class Instance:
    """The first free name of a data directory, held by a file lock until this process ends in any way."""

    def __init__(self, data_dir: Path) -> None:
        folder = data_dir / "instances"
        make_data_dir(data_dir)
        folder.mkdir(mode=0o700, exist_ok=True)
        for number in range(MOST):
            lock = fasteners.InterProcessLock(folder / f"{number}.lock")
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
    """Return whether any Relay runs on a data directory now. Creates nothing there."""
    for path in (data_dir / "instances").glob("*.lock"):
        lock = fasteners.InterProcessLock(path)
        if not lock.acquire(blocking=False):
            return True
        lock.release()
    return False


def _name(path: Path) -> str:
    """Return the UUID in a file, creating it if missing."""
    try:
        return str(uuid.UUID(path.read_text("ascii").strip()))
    except (OSError, ValueError):
        name = str(uuid.uuid4())
        path.write_text(name, "ascii")
        return name
