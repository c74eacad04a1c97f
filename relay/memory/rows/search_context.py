"""Opened search results."""

from __future__ import annotations

from datetime import datetime

from relay.core.frozen import frozen


@frozen
class ContextMessage:
    """A message shown among others."""

    id: int
    at: datetime
    role: str
    user_id: int | None
    name: str | None
    text: str
    """The beginning of the message."""
    cut: bool
    """The message is longer than `text`."""
    untrusted: bool


@frozen
class OpenedMessage:
    """A message with its neighbours in the thread, oldest first."""

    id: int
    place: str | None
    messages: tuple[ContextMessage, ...]


@frozen
class Wording:
    """A memory's earlier text."""

    until: datetime
    said: str


@frozen
class OpenedMemory:
    """A memory with its origin and earlier texts."""

    id: int
    number: int
    """Its visible number."""
    type: str
    """A fact's kind, or learning."""
    content: str
    subject: str | None
    subject_id: int | None
    category: str | None
    tags: tuple[str, ...]
    importance: int
    confidence: float | None
    pinned: bool
    status: str
    """active or archived."""
    at: datetime
    updated_at: datetime
    valid_from: datetime | None
    valid_until: datetime | None
    by: str | None
    """The derivation that made it."""
    promoted: bool
    untrusted: bool
    place: str | None
    sources: tuple[ContextMessage, ...]
    before: tuple[Wording, ...]


@frozen
class OpenedSummary:
    """A summary with the first and last message it covers."""

    id: int
    number: int
    title: str | None
    """What it is called, such as v001 of “Garden”; None: by its kind and number."""
    at: datetime
    content: str
    messages: int
    """How many messages it covers."""
    untrusted: bool
    place: str | None
    from_id: int
    through_id: int
    from_at: datetime | None
    through_at: datetime | None


@frozen
class OpenedPart:
    """A part of a document."""

    id: int
    """The document's id."""
    part: int
    parts: int
    document: str
    at: datetime
    name: str | None
    """The name of the person who sent it."""
    user_id: int | None
    message_id: int
    content: str
    untrusted: bool
    place: str | None


@frozen
class OpenedArtefact:
    """An opened artefact of a kind without its own view, with what it was made from."""

    kind: str
    id: int
    number: int
    title: str | None
    """What it is called, such as v001 of “Garden”; None: by its kind and number."""
    at: datetime
    content: str
    untrusted: bool
    by: str | None
    """The derivation that made it."""
    place: str | None
    inputs: tuple[str, ...]
    """What it was made from, such as message:12."""
    sources: tuple[ContextMessage, ...]
    """The first of the messages that it was made from."""


Opened = OpenedMessage | OpenedMemory | OpenedSummary | OpenedPart | OpenedArtefact


def find_opened_type(kind: str) -> type[Opened]:
    """Returns the class of an opened entry of a kind."""
    kinds: dict[str, type[Opened]] = {
        "message": OpenedMessage,
        "memory": OpenedMemory,
        "summary": OpenedSummary,
        "part": OpenedPart,
    }
    return kinds.get(kind, OpenedArtefact)
