"""Exports a space as lines: a header, then its rows, each after those it references."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

from relay.archive.export_file import RawRow, links_of
from relay.core.models import Space
from relay.core.redaction.redact import redact_value
from relay.memory.derivations.artefacts import list_exported_kinds
from relay.memory.rows.upkeep.export import ExportPage
from relay.memory.store import Store

SCHEMA = "relay-export/3"
PARTS = ("sessions", "messages", "documents", "summaries", "keepits")
REST = ("session_links", "context_settings", "feedback", "preference_decisions")
"""The parts that follow all threads."""
PERSONAL = ("preference", "feedback", "preference_decision", "intent")
"""Types of rows that only their person sees, in a group too."""


async def pages(store: Store, space: Space, relay: str, reader: int | None = None) -> AsyncIterator[list[RawRow]]:
    """Yields all rows of a space in pages; nothing if it has no messages. The header; its chat's settings and
    personas; memories, oldest first; preferences, for people to read; each thread with sessions, messages,
    documents, summaries and markers; other artefacts; links, settings and feedback; and the number of rows, so that a
    truncated file is recognised. Removes keys, tokens and card numbers from what was said. `reader`: a person who gets
    a group's export, without what is personal to others; None: the operator."""
    rows = 0
    async for page in _pages(store, space, relay):
        if reader is not None and space.kind == "group":
            page = [row for row in page if row.get("type") not in PERSONAL or _person_of(row) == reader]
        rows += len(page)
        yield page
    if rows:
        yield [{"type": "end", "rows": rows}]


async def _pages(store: Store, space: Space, relay: str) -> AsyncIterator[list[RawRow]]:
    found = await store.export_space(space)
    if found is None:
        return
    header = {
        "schema": SCHEMA,
        "relay": relay,
        "exported_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "source": found.source,
        "space": space.as_json(),
    }
    choices = [{"type": "choices", "choices": found.choices}] if found.choices else []
    yield [header, *choices, *found.personas, *found.places]
    async for rows in _read(partial(store.export_rows, "memories", space)):
        yield list(rows)
    async for rows in _read(partial(store.export_rows, "preferences", space)):
        yield [_row_without(row) for row in rows]
    for thread in found.threads:
        yield [thread]
        sessions: set[int] = set()
        for part in PARTS:
            async for rows in _read(partial(store.export_rows, part, space, thread_id=links_of(thread).id)):
                linked = [(row, links_of(row)) for row in rows]
                sessions |= {links.id for _, links in linked if links.type == "session" and links.id is not None}
                # New messages may be in a session that the file lacks.
                known = [row for row, links in linked if links.session is None or links.session in sessions]
                yield await asyncio.to_thread(_remove_secrets, known)
    for kind in list_exported_kinds():
        async for rows in _read(partial(store.export_rows, kind.kind, space)):
            yield await asyncio.to_thread(_remove_secrets, rows)
    for part in REST:
        async for rows in _read(partial(store.export_rows, part, space)):
            yield [_row_without(row) for row in rows]


async def _read(page_after: Callable[[Any], Awaitable[ExportPage]]) -> AsyncIterator[Sequence[RawRow]]:
    """Yields the rows of all pages; each begins after the last row of the one before."""
    after, end = None, False
    while not end:
        page = await page_after(after)
        yield page.rows
        after, end = page.last, page.end


def line(row: RawRow) -> bytes:
    """Formats a row as a line."""
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _person_of(row: RawRow) -> object:
    return row["row"]["user_id"] if "row" in row else row["user_id"]


def _row_without(row: RawRow) -> RawRow:
    """Returns a row of feedback or of a preference without the secrets in the words that it repeats."""
    return {**row, **(redact_value({name: row[name] for name in ("value", "learned_from") if name in row}) or {})}


def _remove_secrets(rows: Sequence[RawRow]) -> list[RawRow]:
    return [_without(row) for row in rows]


def _without(row: RawRow) -> RawRow:
    if row["type"] == "message":
        return {**_clean(row), "versions": [_clean(version) for version in row["versions"]]}
    if "row" in row:  # a marker or an artefact
        return {**row, "row": redact_value(row["row"]) or row["row"]}
    return row


def _clean(said: RawRow) -> RawRow:
    return {**said, **(redact_value({"text": said["text"], "blocks": said["blocks"]}) or {})}
