"""The references in the rows of an export's artefacts, by the ids of the source database. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from relay.archive.export_rows import RawRow

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
