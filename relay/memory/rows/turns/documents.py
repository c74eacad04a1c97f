"""Documents that were sent, as the model reads them."""

from __future__ import annotations

from relay.core.frozen import frozen


@frozen
class DocumentCard:
    """A document's identity, sender and time."""

    name: str
    kind: str
    pages: int | None
    parts: int
    version: int
    """The number among documents with the same name, from 1, the oldest."""
    versions: int
    sent_by: str | None
    sent_at: str
    """Date and time in UTC, to the minute."""
    mark: str | None = None
    """What tells its sender apart from namesakes."""


@frozen
class OpenedDocument:
    """A part of a document, or the documents that the request could mean."""

    document: DocumentCard | None = None
    """None: the request doesn't mean a single document; see `documents`."""
    part: int = 0
    text: str | None = None
    """None: the document has no such part."""
    others: tuple[DocumentCard, ...] = ()
    """Other documents of the same name, newest first."""
    documents: tuple[DocumentCard, ...] = ()
    """The documents that the request could mean, or else the newest."""
