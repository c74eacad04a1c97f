"""Vectors: entries that need one, vectors that were made, and their numbers."""

from __future__ import annotations

from relay.core.frozen import frozen


@frozen
class EmbedTask:
    """An entry that needs a vector."""

    entry_id: int
    since: str
    """When it became due, exactly as the database wrote it, because it is passed back unchanged."""
    said: bool
    """A person said it."""
    text: str
    """At most 16,000 characters."""
    hash: str
    """A hash of the whole text."""


@frozen
class MadeVector:
    """The vector of an entry."""

    entry_id: int
    since: str
    hash: str
    vector: str | None
    """The vector in the database's text form; None: there is nothing to embed."""


@frozen
class EmbeddingStatus:
    """How many vectors of a model there are."""

    entries: int
    """How many entries can be found."""
    embedded: int
    due: int
    of_other_models: int
    serves: str
    """The model that queries are embedded with: the one with the most vectors."""
    rebuilding: bool
