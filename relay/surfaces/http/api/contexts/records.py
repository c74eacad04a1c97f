"""Models of sessions, versions, markers and compositions over HTTP, which are read from the results of commands."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, AliasPath, BeforeValidator, Field, model_validator

from relay.memory.contexts.markers import name_weight, remove_markers
from relay.memory.rows.contexts import projects
from relay.memory.rows.contexts.composition import ComposedPart, Composition
from relay.memory.rows.contexts.projects import Project
from relay.memory.rows.sessions import SaidWords
from relay.surfaces.http.api.contexts.names import (
    CompositionName,
    MarkerName,
    MessageName,
    ProjectName,
    VersionName,
    formatted,
)
from relay.surfaces.http.wire import Id, Joined, WireModel, source

Number = Annotated[int, BeforeValidator(len)]
"""How many there are in a list."""
Registered = Annotated[bool, BeforeValidator(lambda at: at is not None)]
"""Whether a session is registered, from the time when it was."""


class KeepitStats(WireModel):
    """A version's markers. `weights`: how many there are of each weight, kept or not."""

    preserved: int
    summarized: int
    weights: dict[str, int]


class CompressionRecord(WireModel):
    """A version of a session."""

    version_id: str = source("short")
    name: str
    file: Annotated[str, formatted("{}.jsonl")] = source("name")
    created_at: datetime
    settings: dict[str, Any]
    output_tokens: int | None
    output_messages: int | None
    compression_ratio: float | None = source("ratio")
    keepit_stats: KeepitStats = source("keepit")
    source_version: VersionName | None = source("source")
    status: Literal["due", "ready", "failed"]
    error: str | None
    done: int | None
    """How many pieces of a version that is being made are done."""
    total: int | None
    last_used: datetime | None = source("last_used_at")
    used_in_compositions: Number = source("compositions")
    active: bool
    """Whether a running session began with a composition that holds it."""
    fresh: int = source("since.messages")
    """How many messages its session has received since. `changed`: how many that it was made from were edited or
    replaced; `marked`: how many markers were set."""
    changed: int = source("since.changes")
    marked: int = source("since.markers")
    tainted: bool
    """Whether it holds text that others wrote."""


class Position(WireModel):
    """Where a marker is in its message's text, in characters."""

    start: int
    end: int


class Marker(WireModel):
    """A passage to keep."""

    marker_id: MarkerName = source("id")
    message_uuid: MessageName = source("message_id")
    weight: float
    label: Annotated[str, BeforeValidator(name_weight)] = source("weight")
    """The name of the weight: pinned, critical, important, notable, minor, hint or faint."""
    content: str
    position: Position
    context: str
    created_at: datetime
    survived_in: list[VersionName] = source("survived")
    summarized_in: list[VersionName] = source("summarized")

    @model_validator(mode="before")
    @classmethod
    def _locate(cls, one: object) -> object:
        return Joined(one, {"position": one})


class SessionMetadata(WireModel):
    """What a session is about."""

    project_name: str
    primary_topics: list[str]


def _begin(first: SaidWords | None) -> str:
    return remove_markers(first.text)[:200] if first else ""


class SessionHead(WireModel):
    """What lists and records have of a session."""

    session_id: Id = source("id")
    title: str | None
    original_tokens: int = source("tokens")
    original_messages: int = source("messages")
    first_timestamp: datetime = Field(validation_alias=AliasChoices(AliasPath("first", "at"), "began"))
    last_timestamp: datetime | None = source("ended")
    registered_at: datetime | None = source("registered")
    last_accessed: datetime | None = source("accessed")
    current: bool = source("present")
    """Whether it is the running session."""
    opening: Annotated[str, BeforeValidator(_begin)] = source("first")
    """The beginning of its first message."""


