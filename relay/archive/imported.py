"""Sanitises imported rows, so that they can't harm later prompts. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from relay.archive.export_file import RawRow
from relay.core.models import Attachment, Block
from relay.media.media_cost import is_number

MEDIA = ("image", "document")
NUMBERS = ("width", "height", "bytes", "frames", "pages", "parts")
LINKED = {
    "thread": "thread",
    "session": "session",
    "source": "message",
    "message": "message",
    "previous": "summary",
    "from_message": "message",
    "through_message": "message",
}
"""The kind of row that each reference names."""
REFERENCES = {
    "session_id": "session",
    "source_id": "version",
    "compression_id": "version",
    "keepit_id": "keepit",
    "from_message_id": "message",
    "through_message_id": "message",
}
"""The kind of row that each column refers to."""
CHILDREN = {"compression_keepit": "keepit_id", "composition_part": "session_id", "composition_use": "session_id"}
"""Tables whose rows come with an artefact's row, each with its required reference. A row without it is left out."""
LINE = {"from": "message", "through": "message", "keepit": "keepit"}
"""The kind of row that each key refers to in the lines of a version's or composition's text."""


def usable(row: RawRow) -> RawRow:
    """Sanitises an imported message. A block that shows a file must name it; otherwise it becomes a line of text."""
    if row.get("role") != "user":
        return row
    versions = row.get("versions")
    kept = [{**one, "blocks": _blocks(one.get("blocks"))} for one in versions] if isinstance(versions, list) else []
    return {**row, "blocks": _blocks(row.get("blocks")), "versions": kept}


def _blocks(blocks: Any) -> list[Block]:
    return [_block(one) for one in blocks if isinstance(one, dict)] if isinstance(blocks, list) else []


def _block(block: Block) -> Block:
    """Keeps only what Relay itself would have written into a block."""
    file, kind = _file(block.get("file")), block.get("type")
    marks = {key: block[key] for key in ("untrusted", "from") if isinstance(block.get(key), str)}
    if "untrusted" in block:
        marks["untrusted"] = block["untrusted"] if _is_mark(block["untrusted"]) else "import"
    if kind == "text" and isinstance(block.get("text"), str):
        kept = {key: value for key, value in block.items() if key not in ("file", "untrusted", "from")}
        return {**kept, **marks, **({"file": file} if file else {})}
    if kind in MEDIA and file:
        numbers = {key: block[key] for key in NUMBERS if is_number(block.get(key))}
        flags = {key: True for key in ("preview", "replied") if block.get(key) is True}
        return {"type": kind, "file": file, **marks, **numbers, **flags}
    return {"type": "text", "text": f"({'file' if file else 'something'} that is not here)", **marks}


def _file(file: Any) -> Mapping[str, object] | None:
    """Keeps the valid parts of a file's description; None if it names no file."""
    if not isinstance(file, dict):
        return None
    usual = asdict(Attachment("", "", ""))
    kept = {
        key: file[key]
        for key, value in usual.items()
        if (is_number(file.get(key)) if isinstance(value, int) else isinstance(file.get(key), str))
    }
    return kept if all(key in kept for key in ("kind", "file_id", "unique_id")) else None


def _is_mark(value: Any) -> bool:
    """Tests whether it may be used as a kind in the prompt's markup."""
    return isinstance(value, str) and value.isalpha() and len(value) <= 20


Ids = Mapping[str, Mapping[int, int]]
"""For each kind of row, the ids here by the ids there."""


def renumber(row: RawRow, ids: Ids) -> RawRow:
    """Returns an artefact's row with its references, and those of its children and lines, translated to ids here; null
    where the file lacks them."""
    made = _translate(row, REFERENCES, ids)
    for child, needed in CHILDREN.items():
        if child in made:
            rows = [_translate(one, REFERENCES, ids) for one in made[child]]
            made[child] = [one for one in rows if one.get(needed) is not None]
    if isinstance(made.get("rows"), list):
        made["rows"] = [_translate(line, LINE, ids) for line in made["rows"]]
    return made


def list_cited(row: RawRow) -> set[int]:
    """Returns the messages that an artefact's row refers to."""
    return set(_messages(row.get("row")))


def _messages(row: Any) -> Iterator[int]:
    if not isinstance(row, dict):
        return
    lines = row.get("rows")
    named = [(row, REFERENCES), *((line, LINE) for line in (lines if isinstance(lines, list) else []))]
    for one, references in named:
        if isinstance(one, dict):
            found = (one.get(name) for name, kind in references.items() if kind == "message")
            yield from (id for id in found if isinstance(id, int))


def _translate(row: RawRow, references: Mapping[str, str], ids: Ids) -> dict[str, Any]:
    known = {name: ids.get(kind, {}).get(row[name]) for name, kind in references.items() if name in row}
    return {**row, **known}
