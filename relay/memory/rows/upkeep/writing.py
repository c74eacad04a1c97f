"""The sources of summaries and titles, and the results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime

from relay.core.frozen import frozen


@frozen
class SourceMessage:
    """A message from which a summary or a title is made."""

    id: int
    role: str
    """user or assistant."""
    text: str
    """The beginning of the message."""
    untrusted: bool
    """Others wrote some of it."""
    name: str | None = None
    user_id: int | None = None
    tainted: bool = False
    """It is an answer to what others wrote."""
    at: datetime | None = None
    """When it was written."""
    zone: str = ""
    """Its author's time zone; empty: the installation's."""
    mark: str | None = None
    """What tells its author apart from namesakes."""


@frozen
class ShownSummary:
    """A summary of a thread: the one that a prompt shows, or that a new one builds on."""

    id: int
    text: str
    tainted: bool


@frozen
class MarkedPassage:
    """A marked passage that survives in a summary."""

    id: int
    message_id: int
    weight: str
    content: str
    tainted: bool


@frozen
class WrittenSummary:
    """A summary as the model wrote it."""

    text: str
    model: str
    usage: Mapping[str, int] = field(default_factory=dict)


@frozen(kw_only=True)
class NewSummary:
    """A summary to be stored."""

    text: str
    model: str
    usage: Mapping[str, int]
    settings: Mapping[str, int]
    """How it was made: the settings."""
    derivation: Mapping[str, object]
    tainted: bool
    previous_id: int | None
    from_message_id: int
    message_count: int
    through_message_id: int | None = None
    """The last message that was read. Those after it, up to the job's, are still owed. None: there are none."""


@frozen
class DerivedSummary:
    """A summary that a model wrote."""

    id: int
    thread_id: int


@frozen(kw_only=True)
class SummarySource:
    """What a summary is made from."""

    thread_id: int
    space_id: int
    previous: ShownSummary | None
    messages: tuple[SourceMessage, ...]
    """The messages since the previous summary, oldest first."""
    markers: tuple[MarkedPassage, ...] = ()
    """The marked passages that survive in the summary, the most important first."""


@frozen(kw_only=True)
class SourcedSummary(SummarySource):
    """A summary with what it was made from."""

    id: int
    text: str
    hash: str | None
    """The hash of its derivation; None: an earlier version made it and stored none."""
