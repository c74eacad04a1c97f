"""Vectors: what needs one, what was made, and how many there are."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EmbedTask:
    """An entry that needs a vector."""

    entry_id: int
    since: str
    """When it became due, exactly as the database wrote it: it is given back unchanged."""
    said: bool
    """A person said it."""
    text: str
    """At most 16,000 characters."""
    hash: str
    """Of the whole text."""


@dataclass(frozen=True, slots=True)
class MadeVector:
    """The vector of an entry."""

    entry_id: int
    since: str
    hash: str
    vector: str | None
    """As the database reads it; None: there is nothing to embed."""


@dataclass(frozen=True, slots=True)
class EmbeddingStatus:
    """How many vectors there are of a model."""

    entries: int
    """All that can be found."""
    embedded: int
    due: int
    of_other_models: int
    serves: str
    """The model that queries are embedded with: the one with the most vectors."""
    rebuilding: bool
