"""A person's search: the query and its results."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from relay.core.frozen import frozen
from relay.memory.rows.memories import Posted


@frozen
class Speakers:
    """The speakers to search for; any of them matches."""

    me: int | None
    """A person's id: the person who searches."""
    you: bool
    """Also the assistant."""
    names: tuple[str, ...]
    """Parts of speakers' names."""


@frozen
class ThreadPlace:
    """A chat and topic."""

    chat_id: int
    topic_id: int


@frozen
class Weights:
    """A range of markers' weights, from 0.00 to 1.00."""

    min: str
    max: str


@frozen
class SearchQuery:
    """A query. All of its conditions must hold; of several speakers or places, one must match."""

    words: str
    phrases: tuple[str, ...] = ()
    by: Speakers | None = None
    here: ThreadPlace | None = None
    places: tuple[str, ...] = ()
    """Parts of the names of topics and groups."""
    since: datetime | None = None
    until: datetime | None = None
    files: tuple[str, ...] = ()
    """Parts of the names of documents."""
    topics: tuple[str, ...] = ()
    """Parts of the topics of sessions."""
    keepit: Weights | None = None
    kinds: tuple[str, ...] = ()
    """The kinds to search: message, document or a kind of artefact. Empty: all."""
    vector: str | None = None
    """The vector of the query's meaning, in the database's text form."""
    model: str = ""
    """The embedding model that made the vector."""


@frozen
class MessageHit:
    """A message that matches."""

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
    """The passage that fits the query. Matching words are between U+0002 and U+0003."""


@frozen
class KnownHit:
    """A memory or another artefact that matches."""

    kind: str
    id: int
    number: int
    title: str | None
    """What it is called, such as v001 of “Garden”; None: by its kind and number."""
    at: datetime
    subject: str | None
    """The person that a memory is about."""
    status: str | None
    """A memory's status: active or archived."""
    valid_until: datetime | None
    place: str | None
    text: str


Hit = Annotated[MessageHit | KnownHit, Field(union_mode="left_to_right")]


@frozen
class SearchPage:
    """A page of results, best first."""

    total: int
    """The number of results, with at most 2,000 messages."""
    more: bool
    """There are more messages than `total` counts."""
    every: bool
    """All words of the query were found; False: only some of them."""
    near: bool
    """None of the words was found; these results are close."""
    nowhere: bool
    """No topic or group has such a name."""
    vague: bool
    """None of the words can be searched for: each is a stop word of some language."""
    found: tuple[Hit, ...]


@frozen
class MessageContext:
    """Messages next to one that was found, oldest first."""

    messages: tuple[MessageHit, ...]
    earlier: bool
    """There are messages before the first one."""
    later: bool


@frozen
class StoredSearch:
    """A search as it was entered, stored for its buttons."""

    text: str
    user_id: int
    at: datetime
    chat_id: int
    topic_id: int
