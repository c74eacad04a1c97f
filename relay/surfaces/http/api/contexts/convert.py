"""Converts the results of commands to the models that are sent."""

from __future__ import annotations

from relay.memory.contexts.markers import name_weight, remove_markers
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
    Marker,
    ProjectLine,
    Row,
    SessionLine,
    SessionMetadata,
    SessionRecord,
)


def version_record(one: Version) -> CompressionRecord:
    """Returns a version as it is sent."""
    return CompressionRecord.of(
        one,
        version_id=one.short,
        file=f"{one.name}.jsonl",
        compression_ratio=one.ratio,
        keepit_stats=one.keepit,
        source_version=short(one.source) if one.source else None,
        last_used=one.last_used_at,
        used_in_compositions=len(one.compositions),
        fresh=one.since.messages,
        changed=one.since.changes,
        marked=one.since.markers,
    )


def short(name: str) -> str:
    """Returns a version's short name, without the way it was made: v002."""
    return name.partition("_")[0]


def marker(one: Keepit) -> Marker:
    """Returns a marker as it is sent."""
    return Marker.of(
        one,
        marker_id=f"p{one.id}",
        message_uuid=f"m{one.message_id}",
        label=name_weight(one.weight),
        position=one,
        survived_in=[*map(short, one.survived)],
        summarized_in=[*map(short, one.summarized)],
    )


def _session_head(one: Session) -> dict[str, object]:
    return {
        "session_id": str(one.id),
        "original_tokens": one.tokens,
        "original_messages": one.messages,
        "first_timestamp": one.first.at if one.first else one.began,
        "last_timestamp": one.ended,
        "registered_at": one.registered,
        "last_accessed": one.accessed,
        "current": one.present,
        "opening": remove_markers(one.first.text)[:200] if one.first else "",
    }


def session_line(one: Session) -> SessionLine:
    """Returns a session of a list as it is sent."""
    return SessionLine.of(one, **_session_head(one), registered=one.registered is not None)


def session_record(row: SessionRow) -> SessionRecord:
    """Returns a session as it is sent."""
    one = row.session
    name = display_name(row.place, row.chat_id, row.topic_id)
    return SessionRecord.of(
        one,
        **_session_head(one),
        project_id=f"t{row.thread_id}",
        metadata=SessionMetadata(project_name=name, primary_topics=list(one.topics)),
        keepit_markers=[marker(each) for each in row.markers],
        compressions=[version_record(each) for each in row.versions],
    )


def project_line(one: Project) -> ProjectLine:
    """Returns a project as it is sent."""
    return ProjectLine.of(
        one,
        project_id=f"t{one.id}",
        display_name=display_name(one.name, one.chat_id, one.topic_id),
        chat_id=str(one.chat_id),
        topic_id=str(one.topic_id),
        space="group" if one.space.kind == "group" else "private",
        last_accessed=one.accessed,
    )


def display_name(name: str | None, chat_id: int, topic_id: int) -> str:
    """Returns the display name of a project. `name`: of its topic and group."""
    if name or topic_id:
        return name or f"Topic {topic_id}"
    return "Private chat" if chat_id > 0 else "Group" if chat_id < 0 else "Terminal"


def composition_line(one: Composition) -> CompositionLine:
    """Returns a composition of a list as it is sent."""
    used_in = [str(id) for id in one.used_in]
    return CompositionLine.of(one, composition_id=f"c{one.id}", components=len(one.parts), used_in_sessions=used_in)


def composition_record(one: Composition) -> CompositionRecord:
    """Returns a composition as it is sent."""
    files = {"markdown": "composed.md", "jsonl": "composed.jsonl", "both": f"{one.name}.zip"}
    return CompositionRecord.of(
        one,
        composition_id=f"c{one.id}",
        project_id=f"t{one.thread_id}",
        components=[component(part, order) for order, part in enumerate(one.parts, 1)],
        output_file=None if one.total_tokens is None else files[one.format],
        output_format=one.format,
        total_token_budget=one.budget,
        used_in_sessions=[str(id) for id in one.used_in],
    )


def component(part: ComposedPart, order: int) -> Component:
    """Returns a part of a composition as it is sent."""
    return Component.of(
        part,
        session_id=str(part.session_id),
        version_id=short(part.version),
        requested_version=part.asked.version or "auto",
        requested_allocation=part.asked.allocation,
        order=order,
        token_contribution=part.tokens,
        opening=remove_markers(part.words or ""),
        recompress=part.asked.recompress or None,
        since=part.since.told,
        status="making" if part.due else "gone" if part.gone else "ready",
    )


def rows(given: tuple[VersionRow, ...]) -> list[Row]:
    """Returns the rows of a version as they are sent."""
    return [Row.of(one) for one in given]
