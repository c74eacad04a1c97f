"""Lists of memories by filters and words: each finds what it says, page by page, and counts it."""

from __future__ import annotations

import itertools
from typing import Any

from relay.memory.rows.memories import MemoryFilter, MemoryPage
from relay.memory.store import Store
from tests.integration.conftest import Sql
from tests.integration.turn_driver import ADA, TurnDriver, private

FILL = """insert into memory (space_id, kind, category, content, subject, tags, pinned, validated_at, status)
select id, case mod(n, 3) when 0 then 'learning' when 1 then 'fact' else 'goal' end,
    case mod(n, 6) when 0 then 'knowledge' when 3 then 'identity' end,
    'memory ' || n || case mod(n, 50) when 0 then ' zebra' else '' end,
    case mod(n, 70) when 0 then 'Zebedee' else 'Ada' end,
    case mod(n, 90) when 0 then array['big zeb', 'x'] else '{}' end,
    mod(n, 5) = 0, case mod(n, 7) when 0 then now() end,
    case mod(n, 11) when 0 then 'archived' when 1 then 'pending' when 2 then 'superseded' else 'active' end
from space, generate_series(1, %s) n where owner_id = %s"""
ROWS = """select id, kind, category, content, subject, tags, pinned, validated_at is null, status from memory
    order by id desc"""


async def fill(driver: TurnDriver, sql: Sql, count: int) -> list[tuple[Any, ...]]:
    """Fills Ada's memory; returns its rows, newest first."""
    await driver.exchange(ADA, "hello")
    await sql(FILL, count, ADA)
    return await sql(ROWS)


async def read(store: Store, chosen: MemoryFilter, limit: int = 40) -> tuple[list[int], MemoryPage]:
    """Reads all pages of a list; returns the ids and the last page."""
    ids: list[int] = []
    for offset in itertools.count(0, limit):
        page = await store.memories(private(ADA), offset, limit, chosen)
        ids += [row.id for row in page.memories]
        if offset + limit >= page.matching:
            return ids, page
    raise AssertionError


async def test_each_filter_lists_and_counts_what_it_says(driver: TurnDriver, store: Store, sql: Sql) -> None:
    rows = await fill(driver, sql, 300)
    states = {"pending": {"pending"}, "past": {"archived", "superseded"}, "": {"active"}}
    for state, pinned, unconfirmed, sort in itertools.product(
        states, (False, True), (False, True), ({}, {"facts": True}, {"kind": "learning", "category": "identity"})
    ):
        given: dict[str, Any] = {"pinned": pinned, "unconfirmed": unconfirmed, **sort} | (
            {state: True} if state else {}
        )
        wanted = [
            row[0] for row in rows
            if row[8] in states[state] and (row[6] or not pinned) and (row[7] or not unconfirmed)
            and (not sort.get("facts") or row[1] != "learning") and (not sort.get("category") or row[2] == "identity")
        ]  # fmt: skip
        ids, page = await read(store, MemoryFilter(**given))
        assert (ids, page.matching) == (wanted, len(wanted)), given


async def test_words_are_found_in_text_subject_and_tags_newest_first(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    rows = [row for row in await fill(driver, sql, 300) if row[8] == "active"]
    for words in ("zeb", "ZEBRA", "ze", "g z", "ada zebra", "zebedee memory", "x", "zeb 1"):
        wanted = [
            row[0] for row in rows
            if all(w in " ".join((row[4], row[3], *row[5])).casefold() for w in words.casefold().split())
        ]  # fmt: skip
        assert (await read(store, MemoryFilter(words=words)))[0] == wanted, words
    pinned = [row[0] for row in rows if row[6] and "zebra" in row[3]]
    assert (await read(store, MemoryFilter(words="zebra", pinned=True)))[0] == pinned
    assert len((await read(store, MemoryFilter(words=" ")))[0]) == len(rows), "no words choose nothing"


async def test_words_without_accents_are_found_too(driver: TurnDriver, store: Store, sql: Sql) -> None:
    await fill(driver, sql, 20)
    await sql("update memory set content = 'Moves to Köln with Zoë' where id = (select max(id) from memory)")
    for words in ("koln", "KOLN zoe"):
        page = await store.memories(private(ADA), 0, 40, MemoryFilter(words=words))
        assert [row.content for row in page.memories] == ["Moves to Köln with Zoë"], words


async def test_a_word_that_most_memories_have_lists_the_newest_thousand(
    driver: TurnDriver, store: Store, sql: Sql
) -> None:
    rows = await fill(driver, sql, 1600)
    ids, page = await read(store, MemoryFilter(words="memory"), 200)
    assert (ids, page.matching) == ([row[0] for row in rows if row[8] == "active"][:1000], 1000)
    assert page.total > 1000
