"""Versions as files, named after them. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import tzinfo
from typing import Literal

from relay.core.models import File
from relay.memory.rows.contexts.library import OriginalMessage
from relay.memory.rows.contexts.versions import OpenedVersion, Version, VersionRow
from relay.memory.rows.sessions import Session

Format = Literal["md", "jsonl"]
WHO = {"user": "User", "assistant": "Assistant"}


def version_file(opened: OpenedVersion, format: Format, zone: tzinfo) -> File:
    """Returns a version as a file. `zone`: the time zone of its dates."""
    text = as_markdown(opened, zone) if format == "md" else as_lines(opened)
    return File(f"{opened.version.name}.{format}", text.encode())


def as_markdown(opened: OpenedVersion, zone: tzinfo) -> str:
    """Returns a version as readable Markdown. Passages kept word for word are quoted."""
    one = opened.version
    head = [f"# {one.name}", "", f"- Session: {one.title or 'without a title'} ({one.session_id})"]
    if one.source:
        head.append(f"- Made from: {one.source}")
    head += [f"- {name}: {said(value)}" for name, value in one.settings.items() if value is not None]
    head.append(f"- {one.input_tokens:,} tokens in {one.input_messages:,} messages became {one.output_tokens:,} in "
                f"{one.output_messages:,} ({one.ratio}:1)")  # fmt: skip
    head.append(f"- Markers: {one.keepit.preserved} kept, {one.keepit.summarized} summarised")
    return "\n".join([*head, "", *(paragraph(row, zone) for row in opened.rows)])


def said(value: object) -> str:
    """Formats a setting's value."""
    return value if isinstance(value, str) else json.dumps(value)


def paragraph(row: VersionRow, zone: tzinfo) -> str:
    """Returns a row with its author and time."""
    who = f"**{WHO.get(row.role, row.role)}**, {row.at.astimezone(zone):%Y-%m-%d %H:%M}"
    if not row.kept:
        return f"{who}\n\n{row.text}\n"
    weight = f" 📌 {row.weight:.2f}" if row.weight is not None else ""
    quoted = "\n".join(f"> {line}".rstrip() for line in row.text.splitlines())
    return f"{who}{weight}\n\n{quoted}\n"


def as_lines(opened: OpenedVersion) -> str:
    """Returns a version for programs: a line about it, then a line for each row."""
    lines = [header(opened.version), *(row.as_json() for row in opened.rows)]
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def header(one: Version) -> dict[str, object]:
    """Returns the first line: settings and numbers."""
    return {
        "type": "compression",
        "name": one.name,
        "session": one.session_id,
        "source": one.source,
        **one.settings,
        "stats": {
            "inputTokens": one.input_tokens,
            "inputMessages": one.input_messages,
            "outputTokens": one.output_tokens,
            "outputMessages": one.output_messages,
            "ratio": float(one.ratio or 0),
            "keepit": {
                "preserved": one.keepit.preserved,
                "summarized": one.keepit.summarized,
                "weights": dict(one.keepit.weights),
            },
        },
        "createdAt": one.created_at.isoformat(),
    }


def original_file(one: Session, messages: Sequence[OriginalMessage], format: Format, zone: tzinfo) -> File:
    """Returns a session's original as a file."""
    said = [(WHO.get(m.role, m.role), m.at.astimezone(zone), m) for m in messages]
    if format == "md":
        head = f"# {one.title or f'Session {one.id}'}\n\n- Session: {one.id}\n- {one.messages:,} messages\n\n"
        text = head + "\n".join(f"**{who}**, {at:%Y-%m-%d %H:%M}\n\n{m.text}\n" for who, at, m in said)
    else:
        lines: list[dict[str, object]] = [
            {"type": "original", "session": one.id, "title": one.title, "messages": one.messages}
        ]
        lines += [{"id": m.id, "role": m.role, "text": m.text, "at": m.at.isoformat()} for m in messages]
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    return File(f"session_{one.id}_original.{format}", text.encode())
