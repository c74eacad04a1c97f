"""Tests tables of cases: which version represents a session within a number of tokens, and how a budget is shared."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.integration.conftest import TEMPLATE, Server, Sql
from tests.strategies import examples

CRITERIA: dict[str, dict[str, Any]] = {
    "12,000, keepits": {"maxTokens": 12_000, "preserveKeepits": True},
    "12,000, no keepits": {"maxTokens": 12_000},
    "12,000, keepits, ratio 10": {"maxTokens": 12_000, "preserveKeepits": True, "preferredRatio": 10},
    "10,000, keepits": {"maxTokens": 10_000, "preserveKeepits": True},
    "4,000, keepits": {"maxTokens": 4_000, "preserveKeepits": True},
    "100,000": {"maxTokens": 100_000, "preserveKeepits": True},
    "none": {"minFreshness": 3},
}
TABLE = [
    ("12,000, keepits", "0.794071", "0.402107", "v001"),
    ("12,000, no keepits", "0.926417", "0.625500", "v001"),
    ("12,000, keepits, ratio 10", "0.790895", "0.215529", "v001"),
    ("10,000, keepits", "0.085714", "0.418243", "need-new-compression"),
    ("4,000, keepits", "0.085714", "0.563464", "v002"),
    ("100,000", None, None, "original"),
    ("none", None, None, "original"),
]
VERSION = """insert into compression (space_id, thread_id, session_id, number, name, settings, output_tokens, ratio,
    keepit, status, rows, created_by)
    select space_id, thread_id, id, %s, %s, '{}', %s, %s, %s::jsonb, %s, '[{"text": "short"}]', 7
    from session where id = %s returning id"""
SESSION = """with s as (insert into space (kind, owner_id) values ('private', 7) returning id),
    t as (insert into thread (space_id, chat_id, topic_id) select id, 7, 0 from s returning *)
    insert into session (space_id, thread_id) select space_id, id from t returning id"""
MESSAGE = """insert into message (space_id, thread_id, session_id, role, text, blocks, untrusted)
    select space_id, thread_id, id, 'assistant', repeat('abcd', %s), '[]', false from session where id = %s"""


async def the_session(sql: Sql) -> int:
    """The session of 100,000 tokens for the table of cases."""
    [(session,)] = await sql(SESSION)
    await sql(MESSAGE, 100_000, session)
    for number, name, tokens, ratio, kept in (
        (1, "v001_tiered-standard_10k", 10_234, "9.8", 5),
        (2, "v002_uniform-aggressive_3k", 3_012, "33.2", 2),
    ):
        keepit = json.dumps({"preserved": kept, "summarized": 7 - kept})
        await sql(VERSION, number, name, tokens, ratio, keepit, "ready", session)
    return int(session)


@pytest.mark.parametrize(("asked", "first", "second", "chosen"), TABLE)
async def test_the_version_is_chosen_as_the_table_specifies(
    sql: Sql, asked: str, first: str, second: str, chosen: str
) -> None:
    session, criteria = await the_session(sql), json.dumps(CRITERIA[asked])
    scores = await sql(
        "select round(relay.version_score(c, %s::jsonb), 6) from compression c where session_id = %s order by number",
        criteria, session,
    )  # fmt: skip
    if first is not None:
        assert scores == [(Decimal(first),), (Decimal(second),)]
    [(found,)] = await sql("select public.relay_select_version(%s, %s::jsonb)", session, criteria)
    assert (found.get("name") or found["choice"]).split("_")[0] == chosen


async def test_a_version_is_chosen_without_versions_or_markers(sql: Sql) -> None:
    [(session,)] = await sql(SESSION)
    await sql(MESSAGE, 5_000, session)
    ask = "select public.relay_select_version(%s, %s::jsonb)"
    [(fits,)] = await sql(ask, session, '{"maxTokens": 5000}')
    [(needs,)] = await sql(ask, session, '{"maxTokens": 4999}')
    assert (fits["choice"], needs["choice"]) == ("original", "need-new-compression")
    await sql(VERSION, 1, "v001", 4_000, "1.3", "{}", "due", session)
    [(still,)] = await sql(ask, session, '{"maxTokens": 4999}')
    assert still["choice"] == "need-new-compression", "a version that is being made can't be chosen"
    await sql("update compression set status = 'ready'")
    [(chosen,)] = await sql(ask, session, '{"maxTokens": 4999, "preserveKeepits": true}')
    assert (chosen["name"], round(chosen["score"], 6)) == ("v001", 0.90008)
    await sql(VERSION, 2, "v002", 4_000, "1.3", "{}", "ready", session)
    [(newer,)] = await sql(ask, session, '{"maxTokens": 4999, "preserveKeepits": true}')
    assert newer["name"] == "v002", "of equal versions the newer must be chosen"


SHARES = [
    (16_000, "equal", [100_234, 45_000, 4_000], [6_000, 6_000, 4_000]),
    (16_000, "equal", [100_234, 45_000, 40_000], [5_333, 5_333, 5_333]),
    (12_000, "recency", [100_000, 100_000, 100_000], [2_000, 4_000, 6_000]),
    (12_000, "recency", [100_000, 100_000, 1_000], [3_666, 7_333, 1_000]),
    (15_000, "proportional", [100_000, 40_000, 10_000], [10_000, 4_000, 1_000]),
    (15_000, "proportional", [8_000, 5_000], [8_000, 5_000]),
    (4_000, "equal", [4_000], [4_000]),
    (0, "equal", [4_000, 3_000], [0, 0]),
    (1_000, "equal", [], []),
]


async def test_an_empty_session_with_a_version_is_used_as_it_is(sql: Sql) -> None:
    [(session,)] = await sql(SESSION)
    await sql(VERSION, 1, "v001_tiered-standard_0", 0, "1", "{}", "ready", session)
    [(found,)] = await sql("select public.relay_select_version(%s, %s::jsonb)", session, '{"maxTokens": 0}')
    assert found["choice"] == "original"


@pytest.mark.parametrize(("budget", "strategy", "sizes", "shares"), SHARES)
async def test_the_budget_is_shared_as_the_table_specifies(
    sql: Sql, budget: int, strategy: str, sizes: list[int], shares: list[int]
) -> None:
    [(found,)] = await sql("select relay.share_budget(%s, %s, %s::bigint[])", budget, strategy, sizes)
    assert found == shares


@given(
    st.integers(0, 100_000),
    st.sampled_from(["equal", "recency", "proportional"]),
    st.lists(st.integers(0, 200_000), min_size=1, max_size=20),
)
@examples(200)
def test_shares_never_exceed_the_need_or_the_budget(
    shared: psycopg.Connection[Any], budget: int, strategy: str, sizes: list[int]
) -> None:
    cursor = shared.execute("select relay.share_budget(%s, %s, %s::bigint[])", (budget, strategy, sizes))
    [(shares,)] = cursor.fetchall()
    assert sum(shares) <= budget
    assert all(0 <= share <= size for share, size in zip(shares, sizes, strict=True))
    if sum(sizes) >= budget:
        assert sum(shares) > budget - len(sizes), "only a division's remainder may be left"
    else:
        assert shares == sizes


@pytest.fixture(scope="module")
def shared(embedded: Server) -> Any:
    """A connection for many short queries."""
    name = embedded.create(TEMPLATE)  # a rollback doesn't reset sequences, so don't use the template itself
    with psycopg.connect(embedded.url(name)) as connection:
        yield connection
    embedded.drop(name)


PARTS = st.lists(
    st.tuples(st.integers(1, 30_000), st.integers(0, 8_000), st.sampled_from([None, "original", "v001", "new"])),
    min_size=1, max_size=6,
)  # fmt: skip


@given(st.integers(1_000, 30_000), st.sampled_from(["equal", "recency", "proportional"]), PARTS, st.floats(0.1, 2))
@examples(60)
def test_a_ready_composition_never_exceeds_its_budget(
    shared: psycopg.Connection[Any], budget: int, strategy: str, parts: list[tuple[int, int, str | None]], length: float
) -> None:
    """Sessions of different sizes, some with a version. New versions are shorter or longer than requested."""
    run = shared.execute
    run("set search_path = relay, public, extensions")
    [(first,)] = run(SESSION).fetchall()
    asked = []
    for size, version, wanted in parts:
        [(session,)] = run(
            "insert into session (space_id, thread_id) select space_id, thread_id from session where id = %s "
            "returning id",
            (first,),
        ).fetchall()
        run(MESSAGE, (size, session))
        if version or wanted == "v001":
            run(VERSION, (1, "v001", version, 5, "{}", "ready", session))
        asked.append({"session_id": session, "version": wanted})
    request = {"name": "all", "budget": budget, "strategy": strategy, "parts": asked, "chat_id": 7, "topic_id": 0}
    [(made,)] = run(
        'select public.relay_compose(\'{"kind": "private", "owner_id": 7}\', 7, %s::jsonb)', (json.dumps(request),)
    ).fetchall()
    for (due,) in run("select id from compression where status = 'due'").fetchall():
        run(
            "update compression c set status = 'ready', rows = '[{\"text\": \"new\"}]', output_messages = 1, "
            "output_tokens = ceil(%s * (select allocation from composition_part where compression_id = c.id)) "
            "where id = %s",
            (length, due),
        )
        run("select relay.finish_compositions(%s)", (due,))
    found = run("select status, total_tokens, budget, rows from composition").fetchall()
    shared.rollback()
    if "refused" in made:
        assert (made["refused"], found) == ("nothing_left", [])
        return
    [(status, total, kept, rows)] = found
    assert kept == budget
    assert status == ("ready" if total <= budget else "over")
    assert sum(row["role"] == "heading" for row in rows if "role" in row) == len(parts)
    if all(wanted is None for _, _, wanted in parts) and length <= 1:
        assert status == "ready", "an automatically chosen composition must fit"
