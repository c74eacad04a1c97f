"""Versions of the soul, drafts of it, and personas."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Soul:
    """A version of the soul."""

    version: int
    text: str
    author_id: int | None
    reason: str | None
    active: bool
    created_at: datetime
    author: str | None = None


@dataclass(frozen=True, slots=True)
class SoulPage:
    """A page of the versions, newest first."""

    total: int
    souls: tuple[Soul, ...]


@dataclass(frozen=True, slots=True)
class SoulDraft:
    """A text that waits to be decided, or was."""

    id: int
    text: str
    status: str
    """open, activated or discarded."""
    based_on: int | None
    """The version that its author had before them."""
    version: int | None = None
    """The version that it became."""


@dataclass(frozen=True, slots=True)
class Persona:
    """A version of the role in one chat or topic; an empty text: none."""

    id: int
    text: str
    author_id: int | None
    created_at: datetime
    author: str | None = None
    session_id: int | None = None
    """The session off the record that it ends with."""


@dataclass(frozen=True, slots=True)
class PersonaChange:
    """What became of a persona."""

    present: Persona | None
    before: Persona | None
    """The version it replaced; None: nothing changed."""
