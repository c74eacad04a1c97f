"""The tool with which the model reads the documents that people sent."""

from __future__ import annotations

from typing import Any

from relay.dialogue import ToolRun
from relay.history import as_json
from relay.memory.store import Store
from relay.models import Space

READ_DOCUMENT = {
    "name": "read_document",
    "description": "Reads a part of a document that was sent in any of this person's (or group's) conversations. "
    "search_history tells which part says what.",
    "input_schema": {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "The document's name, or some of it. Empty: lists the newest."},
            "part": {"type": "integer", "minimum": 1, "description": "Which part; 1 when left out."},
        },
        "required": ["name"],
    },
}
UNKNOWN = "There is no such document. These were sent last:"
NONE = "No document has been sent here."
AMBIGUOUS = "Several documents are called something like it. Which one?"


def read_document(store: Store, space: Space, lent: Space | None) -> ToolRun:
    """The tool, bound to a space; what it does not have is read in the one that the speaker lends."""

    async def run(given: dict[str, Any]) -> tuple[str, bool]:
        name = str(given["name"]).replace("\0", "")[:500]
        part = max(1, min(int(given.get("part") or 1), 1_000_000))
        found = await store.read_document(space, name, part)
        if "document" not in found and lent is not None:
            others = await store.read_document(lent, name, part)
            found = others if "document" in others or not found["documents"] else found
        return told(name, found), True

    return run


def told(name: str, found: dict[str, Any]) -> str:
    """What the model is told: the text of a part, or which documents there are."""
    if "document" not in found:
        rows = found["documents"]
        if not rows:
            return NONE
        like = any(name.strip().lower() in row["name"].lower() for row in rows)
        return f"{AMBIGUOUS if like and name.strip() else UNKNOWN}\n{as_json(rows)}"
    document, part = found["document"], found["part"]
    head = (
        f"{document['name']} ({document['kind']}, sent {document['sent_at'][:10]}), part {part} of {document['parts']}"
    )
    if found["versions"] > 1:
        head += f"; the newest of {found['versions']} of this name"
    return f"{head}:\n\n{found['text']}" if found["text"] else f"{head}: it has no such part."
