"""A person's search: what is looked for, and what is found."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from relay.memory.rows.memories import Posted


@dataclass(frozen=True, slots=True)
class Speakers:
    """Who said it: any of these."""

    me: int | None
    """A person's id."""
    you: bool
    """The assistant."""
    names: tuple[str, ...]
    """Parts of names."""


@dataclass(frozen=True, slots=True)
class ThreadPlace:
    """A chat and topic."""

    chat_id: int
    topic_id: int


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """What is looked for. All of it must hold; of several speakers or places, one is enough."""

    words: str
    phrases: tuple[str, ...] = ()
    by: Speakers | None = None
    here: ThreadPlace | None = None
    places: tuple[str, ...] = ()
    """Parts of the names of topics and groups."""
    since: datetime | None = None
    until: datetime | None = None
    vector: str | None = None
    """What it means, as the database reads vectors."""
    model: str = ""
    """The embedding model that made the vector."""

    def as_json(self) -> dict[str, object]:
        """As `relay_find` takes it."""
        times = {name: at.isoformat() if at else None for name, at in (("since", self.since), ("until", self.until))}
        return {**asdict(self), "phrases": list(self.phrases), "places": list(self.places), **times}


@dataclass(frozen=True, slots=True)
class MessageHit:
    """A message that was found."""

    kind: Literal["message"]
    id: int
    role: str
    user_id: int | None
    name: str | None
    at: datetime
    topic_id: int
    place: str | None
    """The name of its topic or group."""
    posted: Posted | None
    text: str
    """The part that fits the query. Words that match are between U+0002 and U+0003."""


@dataclass(frozen=True, slots=True)
class KnownHit:
    """A memory or another artefact that was found."""

    kind: str
    id: int
    number: int
    at: datetime
    subject: str | None
    """The person that a memory is about."""
    status: str | None
    """Of a memory: active or archived."""
    valid_until: datetime | None
    place: str | None
    text: str


Hit = Annotated[MessageHit | KnownHit, Field(union_mode="left_to_right")]


@dataclass(frozen=True, slots=True)
class SearchPage:
    """A page of what was found, best first."""

    total: int
    """At most 2,000 messages, and what is known."""
    more: bool
    """There are more messages than `total` counts."""
    every: bool
    """All words were found; False: only some of them."""
    near: bool
    """None of the words was found; this comes near."""
    nowhere: bool
    """No topic or group has such a name."""
    vague: bool
    """None of the words can be looked for: they are in nearly every message."""
    found: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class MessageContext:
    """Messages beside one that was found, oldest first."""

    messages: tuple[MessageHit, ...]
    earlier: bool
    """There are messages before the first."""
    later: bool


@dataclass(frozen=True, slots=True)
class StoredSearch:
    """A search as it was asked, stored for its buttons."""

    text: str
    user_id: int
    at: datetime
    chat_id: int
    topic_id: int
