"""Erasing for good: what it would take, how far it is, and what is left to others."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class ErasedCounts:
    """How much an erasure takes."""

    memories: int = 0
    messages: int = 0
    summaries: int = 0
    artefacts: int = 0
    """Of other kinds."""
    documents: int = 0
    deleted: int = 0
    """Messages of ours that were deleted in chats."""
    edited: int = 0
    """Messages of ours that were edited in chats."""
    left: int = 0
    """Messages of ours that Telegram kept as they are."""


@dataclass(frozen=True, slots=True)
class ErasedMemory:
    """A memory that would go."""

    id: int
    number: int
    content: str
    status: str


@dataclass(frozen=True, slots=True)
class ErasedMessage:
    """A message that would go."""

    id: int
    role: str
    text: str
    at: datetime
    name: str | None = None


@dataclass(frozen=True, slots=True)
class WordLeft:
    """A word of the erased texts that other messages have, too."""

    word: str
    messages: int


@dataclass(frozen=True, slots=True)
class ErasePreview:
    """What an erasure would take. It can be started for a quarter of an hour."""

    erasure_id: int
    counts: ErasedCounts
    memories: tuple[ErasedMemory, ...]
    """Ten at most."""
    messages: tuple[ErasedMessage, ...]
    """Ten at most."""
    documents: tuple[str, ...]
    """Their names."""
    left: tuple[WordLeft, ...]
    more: bool
    """There is more than one erasure takes."""


@dataclass(frozen=True, slots=True)
class MessageLeft:
    """A message that the person has to delete themselves."""

    chat_id: int
    message_id: int | None
    at: datetime
    what: str
    """yours, ours or export."""


@dataclass(frozen=True, slots=True)
class ErasureStep:
    """How far an erasure is."""

    erasure_id: int
    done: bool
    counts: ErasedCounts
    theirs: tuple[MessageLeft, ...]
    waiting: int
    """Messages of ours that are still to be deleted or edited."""


@dataclass(frozen=True, slots=True)
class Retraction:
    """A message of ours that is to be deleted or edited for an erasure."""

    erasure_id: int
    chat_id: int
    message_id: int
    request: dict[str, object] | None
    """What stays of it, as `editMessageText` takes it; None: nothing."""
