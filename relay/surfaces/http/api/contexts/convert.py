"""Converts the results of commands to the models that are sent."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from relay.memory.contexts.markers import name_weight
from relay.memory.rows.contexts.composition import ComposedPart, Composition
from relay.memory.rows.contexts.markers import Keepit
from relay.memory.rows.contexts.projects import Project
from relay.memory.rows.contexts.projects import SessionRecord as SessionRow
from relay.memory.rows.contexts.versions import Version, VersionRow
from relay.memory.rows.sessions import Session
from relay.surfaces.http.api.contexts.records import (
    Component,
    CompositionLine,
    CompositionRecord,
    CompressionRecord,
    KeepitStats,
    Marker,
    Position,
    ProjectLine,
    Row,
    SessionLine,
    SessionMetadata,
    SessionRecord,
)


def version_record(one: Version) -> CompressionRecord:
    """Returns a version as it is sent."""
    return CompressionRecord(
        version_id=one.short,
        name=one.name,
        file=f"{one.name}.jsonl",
        created_at=one.created_at,
        settings=dict(one.settings),
        output_tokens=one.output_tokens,
        output_messages=one.output_messages,
        compression_ratio=optional(one.ratio),
        keepit_stats=KeepitStats(
            preserved=one.keepit.preserved, summarized=one.keepit.summarized, weights=dict(one.keepit.weights)
        ),
        source_version=short(one.source) if one.source else None,
        status=one.status,
        error=one.error,
        done=one.done,
        total=one.total,
        last_used=one.last_used_at,
        used_in_compositions=len(one.compositions),
        active=one.active,
        fresh=one.fresh,
        tainted=one.tainted,
    )


def short(name: str) -> str:
    """Returns a version's short name, without the way it was made: v002."""
    return name.partition("_")[0]


def marker(one: Keepit) -> Marker:
    """Returns a marker as it is sent."""
    return Marker(
        marker_id=f"p{one.id}",
        message_uuid=f"m{one.message_id}",
        weight=float(one.weight),
        label=name_weight(one.weight),
        content=one.content,
        position=Position(start=one.start, end=one.end),
        context=one.context,
        created_at=one.created_at,
        survived_in=[short(name) for name in one.survived],
        summarized_in=[short(name) for name in one.summarized],
    )


def session_line(one: Session) -> SessionLine:
    """Returns a session of a list as it is sent."""
    return SessionLine(
        session_id=str(one.id),
        title=one.title,
        opening=one.first.text[:200] if one.first else "",
        original_tokens=one.tokens,
        original_messages=one.messages,
        first_timestamp=one.first.at if one.first else one.began,
        last_timestamp=one.ended,
        registered=one.registered is not None,
        registered_at=one.registered,
        last_accessed=one.accessed,
        topics=list(one.topics),
        markers=one.markers,
        versions=one.versions,
        compositions=one.compositions,
        current=one.present,
        distance=one.distance,
        linked=one.linked,
    )


def session_record(row: SessionRow) -> SessionRecord:
    """Returns a session as it is sent."""
    one = row.session
    return SessionRecord(
        session_id=str(one.id),
        project_id=f"t{row.thread_id}",
        title=one.title,
        original_tokens=one.tokens,
        original_messages=one.messages,
        first_timestamp=one.first.at if one.first else one.began,
        last_timestamp=one.ended,
        registered_at=one.registered,
        last_accessed=one.accessed,
        metadata=SessionMetadata(
            project_name=display_name(row.place, row.chat_id, row.topic_id), primary_topics=list(one.topics)
        ),
        current=one.present,
        keepit_markers=[marker(each) for each in row.markers],
        compressions=[version_record(each) for each in row.versions],
    )


def project_line(one: Project) -> ProjectLine:
    """Returns a project as it is sent."""
    return ProjectLine(
        project_id=f"t{one.id}",
        display_name=display_name(one.name, one.chat_id, one.topic_id),
        chat_id=str(one.chat_id),
        topic_id=str(one.topic_id),
        space="group" if one.space.kind == "group" else "private",
        created_at=one.created_at,
        last_accessed=one.accessed,
        sessions=one.sessions,
        registered=one.registered,
        tokens=one.tokens,
        messages=one.messages,
    )


def display_name(name: str | None, chat_id: int, topic_id: int) -> str:
    """Returns the display name of a project. `name`: of its topic and group."""
    if name or topic_id:
        return name or f"Topic {topic_id}"
    return "Private chat" if chat_id > 0 else "Group" if chat_id < 0 else "Terminal"


def composition_line(one: Composition) -> CompositionLine:
    """Returns a composition of a list as it is sent."""
    return CompositionLine(
        composition_id=f"c{one.id}",
        name=one.name,
        created_at=one.created_at,
        total_tokens=one.total_tokens,
        total_messages=one.total_messages,
        components=len(one.parts),
        used_in_sessions=[str(id) for id in one.used_in],
        status=one.status,
    )


def composition_record(one: Composition) -> CompositionRecord:
    """Returns a composition as it is sent."""
    files = {"markdown": "composed.md", "jsonl": "composed.jsonl", "both": f"{one.name}.zip"}
    return CompositionRecord(
        composition_id=f"c{one.id}",
        project_id=f"t{one.thread_id}",
        name=one.name,
        created_at=one.created_at,
        components=[component(part, order) for order, part in enumerate(one.parts, 1)],
        output_file=None if one.total_tokens is None else files[one.format],
        output_format=one.format,
        total_token_budget=one.budget,
        strategy=one.strategy,
        total_tokens=one.total_tokens,
        total_messages=one.total_messages,
        used_in_sessions=[str(id) for id in one.used_in],
        active=one.active,
        status=one.status,
        error=one.error,
    )


def component(part: ComposedPart, order: int) -> Component:
    """Returns a part of a composition as it is sent."""
    recompress: Mapping[str, Any] | None = part.asked.recompress
    return Component(
        session_id=str(part.session_id),
        version_id=short(part.version),
        requested_version=part.asked.version or "auto",
        requested_allocation=part.asked.allocation,
        order=order,
        token_contribution=part.tokens,
        allocation=part.allocation,
        recompress=dict(recompress) if recompress else None,
        title=part.title,
        status="making" if part.due else "gone" if part.gone else "ready",
        reason=part.reason,
    )


def rows(given: tuple[VersionRow, ...]) -> list[Row]:
    """Returns the rows of a version as they are sent."""
    return [Row(role=one.role, text=one.text, at=one.at, kept=one.kept, weight=optional(one.weight)) for one in given]


def optional(number: Decimal | None) -> float | None:
    """Returns a decimal as a JSON number; None for None."""
    return None if number is None else float(number)
