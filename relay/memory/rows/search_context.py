"""Opened search results."""

from __future__ import annotations

from datetime import datetime

from relay.core.frozen import frozen
from relay.memory.rows.contexts.library import OriginalMessage


@frozen(kw_only=True)
class ContextMessage(OriginalMessage):
    """The beginning of a message that is shown among others."""

    cut: bool
    """The message is longer than `text`."""


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


@frozen(kw_only=True)
class OpenedEntry:
    """What is opened of any kind but messages."""

    id: int
    at: datetime
    content: str
    untrusted: bool
    place: str | None


@frozen(kw_only=True)
class OpenedMemory(OpenedEntry):
    """A memory with its origin and earlier texts."""

    number: int
    """Its visible number."""
    type: str
    """A fact's kind, or learning."""
    subject: str | None
    subject_id: int | None
    category: str | None
    tags: tuple[str, ...]
    importance: int
    confidence: float | None
    pinned: bool
    status: str
    """active or archived."""
    updated_at: datetime
    valid_from: datetime | None
    valid_until: datetime | None
    by: str | None
    """The derivation that made it."""
    promoted: bool
    sources: tuple[ContextMessage, ...]
    before: tuple[Wording, ...]


@frozen(kw_only=True)
class OpenedSummary(OpenedEntry):
    """A summary with the first and last message it covers."""

    number: int
    title: str | None
    """What it is called, such as v001 of “Garden”; None: by its kind and number."""
    messages: int
    """How many messages it covers."""
    from_id: int
    through_id: int
    from_at: datetime | None
    through_at: datetime | None


@frozen(kw_only=True)
class OpenedPart(OpenedEntry):
    """A part of a document. `id`: the document's."""

    part: int
    parts: int
    document: str
    name: str | None
    """The name of the person who sent it."""
    user_id: int | None
    message_id: int


@frozen(kw_only=True)
class OpenedArtefact(OpenedEntry):
    """An opened artefact of a kind without its own view, with what it was made from."""

    kind: str
    number: int
    title: str | None
    """What it is called, such as v001 of “Garden”; None: by its kind and number."""
    by: str | None
    """The derivation that made it."""
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
