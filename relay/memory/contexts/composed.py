"""A composition as files: composed.md, composed.jsonl and composition.json in a zip. Pure."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import asdict
from datetime import tzinfo

from pydantic import TypeAdapter

from relay.memory.rows.contexts.composition import ComposedRow, Composition

NOT_ABOUT_IT = {"rows", "confirm", "tells"}
"""What composition.json leaves out: its text, and how the bot treats it."""


def pack_composition(one: Composition, zone: tzinfo) -> bytes:
    """Returns a zip with a composition's text in its format, and a description of its parts."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        if one.format != "jsonl":
            archive.writestr("composed.md", as_markdown(one, zone))
        if one.format != "markdown":
            archive.writestr("composed.jsonl", as_lines(one))
        about = TypeAdapter(Composition).dump_json(one, indent=2, exclude_none=True, exclude=NOT_ABOUT_IT)
        archive.writestr("composition.json", about)
    return held.getvalue()


def as_markdown(one: Composition, zone: tzinfo) -> str:
    """Returns the text as readable Markdown: a heading for each part; passages that a marker kept are quoted. `zone`:
    the time zone of its dates."""
    return f"# {one.name}\n\n" + "\n\n".join(paragraph(row, zone) for row in one.rows or ()) + "\n"


def paragraph(row: ComposedRow, zone: tzinfo) -> str:
    """Returns a row as a paragraph of Markdown."""
    if row.role == "heading":
        return f"## {row.text}"
    said = f"**{row.role}**" + (f" ({row.at.astimezone(zone):%Y-%m-%d})" if row.at else "")
    if not row.kept:
        return f"{said}: {row.text}"
    weight = f" 📌 {row.weight:.2f}" if row.weight is not None else ""
    return f"{said}{weight}:\n" + "\n".join(f"> {line}" for line in row.text.splitlines())


def as_lines(one: Composition) -> str:
    """Returns the text for programs: a line of JSON about the composition, then a line for each row."""
    head = {"type": "composition", "name": one.name, "budget": one.budget, "strategy": one.strategy}
    head |= {"tokens": one.total_tokens, "messages": one.total_messages}
    rows = [asdict(row) | {"at": row.at.isoformat() if row.at else None} for row in one.rows or ()]
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in [head, *rows])
