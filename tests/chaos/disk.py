"""A small disk of its own for the database, which can fill up."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

MEGABYTES = 500


class Disk:
    """A tmpfs if it can be mounted (as root, on Linux). Otherwise a plain folder that never fills up."""

    def __init__(self, path: Path, small: bool = True) -> None:
        path.mkdir()
        self.path = path
        self._ballast = path / "ballast"
        options = f"size={MEGABYTES}m,mode=0711"
        command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(path)]
        try:
            self.fills = small and subprocess.run(command, capture_output=True, timeout=10).returncode == 0
        except OSError:
            self.fills = False
        os.chmod(path, 0o711)  # noqa: S103 — the server may run as another user

    def fill(self) -> None:
        """Fills the disk completely."""
        with self._ballast.open("wb", buffering=0) as ballast:
            for size in (1 << 20, 1 << 12):
                try:
                    while True:
                        ballast.write(b"\0" * size)
                except OSError:
                    continue

    def empty(self) -> None:
        """Frees the space again."""
        self._ballast.unlink(missing_ok=True)

    def close(self) -> None:
        """Removes the disk and its content."""
        if self.fills:
            subprocess.run(["umount", "--lazy", str(self.path)], capture_output=True, timeout=10)
