"""How much memory Relay may use: the machine's, or its container's or service's limit."""

import contextlib
import os
from pathlib import Path

GROUPS = Path("/sys/fs/cgroup")
UNKNOWN = 2 * 1024**3


def memory(groups: Path = GROUPS, own: Path = Path("/proc/self/cgroup")) -> int:
    """Returns how many bytes of memory Relay may use."""
    found = [_physical()]
    with contextlib.suppress(OSError):
        for line in own.read_text().splitlines():
            _, kind, path = line.split(":", 2)
            place = groups / path.lstrip("/") if not kind else groups / kind / path.lstrip("/")
            for folder in (place, *place.parents):
                if not folder.is_relative_to(groups):
                    break
                found += _limits(folder)
    return min(found)


def _physical() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return UNKNOWN


def _limits(folder: Path) -> list[int]:
    found = []
    for name in ("memory.max", "memory.limit_in_bytes"):
        with contextlib.suppress(OSError, ValueError):
            found.append(int((folder / name).read_text()))
    return found
