"""Stores versions and compositions for the tests that use them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from tests.integration.conftest import Sql

VERSION = """insert into compression (space_id, thread_id, session_id, number, name, settings, input_tokens,
        input_messages, output_tokens, output_messages, ratio, rows, keepit, status, created_by)
    select s.space_id, s.thread_id, s.id, %s, %s, %s::jsonb, 1000, 10, %s, 1, 10, %s::jsonb, %s::jsonb, 'ready', 1
    from session s where s.id = %s returning id"""
COMPOSITION = """insert into composition (space_id, thread_id, name, budget, status, rows, created_by)
    select space_id, thread_id, %s, 16000, 'ready', '[]', 1 from compression where id = %s returning id"""


async def add_version(
    sql: Sql,
    session_id: int,
    number: int,
    text: str = "What was said.",
    tokens: int = 1_000,
    settings: Mapping[str, object] | None = None,
    keepit: Mapping[str, object] | None = None,
) -> int:
    """Stores a version that is ready. Returns its id."""
    rows = json.dumps([{"role": "user", "text": text, "at": "2026-01-15T09:00:00Z", "from": 1, "through": 1}])
    name = f"v{number:03}_tiered-standard_{max(1, tokens // 1000)}k"
    chosen = json.dumps(settings or {"mode": "tiered", "tierPreset": "standard"})
    [(id,)] = await sql(VERSION, number, name, chosen, tokens, rows, json.dumps(keepit or {}), session_id)
    return int(id)


async def compose(sql: Sql, name: str, versions: Sequence[int], used_by: int | None = None) -> int:
    """Stores a composition of versions, which a session may use. Returns its id."""
    [(id,)] = await sql(COMPOSITION, name, versions[0])
    for place, version in enumerate(versions, 1):
        await sql(
            "insert into composition_part (composition_id, place, session_id, compression_id, version)"
            " select %s, %s, session_id, id, name from compression where id = %s", id, place, version,
        )  # fmt: skip
    if used_by:
        await sql("insert into composition_use (session_id, composition_id) values (%s, %s)", used_by, id)
    return int(id)


async def add_marker(sql: Sql, session_id: int, weight: str, content: str) -> int:
    """Stores a marker in a session's first message. Returns its id."""
    [(id,)] = await sql(
        "insert into keepit (space_id, thread_id, session_id, message_id, seq, weight, content, block, start_at,"
        " end_at, context, origin, user_id) select space_id, thread_id, session_id, min(id),"
        " (select count(*) from keepit k where k.session_id = m.session_id), %s::numeric, %s, 0, 0, 1, '', 'text', 1"
        " from message m where session_id = %s group by space_id, thread_id, session_id returning id",
        weight, content, session_id,
    )  # fmt: skip
    return int(id)
