"""What says of a derived row how it was made: of what, by which version of what. Pure.

A derivation has a name (`summary`, `judge`, `consolidate`), a version, and inputs. Its hash is

    sha256(name ␟ version ␟ kind ␟ id ␟ sha256(text) ␟ kind ␟ id ␟ sha256(text) …), the first 32 hexadecimal digits,

with ␟ the unit separator (U+001F), inputs in their order. An input counts with its text too, because messages are
edited and memories reworded: what was made of other words is another result. The same hash means the same question to a
model, so what came of it is taken from the cache of results (`relay/memory/results.py`) and not asked again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

SEPARATOR = "\x1f"
DIGITS = 32
"""128 bits: two of a space's derivations never meet by chance."""


class Input(NamedTuple):
    """Something that a derivation reads: a message, a memory or a summary, by its number, with what it says."""

    kind: str
    id: int
    text: str


@dataclass(frozen=True, slots=True)
class Derivation:
    """How a row was, or is to be, made."""

    name: str
    version: str
    inputs: tuple[str, ...]
    """`message:12`, `summary:3`, in the order in which they were read."""
    hash: str

    def as_json(self) -> dict[str, Any]:
        """As it is kept with the row."""
        return {"name": self.name, "version": self.version, "inputs": list(self.inputs), "hash": self.hash}


def derived(name: str, version: str | int, inputs: Iterable[Input]) -> Derivation:
    """The derivation of these inputs by this version of a name."""
    read = list(inputs)
    parts = [name, str(version)]
    for one in read:
        parts += [one.kind, str(one.id), digest(one.text)]
    return Derivation(
        name, str(version), tuple(f"{one.kind}:{one.id}" for one in read), digest(SEPARATOR.join(parts))[:DIGITS]
    )


def digest(text: str) -> str:
    """The SHA-256 of a text in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
