"""The tool with which the model finds what was said earlier."""

from __future__ import annotations

import json
from datetime import datetime, tzinfo
from typing import Any

from relay.dialogue import ToolRun
from relay.memory.store import Store

SEARCH_HISTORY = {
    "name": "search_history",
    "description": "Finds earlier messages of this person's (or group's) conversations, in any thread, and parts of "
    "documents that were sent there, by words.",
    "input_schema": {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "Words that the messages contain."},
            "limit": {"type": "integer", "minimum": 1, "maximum": 20},
            "since": {"type": "string", "description": "Only from this ISO 8601 date or time on."},
            "until": {"type": "string", "description": "Only before this ISO 8601 date or time."},
        },
        "required": ["query"],
    },
}


def search_history(store: Store, space_id: int, zone: tzinfo) -> ToolRun:
    """The tool, bound to one space; dates without a zone are in `zone`."""

    async def run(given: dict[str, Any]) -> tuple[str, bool]:
        limit = max(1, min(int(given.get("limit") or 8), 20))
        query = {
            "text": str(given["query"]).replace("\0", "")[:2000],
            "since": moment(given.get("since"), zone),
            "until": moment(given.get("until"), zone),
        }
        found = await store.search_memory(space_id, query, limit)
        return as_json(found), any(row["untrusted"] for row in found)

    return run


def moment(given: Any, zone: tzinfo) -> str | None:
    """A date or time that the model gave, in `zone` where it names none. Raises ValueError for what is neither."""
    if not given:
        return None
    when = datetime.fromisoformat(str(given))
    return (when if when.tzinfo else when.replace(tzinfo=zone)).isoformat()


def as_json(value: Any) -> str:
    """A tool's result as compact JSON text."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
