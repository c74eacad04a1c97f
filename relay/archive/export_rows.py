"""The rows of an export, as far as they are read here. The rest of a row goes from database to database as it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

RawRow = Mapping[str, Any]
"""A row as the database writes it, and takes it in again."""
Id = Annotated[int, Field(strict=True)]


@dataclass(frozen=True, slots=True)
class ExportHeader:
    """The first row."""

    schema: str = ""
    relay: str = ""
    exported_at: str = ""


@dataclass(frozen=True, slots=True)
class Links:
    """What a row is, and what it refers to, by the numbers of the database from which it comes."""

    type: str
    id: Id | None = None
    thread: Id | None = None
    session: Id | None = None
    source: Id | None = None
    message: Id | None = None
    from_message: Id | None = None
    through_message: Id | None = None
    previous: Id | None = None
    replaced_by: Id | None = None
    evidence: tuple[Id, ...] | None = None
    chat_id: Id | None = None
    created_at: str | None = None
    rows: Id | None = None
    """Of the end: how many rows there are before it."""

    @property
    def cited(self) -> set[int]:
        """The messages to which it refers."""
        named = {self.source, self.message, self.from_message, self.through_message, *(self.evidence or ())}
        return {one for one in named if one is not None}


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose memory an export holds."""

    kind: str
    owner_id: Id | None
    chat_id: Id | None


@dataclass(frozen=True, slots=True)
class PersonaRow:
    text: str
    author: str | None = None


@dataclass(frozen=True, slots=True)
class ThreadRow:
    chat_id: int
    topic_id: int
    topic: str | None = None


@dataclass(frozen=True, slots=True)
class SessionRow:
    id: int
    title: str | None = None
    started_at: str | None = None


@dataclass(frozen=True, slots=True)
class VersionRow:
    """What a message said before it was edited."""

    text: str
    replaced_at: str


@dataclass(frozen=True, slots=True)
class ReactionRow:
    emoji: str
    removed_at: str | None = None


@dataclass(frozen=True, slots=True)
class MessageRow:
    session: int
    role: str
    text: str
    status: str
    created_at: str
    name: str | None = None
    blocks: Any = None
    versions: tuple[VersionRow, ...] = ()
    reactions: tuple[ReactionRow, ...] = ()


@dataclass(frozen=True, slots=True)
class SummaryRow:
    text: str
    created_at: str
    author_id: int | None = None


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """What was done to a memory."""

    action: str
    created_at: str
    before: str | None = None
    """What it said before."""


@dataclass(frozen=True, slots=True)
class MemoryRow:
    kind: str
    content: str
    status: str
    created_at: str
    subject: str | None = None
    category: str | None = None
    tags: tuple[str, ...] | None = None
    pinned: bool = False
    valid_until: str | None = None
    changes: tuple[ChangeRow, ...] = ()


_LINKS, _OWNER = TypeAdapter(Links), TypeAdapter(Owner)
_HEADER = TypeAdapter(ExportHeader)


def links_of(row: RawRow) -> Links:
    """Raises `ValueError` for what is no row of an export."""
    return _LINKS.validate_python(row)


def header_of(row: RawRow) -> ExportHeader:
    """The header; an empty one for a row that is none."""
    try:
        return _HEADER.validate_python(row)
    except ValidationError:
        return ExportHeader()


def owner_of(row: RawRow) -> Owner | None:
    """Whose memory a header says that it is; None where it does not say it."""
    try:
        return _OWNER.validate_python(row.get("space"))
    except ValidationError:
        return None
