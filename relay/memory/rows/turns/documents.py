"""Documents that were sent, as the model reads them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DocumentCard:
    """Which document it is, and who sent it when."""

    name: str
    kind: str
    pages: int | None
    parts: int
    version: int
    """Of those with the same name, from 1, the oldest."""
    versions: int
    sent_by: str | None
    sent_at: str
    """Date and time in UTC, to the minute."""


@dataclass(frozen=True, slots=True)
class OpenedDocument:
    """A part of a document, or the documents that could be meant."""

    document: DocumentCard | None = None
    """None: no single document is meant; see `documents`."""
    part: int = 0
    text: str | None = None
    """None: it has no such part."""
    others: tuple[DocumentCard, ...] = ()
    """Others of the same name, the newest first."""
    documents: tuple[DocumentCard, ...] = ()
    """Those that could be meant, else the newest."""
