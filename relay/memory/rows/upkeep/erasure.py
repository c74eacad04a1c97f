"""Permanent erasure: its preview, its progress, and what remains."""

from __future__ import annotations

from datetime import datetime

from relay.core.frozen import frozen


@frozen
class ErasedCounts:
    """How much an erasure takes."""

    memories: int = 0
    messages: int = 0
    summaries: int = 0
    artefacts: int = 0
    """Artefacts of other kinds."""
    documents: int = 0
    feedback: int = 0
    """Feedback about answers: tags, reactions, choices …"""
    preferences: int = 0
    """Preferences that nothing else taught."""
    deleted: int = 0
    """Messages of Relay that were deleted in chats."""
    edited: int = 0
    """Messages of Relay that were edited in chats."""
    left: int = 0
    """Messages of Relay that Telegram refused to change."""


@frozen
class ErasedMemory:
    """A memory that would be erased."""

    id: int
    number: int
    content: str
    status: str


@frozen
class ErasedMessage:
    """A message that would be erased."""

    id: int
    role: str
    text: str
    at: datetime
    name: str | None = None


@frozen
class ErasedArtefact:
    """An artefact, such as a reminder, that would be erased."""

    kind: str
    text: str
    """The beginning of its text."""


@frozen
class RemainingWord:
    """A word of the erased texts that other messages have too."""

    word: str
    messages: int


@frozen
class ErasePreview:
    """What an erasure would take. It can be started within a quarter of an hour."""

    erasure_id: int
    counts: ErasedCounts
    memories: tuple[ErasedMemory, ...]
    """At most ten memories."""
    messages: tuple[ErasedMessage, ...]
    """At most ten messages."""
    documents: tuple[str, ...]
    """The documents' names."""
    preferences: tuple[str, ...]
    """The patterns of at most ten preferences."""
    artefacts: tuple[ErasedArtefact, ...]
    """At most ten artefacts of other kinds than memories and summaries."""
    began: tuple[str, ...]
    """The names of compositions that go, with which running conversations began."""
    role: bool
    """A role (`/persona`) mentions it, and stays."""
    soul: bool
    """The soul mentions it, and stays. Only admins hear of that."""
    invitation: bool
    """An open invitation mentions it, and stays. Only admins hear of that."""
    others: bool
    """Other people's words mention it, and stay."""
    spellings: tuple[str, ...]
    """Other spellings of the words, which stay."""
    left: tuple[RemainingWord, ...]
    more: bool
    """There is more than one erasure can take."""


@frozen
class MessageLeft:
    """A message that the person has to delete themselves."""

    chat_id: int
    message_id: int | None
    at: datetime
    what: str
    """yours, ours or export."""


@frozen
class ErasureStep:
    """The progress of an erasure."""

    erasure_id: int
    done: bool
    counts: ErasedCounts
    theirs: tuple[MessageLeft, ...]
    waiting: int
    """How many messages of Relay are still to be deleted or edited."""


@frozen
class Retraction:
    """A message of Relay that is to be deleted or edited for an erasure."""

    erasure_id: int
    chat_id: int
    message_id: int
    request: dict[str, object] | None
    """What remains of the message, as `editMessageText` takes it; None: it is deleted. `{name}`: a topic's new name;
    `message_id` is then the negative id of the topic."""
