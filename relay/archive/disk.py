"""How much of a disk stays free."""

from __future__ import annotations

import shutil
from pathlib import Path

SHARE, LEAST, MOST = 0.05, 500e6, 10e9
"""Less than this part of a disk is too little, or less than so many bytes, but not more than so many."""


def least_free(total: float) -> float:
    """Bytes of a disk of `total` bytes below which it is nearly full."""
    return max(min(SHARE * total, MOST), min(LEAST, 0.2 * total))


def is_nearly_full(folder: Path) -> bool:
    """Whether the disk of a folder is. Raises `OSError`."""
    disk = shutil.disk_usage(folder)
    return disk.free < least_free(disk.total)
