"""Models of sessions, versions, markers and compositions over HTTP."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from relay.surfaces.http.wire import WireModel


class KeepitStats(WireModel):
    """A version's markers. `weights`: how many there are of each weight, kept or not."""

    preserved: int
    summarized: int
    weights: dict[str, int]


class CompressionRecord(WireModel):
    """A version of a session."""

    version_id: str
    name: str
    file: str
    created_at: datetime
    settings: dict[str, Any]
    output_tokens: int | None
    output_messages: int | None
    compression_ratio: float | None
    keepit_stats: KeepitStats
    source_version: str | None
    status: Literal["due", "ready", "failed"]
    error: str | None
    done: int | None
    """How many pieces of a version that is being made are done."""
    total: int | None
    last_used: datetime | None
    used_in_compositions: int
    active: bool
    """Whether a running session began with a composition that holds it."""
    fresh: int
    """How many messages its session has received since. `changed`: how many that it was made from were edited or
    replaced; `marked`: how many markers were set."""
    changed: int
    marked: int
    tainted: bool
    """Whether it holds text that others wrote."""


class Position(WireModel):
    """Where a marker is in its message's text, in characters."""

    start: int
    end: int


class Marker(WireModel):
    """A passage to keep."""

    marker_id: str
    message_uuid: str
    weight: float
    label: str
    """The name of the weight: pinned, critical, important, notable, minor, hint or faint."""
    content: str
    position: Position
    context: str
    created_at: datetime
    survived_in: list[str]
    summarized_in: list[str]


class SessionMetadata(WireModel):
    """What a session is about."""

    project_name: str
    primary_topics: list[str]


class SessionHead(WireModel):
    """What lists and records have of a session."""

    session_id: str
    title: str | None
    original_tokens: int
    original_messages: int
    first_timestamp: datetime
    last_timestamp: datetime | None
    registered_at: datetime | None
    last_accessed: datetime | None
    current: bool
    """Whether it is the running session."""
    opening: str
    """The beginning of its first message."""


class SessionLine(SessionHead):
    """A session in a list."""

    registered: bool
    topics: list[str]
    markers: int
    versions: int
    compositions: int
    distance: int | None
    """How many sessions ago it was used; 1: the last session."""
    linked: str | None
    """Why it is linked from another project; null: it belongs to this project."""


class SessionRecord(SessionHead):
    """A session of the memory system."""

    project_id: str
    metadata: SessionMetadata
    keepit_markers: list[Marker]
    compressions: list[CompressionRecord]


class ProjectLine(WireModel):
    """A project in a list."""

    project_id: str
    display_name: str
    chat_id: str
    topic_id: str
    space: Literal["private", "group"]
    created_at: datetime
    last_accessed: datetime | None
    sessions: int
    registered: int
    tokens: int
    messages: int


class Component(WireModel):
    """A session in a composition. `requestedVersion` and `requestedAllocation`: what was asked for."""

    session_id: str
    version_id: str
    requested_version: str
    requested_allocation: int | None
    order: int
    token_contribution: int | None
    allocation: int | None
    recompress: dict[str, Any] | None
    title: str | None
    opening: str
    """The beginning of the session's first message."""
    status: Literal["ready", "making", "gone"]
    """gone: its version was pruned; the composition keeps its text."""
    reason: str | None
    since: str
    """What its version lacks of the session by now, such as 2 messages; empty: nothing."""


class CompositionHead(WireModel):
    """What lists and records have of a composition."""

    composition_id: str
    name: str
    created_at: datetime
    total_tokens: int | None
    total_messages: int | None
    used_in_sessions: list[str]
    status: Literal["making", "ready", "over", "failed"]


class CompositionLine(CompositionHead):
    """A composition in a list. `components`: how many sessions it has."""

    components: int


class CompositionRecord(CompositionHead):
    """A composition. `outputFile`: the name of its download; null: there is nothing to download yet."""

    project_id: str
    components: list[Component]
    output_file: str | None
    output_format: Literal["markdown", "jsonl", "both"]
    total_token_budget: int
    strategy: Literal["equal", "recency", "proportional"]
    active: int
    """How many running sessions began with it."""
    error: str | None


class Row(WireModel):
    """A part of a text, made from a stretch of messages."""

    role: str
    text: str
    at: datetime | None
    kept: bool
    """Whether it is word for word."""
    weight: float | None
    """The weight of the marker that kept it; null: no marker."""
