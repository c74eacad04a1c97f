"""What summaries and titles are made of, and what is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field


@dataclass(frozen=True, slots=True)
class SourceMessage:
    """A message that a summary or a title is made of."""

    id: int
    role: str
    """user or assistant."""
    text: str
    """The beginning of it."""
    untrusted: bool
    """Others wrote in it."""
    name: str | None = None
    user_id: int | None = None
    tainted: bool = False
    """It is an answer to what others wrote."""


@dataclass(frozen=True, slots=True)
class EarlierSummary:
    """The summary that another one builds on."""

    id: int
    text: str
    tainted: bool


@dataclass(frozen=True, slots=True)
class WrittenSummary:
    """A summary as the model wrote it."""

    text: str
    model: str
    usage: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSummary:
    """A summary to be stored."""

    text: str
    model: str
    usage: Mapping[str, int]
    settings: Mapping[str, int]
    """How it was made."""
    derivation: Mapping[str, object]
    tainted: bool
    previous_id: int | None = None
    from_message_id: int | None = None
    """Not of a summary that replaces another one's text."""
    message_count: int = 0

    def as_json(self) -> dict[str, object]:
        """As `relay_store_summary` and `relay_replace_summary` take it."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class DerivedSummary:
    """A summary that a model wrote."""

    id: int
    thread_id: int


@dataclass(frozen=True, slots=True)
class SourcedSummary:
    """A summary with what it was made of."""

    id: int
    thread_id: int
    space_id: int
    text: str
    hash: str | None
    """Of its derivation; None: an earlier version made it, which kept none."""
    previous: EarlierSummary | None
    messages: tuple[SourceMessage, ...]


@dataclass(frozen=True, slots=True)
class TopicPlace:
    """A topic of a chat."""

    chat_id: int
    topic_id: int
