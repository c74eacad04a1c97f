"""The tool with which the model reads documents."""

from __future__ import annotations

import json
from typing import Any

from relay.conversation.model_loop import ToolInput, ToolRun
from relay.core.models import Space, make_tool
from relay.core.prompt_markup import marked_name
from relay.memory.rows.turns.documents import DocumentCard, OpenedDocument
from relay.memory.store import Store

READ_DOCUMENT = make_tool(
    "read_document",
    "Reads a part of a document that was sent in any conversation. search_memory says which part.",
    {
        "name": {"type": "string", "description": "Part of its name. Empty: lists the newest."},
        "part": {"type": "integer"},
        "version": {"type": "integer", "description": "1 is the oldest."},
    },
    required=("name",),
)
UNKNOWN = "There is no such document. These were sent last:"
NONE = "No document has been sent here."
AMBIGUOUS = "Several documents have a name like that. Which one?"
OTHERS = "Others with this name (`version` reads them):"
NO_PART = "It has no such part."


def read_document(store: Store, space: Space, lent: Space | None) -> ToolRun:
    """Returns the tool for a space; documents missing there are read in the lent one."""

    async def run(given: ToolInput) -> tuple[str, bool]:
        name = str(given["name"]).replace("\0", "")[:500]
        part = _number(given.get("part") or 1)
        version = _number(given["version"]) if given.get("version") else None
        found = await store.open_document(space, name, part, version)
        if found.document is None and lent is not None:
            others = await store.open_document(lent, name, part, version)
            found = others if others.document or not found.documents else found
        return format_part(name, found), True

    return run


def _number(given: Any) -> int:
    return max(1, min(int(given), 1_000_000))


def format_part(name: str, found: OpenedDocument) -> str:
    """Returns the text of a part, or which documents there are."""
    document = found.document
    if document is None:
        if not found.documents:
            return NONE
        like = any(name.strip().lower() in one.name.lower() for one in found.documents)
        return "\n".join([AMBIGUOUS if like and name.strip() else UNKNOWN, *map(_list, found.documents)])
    lines = [f"{_describe(document)}, part {found.part} of {document.parts}"]
    if found.others:
        lines += [OTHERS, *map(_list, found.others)]
    return "\n".join(lines) + (f"\n\n{found.text}" if found.text else f"\n\n{NO_PART}")


def _list(document: DocumentCard) -> str:
    return f"- {_describe(document)}"


def _describe(document: DocumentCard) -> str:
    """Describes the document and its sender: in a group, anyone can send one with the same name."""
    sender = marked_name(document.sent_by or "the user", document.mark)
    version = f", version {document.version} of {document.versions}" if document.versions > 1 else ""
    name = json.dumps(document.name, ensure_ascii=False)
    return f"{name} ({document.kind}, sent by {sender}, {document.sent_at} UTC{version})"
