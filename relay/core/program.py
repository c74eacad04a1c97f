"""This program: its version, and what to type to run it where this one runs."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path


def find_program(typed: str, found: str | None, here: Path) -> str:
    """How the program is called again. `typed`: how it was called now; `found`: the `relay` of the PATH, if any;
    `here`: the present folder."""
    own = Path(typed)
    if own.name != "relay" or not own.is_file() or (found and Path(found).samefile(own)):
        return "relay"
    return str(own.relative_to(here)) if own.is_relative_to(here) else typed


RELAY = find_program(sys.argv[0], shutil.which("relay"), Path.cwd())
"""`relay` where that is on the PATH, else the path of it, such as .venv/bin/relay."""


def read_version() -> str:
    """Relay's own version."""
    from importlib import metadata

    try:
        return metadata.version("relay")
    except metadata.PackageNotFoundError:
        return "0"
