"""Records how a derived row was made: from which inputs, and by which version. Pure.

A derivation has a name (`summary`, `judge`, `consolidate`), a version, and inputs. Its hash is sha256(name ␟ version ␟
kind ␟ id ␟ sha256(text) ␟ kind ␟ id ␟ sha256(text) …), the first 32 hexadecimal digits, with ␟ the unit separator
(U+001F) and inputs in order. The hash covers the inputs' texts because messages are edited and memories reworded.

The same hash means the same question to a model, so the answer comes from the cache (`memory/results.py`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any, NamedTuple

from relay.core.frozen import frozen

SEPARATOR = "\x1f"
DIGITS = 32
"""128 bits: collisions within a space are not a concern."""


class Input(NamedTuple):
    """An input of a derivation: a message, memory or summary by id, with its text."""

    kind: str
    id: int
    text: str


@frozen
class Derivation:
    """How a row was, or will be, made."""

    name: str
    version: str
    inputs: tuple[str, ...]
    """The inputs in the order in which they were read, such as `message:12` or `summary:3`."""
    hash: str

    def as_json(self) -> dict[str, Any]:
        """Returns the JSON stored with the row."""
        return {"name": self.name, "version": self.version, "inputs": list(self.inputs), "hash": self.hash}


def make_derivation(name: str, version: str | int, inputs: Iterable[Input]) -> Derivation:
    """Returns the derivation of these inputs by this version of a name."""
    read = list(inputs)
    parts = [name, str(version)]
    for one in read:
        parts += [one.kind, str(one.id), digest(one.text)]
    return Derivation(
        name, str(version), tuple(f"{one.kind}:{one.id}" for one in read), digest(SEPARATOR.join(parts))[:DIGITS]
    )


def digest(text: str) -> str:
    """Returns the SHA-256 of a text in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
