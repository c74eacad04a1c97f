"""A space as lines: the header, then everything that it holds, each row after those that it refers to."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

from relay.core.models import Space
from relay.core.redact import redacted
from relay.memory.store import Store

SCHEMA = "relay-export/2"
PARTS = ("sessions", "messages", "documents", "summaries")

Json = dict[str, Any]


async def pages(store: Store, space: Space, relay: str) -> AsyncIterator[list[Json]]:
    """All that a space holds, in pages of rows; nothing when nobody has ever said anything there.

    The header; the choices, personas and rules of its chat; its memories in the order in which they were made; then
    each thread with its sessions, messages, documents and summaries; how many rows that were, so that a part is not
    taken for the whole. What was said goes without keys, tokens and card numbers.
    """
    rows = 0
    async for page in _pages(store, space, relay):
        rows += len(page)
        yield page
    if rows:
        yield [{"type": "end", "rows": rows}]


async def _pages(store: Store, space: Space, relay: str) -> AsyncIterator[list[Json]]:
    found = await store.export_space(space)
    if found is None:
        return
    header = {
        "schema": SCHEMA,
        "relay": relay,
        "exported_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "source": found["source"],
        "space": space.as_json(),
    }
    choices = [{"type": "choices", "choices": found["choices"]}] if found["choices"] else []
    yield [header, *choices, *found["personas"], *found["places"]]
    after, end = None, False
    while not end:
        page = await store.export_memories(space, after)
        yield page["rows"]
        after, end = page["last"], page["end"]
    for thread in found["threads"]:
        yield [thread]
        sessions: set[int] = set()
        for part in PARTS:
            after, end = None, False
            while not end:
                page = await store.export_thread(part, space, thread["id"], after)
                sessions |= {row["id"] for row in page["rows"] if row["type"] == "session"}
                # What is said while this is written may be in a session that the file does not have.
                rows = [row for row in page["rows"] if "session" not in row or row["session"] in sessions]
                yield [_without_secrets(row) for row in rows]
                after, end = page["last"], page["end"]


def line(row: Json) -> bytes:
    """A row as a line of the file."""
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _without_secrets(row: Json) -> Json:
    if row["type"] != "message":
        return row
    return _clean(row) | {"versions": [_clean(version) for version in row["versions"]]}


def _clean(said: Json) -> Json:
    return said | (redacted({"text": said["text"], "blocks": said["blocks"]}) or {})
