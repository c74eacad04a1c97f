"""The tools with which the model searches memory and opens results."""

from __future__ import annotations

import json
from datetime import datetime, tzinfo
from typing import Any

from relay.conversation.model_loop import ToolInput, ToolRun
from relay.conversation.tools.results import format_opened, is_foreign, moment_of
from relay.core.models import Incoming, make_tool
from relay.core.ports import Embedder
from relay.core.prompt_markup import call_person, clean_name, mark_untrusted, neutralize_markup
from relay.memory.derivations import artefacts
from relay.memory.derivations.artefacts import id_of, read_id
from relay.memory.query_vectors import embed_query
from relay.memory.rows.found import FoundEntry
from relay.memory.store import Store

KINDS = {"message": "message", **{one.kind: one.kind for one in artefacts.KINDS}, "document": "part"}
"""The kinds of results as the model names them, with their names in the index."""
MOST = 20
SEARCH_MEMORY = make_tool(
    "search_memory",
    "Finds earlier messages, memories, summaries and parts of documents, in any thread, by words and by meaning.",
    {
        "query": {"type": "string", "description": "Distinctive words, or a question."},
        "kinds": {"type": "array", "items": {"type": "string", "enum": list(KINDS)}},
        "tags": {"type": "array", "items": {"type": "string"}, "description": "Memories with one of them."},
        "since": {"type": "string", "description": "ISO 8601."},
        "until": {"type": "string", "description": "Before this time."},
        "limit": {"type": "integer"},
    },
    required=("query",),
)
OPEN_MEMORY = make_tool(
    "open_memory",
    "Opens an id: a message with those around it, a memory with its sources and earlier words, etc.",
    {"id": {"type": "string"}},
    required=("id",),
)
AT_REST = "Memory is switched off here for now: nothing is looked up."
NOTHING = "There is nothing with that id here."


def search_memory(store: Store, incoming: Incoming, zone: tzinfo, embedder: Embedder | None = None) -> ToolRun:
    """Returns the tool for a turn's space. Dates without a zone are in `zone`. `embedder` None: search goes by words
    only."""

    async def run(given: ToolInput) -> tuple[str, bool]:
        query = {
            **(await embed_query(embedder, str(given["query"]))).as_json(),
            "kinds": [KINDS[kind] for kind in given.get("kinds") or []] or None,
            "tags": [str(tag)[:100] for tag in given.get("tags") or []][:MOST] or None,
            "since": moment(given.get("since"), zone),
            "until": moment(given.get("until"), zone),
            "asker": incoming.user_id,
        }
        limit = max(1, min(int(given.get("limit") or 8), MOST))
        found = await store.look_up(incoming.space, describe_asker(incoming), query, limit)
        if found is None:
            return AT_REST, False
        return as_json([line(row, incoming, zone) for row in found]), any(
            is_foreign(row.untrusted, row.user_id, incoming) for row in found
        )

    return run


def open_memory(store: Store, incoming: Incoming, zone: tzinfo) -> ToolRun:
    """Returns the tool for a turn's space. In a lent space it opens documents only, as read_document does."""

    async def run(given: ToolInput) -> tuple[str, bool]:
        named = read_id(str(given["id"]))
        if named is None:
            raise ValueError("an id is a letter and a number, such as m123, k45, s6 or d7.2.")
        found = await store.look_at(incoming.space, describe_asker(incoming), *named)
        if found is None and named[0] == "part" and incoming.lent is not None:
            found = await store.look_at(incoming.lent, describe_asker(incoming), *named)
        if found is None:
            return NOTHING, False
        told, dirty = format_opened(found, incoming, zone)
        return as_json(told), dirty

    return run


def describe_asker(incoming: Incoming) -> dict[str, object]:
    """Returns the thread and turn that search, for the database."""
    return {
        "bot_id": incoming.bot_id,
        "chat_id": incoming.chat_id,
        "topic_id": incoming.topic_id,
        "turn_id": incoming.turn_id,
    }


def line(row: FoundEntry, incoming: Incoming, zone: tzinfo) -> dict[str, object]:
    """Formats one result for the model."""
    name = row.name or row.subject or "the user"
    who = "you" if row.role == "assistant" else call_person(row.user_id, name, incoming.people)
    strange = is_foreign(row.untrusted, row.user_id, incoming)
    told = {
        "id": id_of(row.kind, row.id, row.part),
        "at": moment_of(row.at, zone),
        "about" if row.kind == "memory" else "who": who,
        "place": clean_name(row.place) if row.place else None,
        "status": row.status if row.status != "active" else None,
        "until": moment_of(row.valid_until, zone),
        "document": neutralize_markup(row.document) if row.document else None,
        "part": row.part if row.document else None,
        "parts": row.parts,
        "untrusted": strange or None,
        "snippet": mark_untrusted(row.snippet, "recalled") if strange else neutralize_markup(row.snippet),
    }
    if row.kind == "summary":
        del told["who"]
    return {key: value for key, value in told.items() if value is not None}


def moment(given: Any, zone: tzinfo) -> str | None:
    """Parses a date or time from the model, in `zone` by default. Raises `ValueError` if it is neither."""
    if not given:
        return None
    when = datetime.fromisoformat(str(given))
    return (when if when.tzinfo else when.replace(tzinfo=zone)).isoformat()


def as_json(value: Any) -> str:
    """Formats a tool's result as compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