class SessionLine(SessionHead):
    """A session in a list."""

    registered: Registered
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

    project_id: ProjectName
    metadata: SessionMetadata
    keepit_markers: list[Marker]
    compressions: list[CompressionRecord]

    @classmethod
    def of_row(cls, row: projects.SessionRecord) -> SessionRecord:
        """Makes it of a session with its markers and versions."""
        name = display_name(row.place, row.chat_id, row.topic_id)
        return cls.of(
            row.session,
            project_id=row.thread_id,
            metadata={"project_name": name, "primary_topics": row.session.topics},
            keepit_markers=row.markers,
            compressions=row.versions,
        )


class ProjectLine(WireModel):
    """A project in a list."""

    project_id: ProjectName = source("id")
    display_name: str
    chat_id: Id
    topic_id: Id
    space: Literal["private", "group"] = source("space.kind")
    created_at: datetime
    last_accessed: datetime | None = source("accessed")
    sessions: int
    registered: int
    tokens: int
    messages: int

    @classmethod
    def of_row(cls, row: Project) -> ProjectLine:
        """Makes it of a project."""
        return cls.of(row, display_name=display_name(row.name, row.chat_id, row.topic_id))


def display_name(name: str | None, chat_id: int, topic_id: int) -> str:
    """Returns the display name of a project. `name`: of its topic and group."""
    if name or topic_id:
        return name or f"Topic {topic_id}"
    return "Private chat" if chat_id > 0 else "Group" if chat_id < 0 else "Terminal"


class Component(WireModel):
    """A session in a composition. `requestedVersion` and `requestedAllocation`: what was asked for."""

    session_id: Id
    version_id: VersionName = source("version")
    requested_version: Annotated[str, BeforeValidator(lambda name: name or "auto")] = source("asked.version")
    requested_allocation: int | None = source("asked.allocation")
    order: int
    token_contribution: int | None = source("tokens")
    allocation: int | None
    recompress: Annotated[dict[str, Any] | None, BeforeValidator(lambda given: given or None)] = source(
        "asked.recompress"
    )
    title: str | None
    opening: Annotated[str, BeforeValidator(lambda words: remove_markers(words or ""))] = source("words")
    """The beginning of the session's first message."""
    status: Literal["ready", "making", "gone"]
    """gone: its version was pruned; the composition keeps its text."""
    reason: str | None
    since: str = source("since.told")
    """What its version lacks of the session by now, such as 2 messages; empty: nothing."""

    @classmethod
    def of_part(cls, part: ComposedPart, order: int) -> Component:
        """Makes it of a composition's part."""
        return cls.of(part, order=order, status="making" if part.due else "gone" if part.gone else "ready")


class CompositionHead(WireModel):
    """What lists and records have of a composition."""

    composition_id: CompositionName = source("id")
    name: str
    created_at: datetime
    total_tokens: int | None
    total_messages: int | None
    used_in_sessions: list[Id] = source("used_in")
    status: Literal["making", "ready", "over", "failed"]


class CompositionLine(CompositionHead):
    """A composition in a list. `components`: how many sessions it has."""

    components: Number = source("parts")


class CompositionRecord(CompositionHead):
    """A composition. `outputFile`: the name of its download; null: there is nothing to download yet."""

    project_id: ProjectName = source("thread_id")
    components: list[Component]
    output_file: str | None
    output_format: Literal["markdown", "jsonl", "both"] = source("format")
    total_token_budget: int = source("budget")
    strategy: Literal["equal", "recency", "proportional"]
    active: int
    """How many running sessions began with it."""
    error: str | None

    @classmethod
    def of_row(cls, row: Composition) -> CompositionRecord:
        """Makes it of a composition."""
        files = {"markdown": "composed.md", "jsonl": "composed.jsonl", "both": f"{row.name}.zip"}
        return cls.of(
            row,
            components=[Component.of_part(part, order) for order, part in enumerate(row.parts, 1)],
            output_file=None if row.total_tokens is None else files[row.format],
        )


class Row(WireModel):
    """A part of a text, made from a stretch of messages."""

    role: str
    text: str
    at: datetime | None
    kept: bool
    """Whether it is word for word."""
    weight: float | None
    """The weight of the marker that kept it; null: no marker."""
