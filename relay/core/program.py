"""The program itself: its version, and the command that runs it."""

from __future__ import annotations

import contextlib
import gc
import os
import shlex
import shutil
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TextIO


def find_folder() -> Path | None:
    """Returns the current folder; None if it has been deleted."""
    with contextlib.suppress(FileNotFoundError):
        return Path.cwd()
    return None


def find_program(typed: str, found: str | None, here: Path | None) -> str:
    """Returns the command that runs this program, quoted for a shell. `typed`: how it was called; `found`: the `relay`
    on the PATH, if any; `here`: the current folder, if there is one."""
    own = Path(typed)
    if own.name != "relay" or not own.is_file() or (found and Path(found).samefile(own)):
        return "relay"
    return shlex.quote(str(own.relative_to(here)) if here and own.is_relative_to(here) else typed)


INSTALL = "uv pip install" if find_spec("pip") is None else f"{shlex.quote(sys.executable)} -m pip install"
"""The command that installs packages into Relay's environment. One made by uv has no pip."""
RELAY = find_program(sys.argv[0], shutil.which("relay"), find_folder())
"""`relay` if that is on the PATH, otherwise its path, such as .venv/bin/relay."""


def shows_colours(stream: TextIO) -> bool:
    """Tests whether a stream is a terminal with colours, which TERM=dumb and NO_COLOR deny."""
    return stream.isatty() and os.environ.get("TERM") != "dumb" and not os.environ.get("NO_COLOR")


@contextlib.contextmanager
def pause_collections() -> Iterator[None]:
    """Keeps the garbage collector from running, for work in a thread that makes many objects at once: it would hold up
    the event loop, too, for a third of a second."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@contextlib.contextmanager
def hide_package(name: str) -> Iterator[None]:
    """Makes a package appear to be missing while a library is imported that would load it and works without it. Does
    nothing if the package is already loaded."""
    if name in sys.modules:
        yield
        return
    sys.modules[name] = None  # type: ignore[assignment]  # forbids its import
    try:
        yield
    finally:
        del sys.modules[name]


def read_version() -> str:
    """Returns Relay's version."""
    return version_of("relay") or "0"


def version_of(package: str) -> str:
    """Returns the version of an installed package; empty if unknown."""
    from importlib import metadata

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""
